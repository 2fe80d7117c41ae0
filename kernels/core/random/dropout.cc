// Dropout: a scaled 0/1 mask and its product with the data; a copy if p is 0.
#include "core/random/dropout.h"

#include <cstring>

#include "core/random/half.h"
#include "core/random/rng.h"
#include "core/random/samplers.h"
#include "core/tensor.h"
#include "params/random.gen.h"

using namespace mx;

namespace {

// mask[i] = 1 / keep with probability keep, else 0; one uniform number each.
template <class T>
void draw_mask(Mt19937& e, T* mask, int64_t n, float keep) {
  const float scale = 1.0f / keep;
  fill_blocks(e, mask, n, kUnits,
              [=](Real<T> u) { return (T)((float)((float)u <= keep) * scale); });
}

// out = data * mask, with the mask broadcast along axes of size 1.
template <class T>
void multiply(const mx_tensor& data, const mx_tensor& mask, T* out, int threads) {
  // Trailing axes are merged into one run that shares one scale or has one scale per element.
  int last = data.ndim - 1;
  const bool one = mask.shape[last] == 1;
  int64_t run = 1;
  for (; last >= 0 && mask.shape[last] == (one ? 1 : data.shape[last]); --last)
    run *= data.shape[last];
  const T *from = static_cast<const T*>(data.data), *scales = static_cast<const T*>(mask.data);
  parallel_for(threads, count(data) / run, 1 + 4096 / run, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t remaining = i, at = 0, stride = one ? 1 : run;
      for (int axis = last; axis >= 0; --axis) {
        if (mask.shape[axis] != 1) at += remaining % data.shape[axis] * stride;
        remaining /= data.shape[axis];
        stride *= mask.shape[axis];
      }
      const T *run_from = from + i * run, *run_scales = scales + at;
      T* to = out + i * run;
      if (one) {
        for (int64_t j = 0; j < run; ++j) to[j] = run_from[j] * run_scales[0];
      } else {
        for (int64_t j = 0; j < run; ++j) to[j] = run_from[j] * run_scales[j];
      }
    }
  });
}

template <class T>
int dropout(const mx_call* call) {
  const float p = (float)static_cast<const mx_dropout_params*>(call->params)->p;
  const mx_tensor &data = call->in[0], &mask = call->out[1];
  const int64_t n = count(mask);
  T *scales = static_cast<T*>(mask.data), *out = static_cast<T*>(call->out[0].data);
  const T* from = static_cast<const T*>(data.data);
  if (count(data) == 0) return 0;
  if (p == 0) {  // nothing is drawn, and the mask is empty
    if (out != from) memcpy(out, from, count(data) * sizeof(T));
    return 0;
  }
  const bool whole = n == count(data);
  call->rng->for_dropout().parallel_draw(n, call->threads,
                                         [&](Mt19937& e, int64_t begin, int64_t end) {
                                           draw_mask(e, scales + begin, end - begin, 1.0f - p);
                                           if (!whole) return;
                                           for (int64_t i = begin; i < end; ++i)
                                             out[i] = from[i] * scales[i];
                                         });
  if (!whole) multiply(data, mask, out, call->threads);
  return 0;
}

template <class T>
void draw_all(mx_rng* rng, int threads, float p, int64_t n, T* mask) {
  rng->parallel_draw(n, threads, [&](Mt19937& e, int64_t begin, int64_t end) {
    draw_mask(e, mask + begin, end - begin, 1.0f - p);
  });
}

__attribute__((constructor)) void register_dropout() {
  mx_kernel_add("dropout", dropout<float>, 1u << MX_F32, 0);
  mx_kernel_add("dropout", dropout<double>, 1u << MX_F64, 0);
  mx_kernel_add("dropout", dropout<Half>, 1u << MX_F16, 0);
}

}  // namespace

void mx::draw_dropout(mx_rng* rng, int threads, float p, int64_t n, float* mask) {
  draw_all(rng, threads, p, n, mask);
}
void mx::draw_dropout(mx_rng* rng, int threads, float p, int64_t n, double* mask) {
  draw_all(rng, threads, p, n, mask);
}
