// Casts between all dtypes: kernel "cast", and cast_row for other kernels. Out-of-range values
// convert like x86's C casts, whatever the vector width.
#include "leaf/simd/cast.h"

#include "leaf/simd/half.h"
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN
namespace {

struct boolean {
  uint8_t value;
};

template <class T>
constexpr bool is_float = false;
template <>
constexpr bool is_float<float> = true;
template <>
constexpr bool is_float<double> = true;

template <class D, class S>
MX_INLINE D convert(S x) {
  if constexpr (!is_float<S> || is_float<D> || sizeof(D) == 8) {
    // Signed and unsigned conversions of floats differ only for uint64.
    if constexpr (is_float<S> && D(-1) > D(0))
      return x < S(0x1p63) ? (D)(int64_t)x : (D)(int64_t)(x - S(0x1p63)) ^ (D)1 << 63;
    return (D)x;
  } else if constexpr (sizeof(D) == 4 && D(-1) > D(0)) {
    return (D)(int64_t)x;
  } else {
    return (D)(int32_t)x;
  }
}

// Whether 4-byte elements are non-zero, 64 at a time; returns the number of elements processed.
template <class S>
int64_t test_words([[maybe_unused]] uint8_t* dst, [[maybe_unused]] const S* src, int64_t n) {
  int64_t i = 0;
#if MX_ISA_LEVEL == 4
  const __m512i bits = _mm512_set1_epi32(is_float<S> ? INT32_MAX : -1);  // ignores a float's sign
  for (; i + 64 <= n; i += 64) {
    const auto test = [&](int j) {
      const __m512i x = (__m512i)load((const int32_t*)src + i + 16 * j);
      return (uint64_t)_mm512_test_epi32_mask(x, bits) << 16 * j;
    };
    const __mmask64 set = test(0) | test(1) | test(2) | test(3);
    store(dst + i, (Vec<uint8_t>)_mm512_maskz_set1_epi8(set, 1));
  }
#endif
  return i;
}

template <class D, class S>
void cast(void* to, const void* from, int64_t n) {
  if constexpr (is_half<S> && sizeof(D) == sizeof(float) && is_float<D>) {
    widen_row((D*)to, (const S*)from, n);
  } else if constexpr (is_half<D> && sizeof(S) == sizeof(float) && is_float<S>) {
    narrow_row((D*)to, (const S*)from, n);
  } else if constexpr (is_half<S> || is_half<D>) {
    float block[kBlock];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = n - i < kBlock ? n - i : kBlock;
      cast<float, S>(block, (const S*)from + i, m);
      cast<D, float>((D*)to + i, block, m);
    }
  } else {
    D* dst = (D*)to;
    const S* src = (const S*)from;
    int64_t i = 0;
    if constexpr (__is_class(D) && sizeof(S) == 4) i = test_words((uint8_t*)to, src, n);
#pragma GCC ivdep
    for (; i < n; ++i) {
      if constexpr (__is_class(D) && __is_class(S))
        dst[i] = D{src[i].value};
      else if constexpr (__is_class(D))
        dst[i] = D{(uint8_t)(src[i] != S(0))};
      else if constexpr (__is_class(S))
        dst[i] = (D)src[i].value;
      else
        dst[i] = convert<D>(src[i]);
    }
  }
}

// In the order of dtypes.def, without the complex dtypes.
#define MX_ALL_TYPES(X, ...)                                                                   \
  X(float, __VA_ARGS__), X(double, __VA_ARGS__), X(f16, __VA_ARGS__), X(uint8_t, __VA_ARGS__), \
      X(int32_t, __VA_ARGS__), X(int8_t, __VA_ARGS__), X(int64_t, __VA_ARGS__),                \
      X(boolean, __VA_ARGS__), X(int16_t, __VA_ARGS__), X(uint16_t, __VA_ARGS__),              \
      X(uint32_t, __VA_ARGS__), X(uint64_t, __VA_ARGS__), X(bf16, __VA_ARGS__)
#define MX_CAST(S, D) cast<D, S>
#define MX_SIZE(T, _) (int)sizeof(T)

template <class D>
struct CastsTo {
  static constexpr CastRow from[MX_REAL_COUNT] = {MX_ALL_TYPES(MX_CAST, D)};
};
#define MX_CASTS(D, _) CastsTo<D>::from
constexpr const CastRow* kCasts[MX_REAL_COUNT] = {MX_ALL_TYPES(MX_CASTS, _)};
constexpr int kSizes[MX_DTYPE_COUNT] = {MX_ALL_TYPES(MX_SIZE, _), 8, 16};

int cast_kernel(const mx_call* call) {
  const mx_tensor &src = call->in[0], &dst = call->out[0];
  const int64_t n = count(dst);
  const CastRow row = cast_row(dst.dtype, src.dtype);
  const int to = element_size(dst.dtype), from = element_size(src.dtype);
  parallel_for(call->threads, n, kBlock, [&](int64_t begin, int64_t end) {
    row((char*)dst.data + begin * to, (const char*)src.data + begin * from, end - begin);
  });
  return 0;
}

}  // namespace

CastRow cast_row(int32_t to, int32_t from) { return kCasts[to][from]; }
int element_size(int32_t dtype) { return kSizes[dtype]; }

void register_cast() { mx_kernel_add("cast", cast_kernel, MX_REAL_DTYPES, 0); }
MX_LEAF_END
