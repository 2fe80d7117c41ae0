// "blocked_pool": pooling of blocked arrays (planes, spatial..., B), one vector of channels at a
// time. Unlike "pool" it reduces whole windows at once, as every element is a full vector.
#include <float.h>

#include "leaf/simd/plane.h"
#include "leaf/simd/vec.h"
#include "params/pooling.gen.h"

MX_LEAF_BEGIN
namespace {

enum Kind { kMax, kAverage, kSum };

// The valid part [begin, end) of a window along one dimension, and its length with padding.
struct Extent {
  int64_t begin, end, whole;
  Extent(const mx_pool_params& p, int i, int64_t position) {
    begin = position * p.stride[i] - p.pad[i];
    end = least(begin + p.kernel[i], p.source[i] + p.pad[i]);
    whole = end > begin ? end - begin : 0;
    if (begin < 0) begin = 0;
    end = least(end, p.source[i]);
    if (end < begin) end = begin;
  }
  int64_t size() const { return end - begin; }
};

template <int kind, class T>
MX_INLINE Vec<T> join(Vec<T> sum, Vec<T> x) {
  if constexpr (kind == kMax) return max(x, sum);  // NaN is never a maximum
  return sum + x;
}

// Reduce `count` neighbouring windows of a row, for `lanes` channels at `in`: several at once to
// hide the latency of additions.
template <int kind, int count, class T>
MX_INLINE void collect(const mx_pool_params& p, const Extent& d, const Extent& h, int64_t begin,
                       int64_t end, const T* in, int lanes, Vec<T>* sums) {
  const T lowest = sizeof(T) == 4 ? (T)-FLT_MAX : (T)-DBL_MAX;
  const int64_t block = p.inner, row = p.source[2] * block, next = p.stride[2] * block;
  for (int u = 0; u < count; ++u) sums[u] = splat<Vec<T>>(kind == kMax ? lowest : 0);
  for (int64_t i = d.begin; i < d.end; ++i) {
    for (int64_t j = h.begin; j < h.end; ++j) {
      const T* from = in + (i * p.source[1] + j) * row + begin * block;
      for (int64_t k = begin; k < end; ++k, from += block) {
#pragma GCC unroll 8
        for (int u = 0; u < count; ++u) {
          const T* at = from + u * next;
          sums[u] = join<kind, T>(sums[u], lanes == kLanes<T> ? load(at) : load_first(at, lanes));
        }
      }
    }
  }
}

// The windows of one output row, for `lanes` channels at `in` and `out`.
template <int kind, class T>
void pool_row(const mx_pool_params& p, const Extent& d, const Extent& h, const T* in, T* out,
              int lanes) {
  constexpr int kOutputs = 4;
  constexpr int L = kLanes<T>;
  const auto finish = [&](const Extent& w, int64_t x, Vec<T> sum) MX_ALWAYS {
    if constexpr (kind == kAverage) {
      const int64_t all = d.whole * h.whole * w.whole, valid = d.size() * h.size() * w.size();
      const T divisor = (T)(p.count_pad ? all : valid);
      sum = divisor == 0 ? Vec<T>{} : sum * (1 / divisor);
    }
    T* to = out + x * p.inner;
    lanes == L ? store(to, sum) : store_first(to, sum, lanes);
  };
  for (int64_t x = 0; x < p.target[2];) {
    const Extent w(p, 2, x);
    Vec<T> sums[kOutputs];
    const int64_t last = (x + kOutputs - 1) * p.stride[2] - p.pad[2] + p.kernel[2];
    if (lanes == L && w.size() == p.kernel[2] && last <= p.source[2] &&
        x + kOutputs <= p.target[2]) {
      collect<kind, kOutputs>(p, d, h, w.begin, w.end, in, L, sums);
      for (int u = 0; u < kOutputs; ++u) finish(w, x++, sums[u]);
    } else {
      collect<kind, 1>(p, d, h, w.begin, w.end, in, lanes, sums);
      finish(w, x++, sums[0]);
    }
  }
}

template <int kind, class T>
void pool_kind(const mx_call* call) {
  const auto& p = *(const mx_pool_params*)call->params;
  const int64_t rows = p.target[0] * p.target[1], width = p.target[2] * p.inner;
  const int64_t source = p.source[0] * p.source[1] * p.source[2] * p.inner;
  parallel_for(call->threads, p.outer * rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const Extent d(p, 0, i % rows / p.target[1]), h(p, 1, i % p.target[1]);
      const T* in = data<T>(call->in[0]) + i / rows * source;
      T* out = data<T>(call->out[0]) + i * width;
      for (int64_t c = 0; c < p.inner; c += kLanes<T>) {
        pool_row<kind, T>(p, d, h, in + c, out + c, (int)least(kLanes<T>, p.inner - c));
      }
    }
  });
}

template <class T>
int blocked_pool(const mx_call* call) {
  switch (((const mx_pool_params*)call->params)->kind) {
    case kMax:
      pool_kind<kMax, T>(call);
      return 0;
    case kAverage:
      pool_kind<kAverage, T>(call);
      return 0;
    case kSum:
      pool_kind<kSum, T>(call);
      return 0;
    default:
      return mx_fail("blocked_pool: p-norm pooling is not supported");
  }
}

}  // namespace

void register_blocked_pool() {
  mx_kernel_add("blocked_pool", blocked_pool<float>, MX_BIT(F32), 0);
  mx_kernel_add("blocked_pool", blocked_pool<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
