// "norm_depthwise_relu" (data, gamma, beta, moving_mean, moving_var, weight -> output, mean,
// inverse): batch normalisation by batch statistics, relu and a depthwise convolution with one
// filter per channel; "_relu6": clipped to [0, 6]. "_grad" (gradient, data, gamma, mean, inverse,
// moving_mean, moving_var, beta, weight -> data, gamma, beta, weight).
//
// A thread computes a channel of all images while it is in the cache. The normalised array exists
// as one plane at a time only, so memory is read and written once for the data and once for the
// output. Results are those of batch_norm and conv_depthwise, bit for bit.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/convolution/planes.h"
#include "leaf/norm/batch.h"

MX_LEAF_BEGIN
namespace {

typedef mx_norm_depthwise_params P;

mx_batch_norm_params norm_of(const P& p) {
  mx_batch_norm_params norm = {};
  norm.outer = p.batch, norm.channels = p.groups, norm.inner = p.source[1] * p.source[2];
  norm.eps = p.eps, norm.momentum = p.momentum, norm.fix_gamma = p.fix_gamma;
  norm.batch_stats = 1;
  return norm;
}

int refuse(const PlaneJob& planes) {
  return planes.taps ? 0
                     : mx_fail("norm_depthwise: the filters have other than 3 x 3 or 5 x 5 taps");
}

template <class T, class Act>
int norm_depthwise(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const mx_batch_norm_params norm = norm_of(p);
  const Batch<T> b(call, norm);
  const PlaneJob planes(p);
  if (refuse(planes)) return -1;
  const T *in = data<T>(call->in[0]), *beta = data<T>(call->in[2]), *weight = data<T>(call->in[5]);
  T *gamma = data<T>(call->in[1]), *out = data<T>(call->out[0]);
  T *mean = data<T>(call->out[1]), *inverse = data<T>(call->out[2]);
  // Statistics that the caller does not want have no memory of their own.
  T* own = (T*)scratch(kSharedSlot, (size_t)(2 * norm.channels + 1) * sizeof(T));
  if (!own) return -1;
  if (!mean) mean = own;
  if (!inverse) inverse = own + norm.channels;
  const int64_t target = p.target[1] * p.target[2];
  int status = 0;
  with_plane_sizes(planes, [&](auto taps, auto step) {
    constexpr int K = taps, S = step;
    status = parallel_try(call->threads, norm.channels, 1, [&](int64_t begin, int64_t end) {
      auto copy = planes.padded_data<T, K, S>();
      T* memory = (T*)scratch(kTempSlot, copy.bytes());
      if (!memory) return false;
      copy.clear(memory);
      for (int64_t c = begin; c < end; ++c) {
        double sums;
        T partial;
        batch_statistics(b, c, c + 1, mean, inverse, &sums, &partial);
        if (p.fix_gamma) gamma[c] = 1;
        const T m = mean[c], s = gamma[c] * inverse[c], shift = beta[c];
        for (int64_t n = 0; n < p.batch; ++n) {
          const int64_t plane = n * norm.channels + c;
          copy.fill(in + plane * norm.inner, planes.height, planes.width,
                    [=](auto x) { return Act::value((x - m) * s + shift); });
          plane_forward<T, K, S>(planes, copy, weight + c * K * K, 0, out + plane * target, false);
        }
      }
      return true;
    });
  });
  return status;
}

// The gradients of one thread's channels. Those of the convolution's data are kept in the data
// gradient.
template <class T, class Act, int K, int S>
class Gradients {
 public:
  Gradients(const mx_call* call, const PlaneJob& planes, Backward<T, Act>& norm)
      : planes_(planes),
        norm_(norm),
        copy_(planes.padded_data<T, K, S>()),
        spread_(planes.padded_gradient<T, K, S>()),
        gradient_(data<T>(call->in[0])),
        weight_(data<T>(call->in[8])),
        by_weight_(data<T>(call->out[3])) {}

  bool allocate() {
    const size_t line = (size_t)(planes_.width + planes_.left + 2 * S * kLanes<T>)*sizeof(T);
    char* memory = (char*)scratch(kTempSlot, copy_.bytes() + spread_.bytes() + line);
    if (!memory) return false;
    copy_.clear((T*)memory);
    spread_.clear((T*)(memory + copy_.bytes()));
    line_ = (T*)(memory + copy_.bytes() + spread_.bytes());
    return true;
  }

  void channel(int64_t c) const {
    const auto& p = norm_.p;
    const int64_t target = planes_.target_height * planes_.target_width;
    const T m = norm_.mean[c], s = norm_.gamma[c] * norm_.inverse[c], shift = norm_.beta(c);
    Vec<T> sums[K * K] = {};
    for (int64_t n = 0; n < p.outer; ++n) {
      const int64_t plane = n * p.channels + c;
      const T* gradient = gradient_ + plane * target;
      copy_.fill(norm_.in + plane * p.inner, planes_.height, planes_.width,
                 [=](auto x) { return Act::value((x - m) * s + shift); });
      spread_.fill(gradient, planes_.target_height, planes_.target_width);
      plane_weight<T, K, S>(planes_, copy_, gradient, sums);
      plane_backward<T, K, S>(planes_, spread_, weight_ + c * K * K, 0, norm_.out + plane * p.inner,
                              false, line_);
    }
    if (by_weight_) store_weight_sums<T, K>(sums, by_weight_ + c * K * K, false);
    double sum, product;
    norm_.sum_runs(c, &sum, &product);
    norm_.finish(c, sum, product);
    norm_.write_runs(c);
  }

 private:
  const PlaneJob& planes_;
  const Backward<T, Act>& norm_;
  Bordered<T, S> copy_;
  Bordered<T, 1> spread_;
  const T *gradient_, *weight_;
  T *by_weight_, *line_ = nullptr;
};

template <class T, class Act>
int norm_depthwise_grad(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const mx_batch_norm_params norm = norm_of(p);
  const PlaneJob planes(p);
  if (refuse(planes)) return -1;
  // A data gradient that the caller does not want has no memory of its own.
  const int64_t size = call->out[0].data ? 0 : norm.outer * norm.channels * norm.inner;
  T* own = (T*)scratch(kSharedSlot, (size_t)(4 * norm.channels + size + 1) * sizeof(T));
  if (!own) return -1;
  Backward<T, Act> b(call, norm, own);
  if (!b.out) b.out = own + 4 * norm.channels;
  b.gradient = b.out;
  int status = 0;
  with_plane_sizes(planes, [&](auto taps, auto step) {
    status = parallel_try(call->threads, norm.channels, 1, [&](int64_t begin, int64_t end) {
      Gradients<T, Act, taps, step> gradients(call, planes, b);
      if (!gradients.allocate()) return false;
      for (int64_t c = begin; c < end; ++c) gradients.channel(c);
      return true;
    });
  });
  return status;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("norm_depthwise_relu", norm_depthwise<T, Relu>, dtype, 0);
  mx_kernel_add("norm_depthwise_relu_grad", norm_depthwise_grad<T, Relu>, dtype, 0);
  mx_kernel_add("norm_depthwise_relu6", norm_depthwise<T, Relu6>, dtype, 0);
  mx_kernel_add("norm_depthwise_relu6_grad", norm_depthwise_grad<T, Relu6>, dtype, 0);
}

}  // namespace

void register_norm_depthwise() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
