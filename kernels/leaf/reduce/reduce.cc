// The functors of reductions over any set of axes: sum, mean, prod, max, min, nansum, nanprod,
// norms; run.cc divides the work.
#include "leaf/reduce/reduce.h"

#include "leaf/simd/cast.h"
#include "leaf/simd/lanes.h"
#include "leaf/simd/math.h"

MX_LEAF_BEGIN
namespace {

template <class T>
constexpr bool is_floating = T(0.5) != T(0);
template <class T, bool>
struct WideType {
  using type = int64_t;
};
template <class T>
struct WideType<T, true> {
  using type = double;
};
template <class T>
using WideOf = typename WideType<T, is_floating<T>>::type;
template <class T>
constexpr T kLowest =
    is_floating<T> ? -T(__builtin_inf()) : T(sizeof(T) == 4 ? INT32_MIN : INT64_MIN);
template <class T>
constexpr T kHighest =
    is_floating<T> ? T(__builtin_inf()) : T(sizeof(T) == 4 ? INT32_MAX : INT64_MAX);

// MX_REDUCE(name, neutral element, transform of each x, combination of a and b, result from the
// accumulator w of n elements)
#define MX_REDUCTIONS                                                       \
  MX_REDUCE(sum, T(0), x, add(a, b), w)                                     \
  MX_REDUCE(mean, T(0), x, add(a, b), w / n)                                \
  MX_REDUCE(prod, T(1), x, mul(a, b), w)                                    \
  MX_REDUCE(max, kLowest<T>, x, maximum(a, b), w)                           \
  MX_REDUCE(min, kHighest<T>, x, minimum(a, b), w)                          \
  MX_REDUCE(nansum, T(0), select<V>(x == x, x, V{}), add(a, b), w)          \
  MX_REDUCE(nanprod, T(1), select<V>(x == x, x, splat<V>(1)), mul(a, b), w) \
  MX_REDUCE(sum_abs, T(0), abs(x), add(a, b), w)                            \
  MX_REDUCE(sum_square, T(0), mul(x, x), add(a, b), w)

#define MX_REDUCE(name, neutral_, map_, join_, finish_) \
  struct name##_op {                                    \
    template <class T>                                  \
    static constexpr T neutral = neutral_;              \
    template <class V>                                  \
    static MX_INLINE V map(V x) {                       \
      return map_;                                      \
    }                                                   \
    template <class V>                                  \
    static MX_INLINE V join(V a, V b) {                 \
      return join_;                                     \
    }                                                   \
    template <class W>                                  \
    static W finish(W w, [[maybe_unused]] int64_t n) {  \
      return finish_;                                   \
    }                                                   \
  };
MX_REDUCTIONS
#undef MX_REDUCE

// The root of the sum of squares; in double, where squares of floats cannot overflow.
struct norm2_op : sum_square_op {
  template <class W>
  static W finish(W w, int64_t) {
    return __builtin_sqrt(w);
  }
};

template <class Op, class T>
struct Of {
  using V = Vec<T>;
  using W = WideOf<T>;
  static constexpr int L = kLanes<T>;
  static W& wide(Wide& w) { return *(W*)&w; }

  static void fold(Wide* total, const void* from, int64_t n) {
    const T* x = (const T*)from;
    const V neutral = splat<V>(Op::template neutral<T>);
    V a[8] = {neutral, neutral, neutral, neutral, neutral, neutral, neutral, neutral};
    int64_t i = 0;
    for (; i + 8 * L <= n; i += 8 * L)
#pragma GCC unroll 8
      for (int j = 0; j < 8; ++j) a[j] = Op::join(a[j], Op::map(load(x + i + j * L)));
    for (; i + L <= n; i += L) a[0] = Op::join(a[0], Op::map(load(x + i)));
    if (i < n) a[1] = Op::join(a[1], Op::map(load_first(x + i, (int)(n - i), neutral)));
#pragma GCC unroll 3
    for (int half = 4; half; half /= 2)
      for (int j = 0; j < half; ++j) a[j] = Op::join(a[j], a[j + half]);
    V sum = a[0];
#pragma GCC unroll 8
    for (int half = L / 2; half; half /= 2) sum = Op::join(sum, swap_lanes(sum, half));
    wide(*total) = Op::join(splat<Vec<W>>(wide(*total)), splat<Vec<W>>(sum[0]))[0];
  }

