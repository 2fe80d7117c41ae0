// Softmax along one dimension of (outer, extent, inner) arrays: "softmax" and "log_softmax" of
// scale * data, "softmax_grad" and "log_softmax_grad" of (gradient, result), times scale; and
// "softmax_length" of rows and the number of valid elements in each.
//
// Lines along the dimension are rows if inner is 1; otherwise neighbouring lines are computed
// together, as the columns of a block.
#include "leaf/simd/math.h"
#include "leaf/simd/plane.h"
#include "params/activation.gen.h"

MX_LEAF_BEGIN
namespace {

#define MX_ONCE __attribute__((noinline))  // shared by the serial and the parallel loop

constexpr int64_t kColumns = 256;  // lines computed together
constexpr int64_t kSumRun = 64;    // vectors, or elements of a column, per partial sum

// --- the vectors of a line; the last one may be partial ----------------------------------------
template <class V>
MX_INLINE V only_first(V x, int n, V others) {
  Mask<V> lane;
  for (int i = 0; i < kLanes<Element<V>>; ++i) lane[i] = i;
  return lane < n ? x : others;
}

// Reduce f(offset, lanes) over the vectors of [begin, end).
template <class V, class F, class Join>
MX_INLINE V fold_vectors(int64_t begin, int64_t end, V folded, F f, Join join) {
  constexpr int L = kLanes<Element<V>>;
  const V neutral = folded;
  int64_t i = begin;
  for (; i + L <= end; i += L) folded = join(folded, f(i, L));
  const int remaining = (int)(end - i);
  return remaining ? join(folded, only_first(f(i, remaining), remaining, neutral)) : folded;
}
// Reduce the lanes of a vector pairwise: sequentially, each step would wait for the previous one.
template <class T, class V, class Join>
MX_INLINE T fold_lanes(V x, Join join) {
  T lane[kLanes<Element<V>>];
  for (int i = 0; i < kLanes<Element<V>>; ++i) lane[i] = x[i];
#pragma GCC unroll 4
  for (int n = kLanes<Element<V>> / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lane[i] = join(lane[i], lane[i + n]);
  return lane[0];
}
template <class V, class F>
MX_INLINE Element<V> largest(int64_t n, F f) {
  using T = Element<V>;
  const V top = fold_vectors(0, n, splat<V>(-Real<V>::infinity), f,
                             [](V a, V b) MX_ALWAYS { return max(a, b); });
  return fold_lanes<T>(top, [](T a, T b) MX_ALWAYS { return b > a ? b : a; });
}
template <class V, class F>
MX_INLINE double total(int64_t n, F f) {
  using T = Element<V>;
  double sum = 0;
  for (int64_t i = 0; i < n; i += kSumRun * kLanes<T>) {
    const V part = fold_vectors(i, least(i + kSumRun * kLanes<T>, n), V{}, f,
                                [](V a, V b) MX_ALWAYS { return a + b; });
    sum += fold_lanes<double>(part, [](double a, double b) MX_ALWAYS { return a + b; });
  }
  return sum;
}

// --- the operators: a row, and a block of columns ------------------------------------------------
// A NaN anywhere makes the sum, and so the whole line, NaN.

// Two-level sums of the columns of a block.
template <class T>
struct ColumnSums {
  alignas(64) T sum[kColumns], part[kColumns];

  // Sum of f(element, column, lanes) over the elements of a line.
  template <class F>
  MX_INLINE void add(int64_t extent, int64_t width, F f) {
    memset(sum, 0, sizeof sum);
    for (int64_t k = 0; k < extent; k += kSumRun) {
      memset(part, 0, sizeof part);
      for (int64_t r = k; r < least(k + kSumRun, extent); ++r)
        each_vector<T>(width, [&](int64_t c, int n)
                                  MX_ALWAYS { store(part + c, load(part + c) + f(r, c, n)); });
      for (int64_t c = 0; c < width; ++c) sum[c] += part[c];
    }
  }
};

template <bool log, class S>
struct Forward {
  typedef Sum<S> T;
  typedef Vec<T> V;

  static MX_ONCE void row(S* out, const S* in, const S*, int64_t extent, T scale) {
    const auto x = [=](int64_t i, int n) MX_ALWAYS { return load_lanes(in + i, n) * scale; };
    const T top = largest<V>(extent, x);
    // Exponentials are not stored in 16-bit outputs, which would lose digits, but computed twice.
    const T sum = (T)total<V>(extent, [=](int64_t i, int n) MX_ALWAYS {
      const V y = exp(x(i, n) - top);
      if constexpr (!log && !is_half<S>) store_lanes(out + i, y, n);
      return y;
    });
    const T end = log ? (T)__builtin_log(sum) : 1 / sum;
    each_vector<T>(extent, [=](int64_t i, int n) MX_ALWAYS {
      if constexpr (log)
        store_lanes(out + i, x(i, n) - top - end, n);
      else if constexpr (is_half<S>)
        store_lanes(out + i, exp(x(i, n) - top) * end, n);
      else
        store_lanes(out + i, load_lanes(out + i, n) * end, n);
    });
  }

  static MX_ONCE void columns(S* out, const S* in, const S*, int64_t extent, int64_t stride,
                              int64_t width, T scale) {
    alignas(64) T top[kColumns];
    ColumnSums<T> sums;
    const auto x = [=](int64_t k, int64_t c, int n)
                       MX_ALWAYS { return load_lanes(in + k * stride + c, n) * scale; };
    for (int64_t c = 0; c < kColumns; ++c) top[c] = -Real<V>::infinity;
    for (int64_t k = 0; k < extent; ++k)
      each_vector<T>(width, [&](int64_t c, int n)
                                MX_ALWAYS { store(top + c, max(load(top + c), x(k, c, n))); });
    sums.add(extent, width, [&](int64_t k, int64_t c, int n) MX_ALWAYS {
      const V y = exp(x(k, c, n) - load(top + c));
      if constexpr (!log && !is_half<S>) store_lanes(out + k * stride + c, y, n);
      return y;
    });
    for (int64_t c = 0; c < width; ++c)
      sums.sum[c] = log ? (T)__builtin_log(sums.sum[c]) : 1 / sums.sum[c];
    for (int64_t k = 0; k < extent; ++k)
      each_vector<T>(width, [&](int64_t c, int n) MX_ALWAYS {
        S* to = out + k * stride + c;
        const V end = load(sums.sum + c);
        if constexpr (log)
          store_lanes(to, x(k, c, n) - load(top + c) - end, n);
        else if constexpr (is_half<S>)
          store_lanes(to, exp(x(k, c, n) - load(top + c)) * end, n);
        else
          store_lanes(to, load_lanes(to, n) * end, n);
      });
  }
};

template <bool log, class S>
struct Backward {
  typedef Sum<S> T;
  typedef Vec<T> V;

  // The summand of a line, and an element's gradient given that sum.
  static MX_INLINE V term(V g, V y) { return log ? g : g * y; }
  static MX_INLINE V result(V g, V y, V sum, T scale) {
    return (log ? g - exp(y) * sum : (g - sum) * y) * scale;
  }

  static MX_ONCE void row(S* out, const S* gradient, const S* result_row, int64_t extent, T scale) {
    const T sum = (T)total<V>(extent, [=](int64_t i, int n) MX_ALWAYS {
      return term(load_lanes(gradient + i, n), load_lanes(result_row + i, n));
    });
    each_vector<T>(extent, [=](int64_t i, int n) MX_ALWAYS {
      store_lanes(
          out + i,
          result(load_lanes(gradient + i, n), load_lanes(result_row + i, n), splat<V>(sum), scale),
          n);
    });
  }
  static MX_ONCE void columns(S* out, const S* gradient, const S* result_row, int64_t extent,
                              int64_t stride, int64_t width, T scale) {
    ColumnSums<T> sums;
    sums.add(extent, width, [&](int64_t k, int64_t c, int n) MX_ALWAYS {
      const int64_t at = k * stride + c;
      return term(load_lanes(gradient + at, n), load_lanes(result_row + at, n));
    });
    for (int64_t k = 0; k < extent; ++k)
      each_vector<T>(width, [&](int64_t c, int n) MX_ALWAYS {
        const int64_t at = k * stride + c;
        store_lanes(out + at,
                    result(load_lanes(gradient + at, n), load_lanes(result_row + at, n),
                           load(sums.sum + c), scale),
                    n);
      });
  }
};

template <class Op, class S>
int softmax(const mx_call* call) {
  const auto& p = *static_cast<const mx_softmax_params*>(call->params);
  const S *first = data<S>(call->in[0]), *second = call->nin > 1 ? data<S>(call->in[1]) : nullptr;
  S* out = data<S>(call->out[0]);
  const auto scale = (Sum<S>)p.scale;
  const int64_t line = p.extent * p.inner, grain = 1024 / (p.extent + 1) + 1;
  if (p.inner == 1) {
    parallel_for(call->threads, p.outer, grain, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin * line; i < end * line; i += line)
        Op::row(out + i, first + i, second + i, p.extent, scale);
    });
    return 0;
  }
  const int64_t blocks = ceil_div(p.inner, kColumns);
  parallel_for(call->threads, p.outer * blocks, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % blocks * kColumns, at = i / blocks * line + column;
      Op::columns(out + at, first + at, second + at, p.extent, p.inner,
                  least(p.inner - column, kColumns), scale);
    }
  });
  return 0;
}

