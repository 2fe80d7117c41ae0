// "average_parts" (planes): means of equal parts, which overlap where a border cuts a pixel; or the
// transpose, for gradients.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/runs.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

// The pixels of part `i` of `parts` along a dimension.
struct Run {
  int64_t begin, end;
  Run(int64_t i, int64_t parts, int64_t extent)
      : begin(i * extent / parts), end(ceil_div((i + 1) * extent, parts)) {}
  int64_t size() const { return end - begin; }
};

// The rows of a part are summed first, then its columns.
template <class T>
void average(const mx_resample_params& p, const T* image, T* out, T* sums) {
  const int64_t width = p.source[1];
  for (int64_t i = 0; i < p.target[0]; ++i) {
    const Run rows(i, p.target[0], p.source[0]);
    memcpy(sums, image + rows.begin * width, (size_t)width * sizeof(T));
    for (int64_t y = rows.begin + 1; y < rows.end; ++y) {
      map_run(width, sums, [](auto a, auto b) MX_ALWAYS { return a + b; }, sums, image + y * width);
    }
    for (int64_t j = 0; j < p.target[1]; ++j) {
      const Run columns(j, p.target[1], width);
      T sum = 0;
      for (int64_t x = columns.begin; x < columns.end; ++x) sum += sums[x];
      *out++ = sum / (T)(rows.size() * columns.size());
    }
  }
}

template <class T>
void spread(const mx_resample_params& p, const T* grads, T* image, T* shares) {
  const int64_t width = p.source[1];
  memset(image, 0, (size_t)(p.source[0] * width) * sizeof(T));
  for (int64_t i = 0; i < p.target[0]; ++i) {
    const Run rows(i, p.target[0], p.source[0]);
    memset(shares, 0, (size_t)width * sizeof(T));
    for (int64_t j = 0; j < p.target[1]; ++j) {
      const Run columns(j, p.target[1], width);
      const T share = *grads++ / (T)(rows.size() * columns.size());
      for (int64_t x = columns.begin; x < columns.end; ++x) shares[x] += share;
    }
    for (int64_t y = rows.begin; y < rows.end; ++y) {
      T* row = image + y * width;
      map_run(width, row, [](auto a, auto b) MX_ALWAYS { return a + b; }, row, shares);
    }
  }
}

template <class T>
int average_parts(const mx_call* call) {
  const auto& p = *(const mx_resample_params*)call->params;
  const int64_t large = p.source[0] * p.source[1], small = p.target[0] * p.target[1];
  return parallel_try(call->threads, p.planes, 1, [&](int64_t begin, int64_t end) {
    T* row = (T*)scratch(kTempSlot, (size_t)p.source[1] * sizeof(T));
    if (!row) return false;
    for (int64_t i = begin; i < end; ++i) {
      const T* from = data<T>(call->in[0]) + i * (p.transposed ? small : large);
      T* to = data<T>(call->out[0]) + i * (p.transposed ? large : small);
      p.transposed ? spread(p, from, to, row) : average(p, from, to, row);
    }
    return true;
  });
}

}  // namespace

void register_average_parts() {
  mx_kernel_add("average_parts", average_parts<float>, MX_BIT(F32), 0);
  mx_kernel_add("average_parts", average_parts<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