  static void fold_rows(void* to, const void* from, int64_t stride, int64_t rows, int64_t n,
                        bool first) {
    T* columns = (T*)to;
    const T* x = (const T*)from;
    int64_t i = 0;
    if (rows == kFoldRows)
      for (; i + L <= n; i += L) {
        const auto row = [=](int r) {
          __builtin_prefetch(x + i + (r + kFoldRows) * stride);
          return Op::map(load(x + i + r * stride));
        };
        const V sum = Op::join(Op::join(Op::join(row(0), row(1)), Op::join(row(2), row(3))),
                               Op::join(Op::join(row(4), row(5)), Op::join(row(6), row(7))));
        store(columns + i, first ? sum : Op::join(load(columns + i), sum));
      }
    for (; i < n; i += L) {
      const int part = n - i < L ? (int)(n - i) : 0;
      const auto read = [=](const T* p) { return part ? load_first(p, part) : load(p); };
      V sum = first ? splat<V>(Op::template neutral<T>) : read(columns + i);
      for (int64_t r = 0; r < rows; ++r) sum = Op::join(sum, Op::map(read(x + i + r * stride)));
      part ? store_first(columns + i, sum, part) : store(columns + i, sum);
    }
  }
  static void flush(Wide* total, const void* from, int64_t n) {
    typedef T Part __attribute__((vector_size(sizeof(T) * kLanes<W>)));
    const T* columns = (const T*)from;
    for (int64_t i = 0; i < n; i += kLanes<W>) {
      Part part;
      __builtin_memcpy(&part, columns + i, sizeof part);
      store(&wide(total[i]),
            Op::join(load(&wide(total[i])), __builtin_convertvector(part, Vec<W>)));
    }
  }
  static void join(Wide* a, const Wide* b, int64_t n) {
    for (int64_t i = 0; i < n; i += kLanes<W>)
      store(&wide(a[i]), Op::join(load(&wide(a[i])), load((const W*)(b + i))));
  }
  static void finish(Wide* w, int64_t n, int64_t reduced) {
    for (int64_t i = 0; i < n; ++i) wide(w[i]) = Op::finish(wide(w[i]), reduced);
  }
  static void finish_columns(void* columns, int64_t n, int64_t reduced) {
    T* x = (T*)columns;
    for (int64_t i = 0; i < n; ++i) x[i] = (T)Op::finish((W)x[i], reduced);
  }
  static Wide neutral() {
    Wide w;
    wide(w) = (W)Op::template neutral<T>;
    return w;
  }
};

// Sum squares of floats in float if nothing relevant was lost: no overflow, and no underflow that
// costs digits.
void fold_squares(Wide* total, const void* from, int64_t n) {
  constexpr int64_t kRun = 4096;
  constexpr double least = 0x1p-100, most = 0x1p120;
  const float* x = (const float*)from;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t m = n - i < kRun ? n - i : kRun;
    Wide part = Of<sum_square_op, float>::neutral();
    Of<sum_square_op, float>::fold(&part, x + i, m);
    if (!(part.f > least && part.f < most)) {
      part = Of<sum_square_op, double>::neutral();
      for (int64_t j = 0; j < m; j += kBlock) {
        double wide[kBlock];
        const int64_t size = m - j < kBlock ? m - j : kBlock;
        for (int64_t k = 0; k < size; ++k) wide[k] = x[i + j + k];
        Of<sum_square_op, double>::fold(&part, wide, size);
      }
    }
    total->f += part.f;
  }
}

template <class Op, class T>
int reduce(const mx_call* call) {
  using R = Of<Op, T>;
  constexpr bool sums_squares = __is_same(Op, norm2_op);
  static const Reduction op = {dtype_of<T>,       is_floating<T> ? MX_F64 : MX_I64,
                               R::neutral(),      R::fold,
                               R::fold_rows,      R::flush,
                               R::join,           R::finish,
                               R::finish_columns, sums_squares ? fold_squares : nullptr};
  return run_reduction(call, op);
}

}  // namespace

void register_reduce() {
  constexpr uint32_t halves = MX_BIT(F16) | MX_BIT(BF16);
  constexpr uint32_t small = MX_BIT(I8) | MX_BIT(U8) | MX_BIT(BOOL);
#define MX_REDUCE(name, ...)                                                \
  mx_kernel_add(#name, reduce<name##_op, float>, MX_BIT(F32) | halves, 0);  \
  mx_kernel_add(#name, reduce<name##_op, double>, MX_BIT(F64), 0);          \
  mx_kernel_add(#name, reduce<name##_op, int32_t>, MX_BIT(I32) | small, 0); \
  mx_kernel_add(#name, reduce<name##_op, int64_t>, MX_BIT(I64), 0);
  MX_REDUCTIONS;
  mx_kernel_add("norm2", reduce<norm2_op, double>,
                MX_BIT(F32) | MX_BIT(F64) | halves | MX_BIT(I32) | MX_BIT(I64) | small, 0);
}
MX_LEAF_END
