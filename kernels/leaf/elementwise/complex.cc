// Complex arithmetic on interleaved parts: the kernels of elemwise.def's names for complex dtypes.
#include "leaf/elementwise/functor.h"
#include "leaf/simd/math.h"

MX_LEAF_BEGIN
namespace {

template <class T>
struct Pair {
  T re, im;
};
template <class T>
constexpr int32_t kType = sizeof(T) == sizeof(float) ? MX_C64 : MX_C128;

struct Add {
  template <class T>
  static MX_INLINE Pair<T> f(Pair<T> x, Pair<T> y) {
    return {x.re + y.re, x.im + y.im};
  }
};
struct Subtract {
  template <class T>
  static MX_INLINE Pair<T> f(Pair<T> x, Pair<T> y) {
    return {x.re - y.re, x.im - y.im};
  }
};
struct Multiply {
  template <class T>
  static MX_INLINE Pair<T> f(Pair<T> x, Pair<T> y) {
    return {x.re * y.re - x.im * y.im, x.re * y.im + x.im * y.re};
  }
};
// Smith's method: the divisor's larger part is divided out, so that no square overflows.
struct Divide {
  template <class T>
  static MX_INLINE Pair<T> f(Pair<T> x, Pair<T> y) {
    const T re = y.re < 0 ? -y.re : y.re, im = y.im < 0 ? -y.im : y.im;
    const bool upright = im > re;
    const T large = upright ? y.im : y.re, small = upright ? y.re : y.im;
    const T ratio = large == 0 ? small : small / large, scale = 1 / (large + small * ratio);
    const T along = upright ? x.re * ratio + x.im : x.re + x.im * ratio;
    const T across = upright ? x.im * ratio - x.re : x.im - x.re * ratio;
    const bool by_zero = re == 0 && im == 0;  // but not by NaN with a zero part
    const T zero = re + 0;                    // drops the sign
    return {by_zero ? x.re / zero : along * scale, by_zero ? x.im / zero : across * scale};
  }
};

// Rows of two operands, one of which may be constant.
template <class Op, class T, bool kStepA, bool kStepB>
void pair_row(void* to, const void* a, const void* b, int64_t n) {
  if (n == 0) return;
  auto* dst = (Pair<T>*)to;
  const auto *x = (const Pair<T>*)a, *y = (const Pair<T>*)b;
  const Pair<T> first_x = *x, first_y = *y;
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) dst[i] = Op::f(kStepA ? x[i] : first_x, kStepB ? y[i] : first_y);
}

template <class T>
void negative_row(void* to, const void* from, const void*, int64_t n) {
  T* dst = (T*)to;
  const T* x = (const T*)from;
  for (int64_t i = 0; i < 2 * n; ++i) dst[i] = -x[i];
}
template <class T>
void square_row(void* to, const void* from, const void*, int64_t n) {
  pair_row<Multiply, T, true, true>(to, from, from, n);
}

// Magnitudes of complex64 in double, where no square overflows.
void abs_wide(float* dst, const Pair<float>* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) {
    const double re = x[i].re, im = x[i].im;
    const double size = __builtin_sqrt(re * re + im * im);
    const bool infinite = (__builtin_fabs(re) > 1e39) | (__builtin_fabs(im) > 1e39);
    dst[i] = infinite ? __builtin_inff() : (float)size;
  }
}
void abs_row(float* dst, const Pair<float>* x, int64_t n) {
  constexpr int64_t kRun = 256;
  for (int64_t i = 0; i < n; i += kRun) {
    const int64_t end = n - i < kRun ? n : i + kRun;
    int roomless = 0;
#pragma GCC ivdep
    for (int64_t j = i; j < end; ++j) {
      const float square = x[j].re * x[j].re + x[j].im * x[j].im;
      roomless |= !(square > 1e-30f) | !(square < 1e37f);
      dst[j] = __builtin_sqrtf(square);
    }
    if (roomless) abs_wide(dst + i, x + i, end - i);
  }
}
void abs_row(double* dst, const Pair<double>* x, int64_t n) {
  for (int64_t i = 0; i < n; ++i) dst[i] = ::hypot(x[i].re, x[i].im);
}

MX_INLINE Pair<double> exp_of(Pair<double> x) {
  __complex__ double z;
  __real__ z = x.re;
  __imag__ z = x.im;
  z = __builtin_cexp(z);
  return {__real__ z, __imag__ z};
}