// A vector of neighbouring lines, each with its own length.
template <class S>
MX_ONCE void lines_of_lengths(S* out, const S* in, Vec<Sum<S>> lengths, int64_t extent,
                              int64_t stride, int n, Sum<S> scale) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  const auto y = [=](int64_t k, V top) MX_ALWAYS {
    return (T)k < lengths ? exp(load_lanes(in + k * stride, n) * scale - top) : V{};
  };
  const V lowest = splat<V>(-Real<V>::infinity);
  V top = lowest, sum = {};
  for (int64_t k = 0; k < extent; ++k)
    top = (T)k < lengths ? max(top, load_lanes(in + k * stride, n) * scale) : top;
  for (int64_t k = 0; k < extent; k += kSumRun) {
    V part = {};
    for (int64_t r = k; r < least(k + kSumRun, extent); ++r) part += y(r, top);
    sum += part;
  }
  const V inverse = lengths > 0 ? 1 / sum : V{};
  for (int64_t k = 0; k < extent; ++k)
    store_lanes(out + k * stride, (T)k < lengths ? y(k, top) * inverse : V{}, n);
}

// Lengths in the type that positions are compared in.
template <class T>
Vec<T> read_lengths(const mx_tensor& lengths, int64_t first, int n, int64_t extent) {
  Vec<T> bounded = {};
  for (int i = 0; i < n; ++i) {
    const int64_t value = lengths.dtype == MX_I32 ? data<int32_t>(lengths)[first + i]
                                                  : data<int64_t>(lengths)[first + i];
    bounded[i] = (T)(value < 0 ? 0 : least(value, extent));
  }
  return bounded;
}