// In double, where nothing overflows that fits in a float; the remaining cases go to libm.
template <class T>
void exp_row(void* to, const void* from, const void*, int64_t n) {
  constexpr int L = kLanes<double>;
  auto* dst = (Pair<T>*)to;
  const auto* x = (const Pair<T>*)from;
  for (int64_t i = 0; i < n; i += L) {
    const int m = (int)(n - i < L ? n - i : L);
    double re[L] = {}, im[L] = {};
    for (int j = 0; j < m; ++j) re[j] = x[i + j].re, im[j] = x[i + j].im;
    const VD power = load(re), angle = load(im);
    if (__builtin_expect(any(~(abs(power) < 700) | ~(abs(angle) < Real<VD>::infinity)), 0)) {
      for (int j = 0; j < m; ++j) {
        const Pair<double> found = exp_of({re[j], im[j]});
        dst[i + j] = {(T)found.re, (T)found.im};
      }
      continue;
    }
    const VD size = exp(power);
    store(re, size * cos(angle));
    store(im, size * sin(angle));
    for (int j = 0; j < m; ++j) dst[i + j] = {(T)re[j], (T)im[j]};
  }
}

template <class T, Row row>
int unary(const mx_call* call) {
  return run_unary(call, {row, nullptr, kType<T>});
}
template <class T>
int magnitudes(const mx_call* call) {
  const auto* x = data<Pair<T>>(call->in[0]);
  T* dst = data<T>(call->out[0]);
  parallel_for(call->threads, count(call->in[0]), kGrain,
               [&](int64_t begin, int64_t end) { abs_row(dst + begin, x + begin, end - begin); });
  return 0;
}

template <class Op, class T>
constexpr Rows kRows = {
    {pair_row<Op, T, true, true>, nullptr, kType<T>},
    {pair_row<Op, T, true, false>, nullptr, kType<T>},
    {pair_row<Op, T, false, true>, nullptr, kType<T>},
};
template <class Op, class T>
int same_shape(const mx_call* call) {
  return run_binary(call, kRows<Op, T>);
}
template <class Op, class T>
int broadcast(const mx_call* call) {
  return run_broadcast(call, kRows<Op, T>);
}
// The scalar is real.
template <class Op, class T, bool number_first>
int with_number(const mx_call* call) {
  const Pair<T> number = {(T) * (const double*)call->params, 0};
  const auto* x = data<Pair<T>>(call->in[0]);
  auto* dst = data<Pair<T>>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), kGrain, [&](int64_t begin, int64_t end) {
    if (number_first)
      pair_row<Op, T, false, true>(dst + begin, &number, x + begin, end - begin);
    else
      pair_row<Op, T, true, false>(dst + begin, x + begin, &number, end - begin);
  });
  return 0;
}

template <class Op, class T>
void add_forms(const char* name, const char* with_array, const char* scalar, const char* reversed,
               uint32_t bits) {
  mx_kernel_add(name, same_shape<Op, T>, bits, 0);
  mx_kernel_add(with_array, broadcast<Op, T>, bits, 0);
  mx_kernel_add(scalar, with_number<Op, T, false>, bits, 0);
  mx_kernel_add(reversed, with_number<Op, T, true>, bits, 0);
}
template <class T>
void add_kernels(uint32_t bits) {
  add_forms<Add, T>("add", "add_broadcast", "add_scalar", "radd_scalar", bits);
  add_forms<Subtract, T>("sub", "sub_broadcast", "sub_scalar", "rsub_scalar", bits);
  add_forms<Multiply, T>("mul", "mul_broadcast", "mul_scalar", "rmul_scalar", bits);
  add_forms<Divide, T>("div", "div_broadcast", "div_scalar", "rdiv_scalar", bits);
  mx_kernel_add("negative", unary<T, negative_row<T>>, bits, 0);
  mx_kernel_add("square", unary<T, square_row<T>>, bits, 0);
  mx_kernel_add("exp", unary<T, exp_row<T>>, bits, 0);
  mx_kernel_add("abs", magnitudes<T>, bits, 0);
}

}  // namespace

void register_complex() {
  add_kernels<float>(MX_BIT(C64));
  add_kernels<double>(MX_BIT(C128));
}
MX_LEAF_END