template <class S>
int softmax_length(const mx_call* call) {
  const auto& p = *static_cast<const mx_softmax_params*>(call->params);
  const mx_tensor& lengths = call->in[1];
  if (p.inner > 1) {
    typedef Sum<S> T;
    constexpr int L = kLanes<T>;
    const int64_t blocks = ceil_div(p.inner, L);
    parallel_for(call->threads, p.outer * blocks, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t column = i % blocks * L, outer = i / blocks;
        const int n = (int)least(L, p.inner - column);
        const Vec<T> each = read_lengths<T>(lengths, outer * p.inner + column, n, p.extent);
        const int64_t at = outer * p.extent * p.inner + column;
        lines_of_lengths(data<S>(call->out[0]) + at, data<S>(call->in[0]) + at, each, p.extent,
                         p.inner, n, (T)p.scale);
      }
    });
    return 0;
  }
  const int64_t grain = 1024 / (p.extent + 1) + 1;
  parallel_for(call->threads, p.outer, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t value =
          lengths.dtype == MX_I32 ? data<int32_t>(lengths)[i] : data<int64_t>(lengths)[i];
      const int64_t length = value < 0 ? 0 : least(value, p.extent);
      S* out = data<S>(call->out[0]) + i * p.extent;
      if (length > 0) {
        const S* row = data<S>(call->in[0]) + i * p.extent;
        Forward<false, S>::row(out, row, nullptr, length, (Sum<S>)p.scale);
      }
      memset(out + length, 0, (size_t)(p.extent - length) * sizeof(S));
    }
  });
  return 0;
}

}  // namespace

void register_softmax() {
#define MX_SOFTMAX(S, bits)                                               \
  mx_kernel_add("softmax", softmax<Forward<false, S>, S>, bits, 0);       \
  mx_kernel_add("softmax_length", softmax_length<S>, bits, 0);            \
  mx_kernel_add("log_softmax", softmax<Forward<true, S>, S>, bits, 0);    \
  mx_kernel_add("softmax_grad", softmax<Backward<false, S>, S>, bits, 0); \
  mx_kernel_add("log_softmax_grad", softmax<Backward<true, S>, S>, bits, 0)
  MX_SOFTMAX(float, MX_BIT(F32));
  MX_SOFTMAX(double, MX_BIT(F64));
  MX_SOFTMAX(f16, MX_BIT(F16));
  MX_SOFTMAX(bf16, MX_BIT(BF16));
}
MX_LEAF_END
