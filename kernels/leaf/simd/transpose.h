// Matrix transposition in squares that fit in registers.
#pragma once
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

// Squares of 4- and 8-byte elements are kLanes vectors; smaller elements are copied one by one.
template <class T>
constexpr int64_t kSquare = sizeof(T) >= 4 ? kLanes<T> : 16;

// --- in registers --------------------------------------------------------------------------------

// Lane selection for swapping blocks of `s` lanes between two rows: of the pair (a, b), a's lanes
// with bit s come from b's lanes without it, and vice versa.
template <class T, int s, bool high>
struct SwapIndex {
  typedef Mask<Vec<T>> Index;
  alignas(kVecBytes) Element<Index> lane[kLanes<T>];
  constexpr SwapIndex() : lane() {
    constexpr int L = kLanes<T>;
    for (int e = 0; e < L; ++e) {
      lane[e] = high ? (e & s ? L + e : e ^ s) : (e & s ? L + (e ^ s) : e);
    }
  }
  Index index() const {
    Index v;
    __builtin_memcpy(&v, lane, sizeof v);
    return v;
  }
};
template <class T, int s, bool high>
inline constexpr SwapIndex<T, s, high> swap_index{};

// Transpose a square of vectors in registers.
template <class T, int s = 1, int L = kLanes<T>>
inline void transpose_registers(Vec<T> (&rows)[L]) {
  if constexpr (s < L) {
    const auto low = swap_index<T, s, false>.index(), high = swap_index<T, s, true>.index();
#pragma GCC unroll 16
    for (int i = 0; i < L; ++i) {
      if (i & s) continue;
      const Vec<T> a = rows[i], b = rows[i + s];
      rows[i] = __builtin_shuffle(a, b, low);
      rows[i + s] = __builtin_shuffle(a, b, high);
    }
    transpose_registers<T, 2 * s>(rows);
  }
}

// The sum of each vector's lanes, in the lane of its number; the vectors are overwritten.
template <class T, int s = kLanes<T> / 2, int L = kLanes<T>>
inline Vec<T> add_lanes(Vec<T> (&rows)[L]) {
  if constexpr (s == 0) {
    return rows[0];
  } else {
    const auto low = swap_index<T, s, false>.index(), high = swap_index<T, s, true>.index();
#pragma GCC unroll 8
    for (int i = 0; i < s; ++i) {
      const Vec<T> a = rows[i], b = rows[i + s];
      rows[i] = __builtin_shuffle(a, b, low) + __builtin_shuffle(a, b, high);
    }
    return add_lanes<T, s / 2>(rows);
  }
}

// Four elements each of every fourth row, side by side, in a register VQ; and shuffles within
// quads. (Masked where the plain intrinsic makes GCC 12 warn about its own undefined operand.)
#if MX_ISA_LEVEL == 4
typedef __m512 VQ;
MX_INLINE VQ load_quads(const float* src, int64_t stride) {
  VQ v = _mm512_castps128_ps512(_mm_loadu_ps(src));
  v = _mm512_insertf32x4(v, _mm_loadu_ps(src + 4 * stride), 1);
  v = _mm512_insertf32x4(v, _mm_loadu_ps(src + 8 * stride), 2);
  return _mm512_insertf32x4(v, _mm_loadu_ps(src + 12 * stride), 3);
}
MX_INLINE VQ low_pairs(VQ a, VQ b) { return _mm512_maskz_unpacklo_ps((__mmask16)-1, a, b); }
MX_INLINE VQ high_pairs(VQ a, VQ b) { return _mm512_maskz_unpackhi_ps((__mmask16)-1, a, b); }
MX_INLINE VQ low_halves(VQ a, VQ b) { return _mm512_maskz_shuffle_ps((__mmask16)-1, a, b, 0x44); }
MX_INLINE VQ high_halves(VQ a, VQ b) { return _mm512_maskz_shuffle_ps((__mmask16)-1, a, b, 0xee); }
#elif MX_ISA_LEVEL == 3
typedef __m256 VQ;
MX_INLINE VQ load_quads(const float* src, int64_t stride) {
  const VQ v = _mm256_castps128_ps256(_mm_loadu_ps(src));
  return _mm256_insertf128_ps(v, _mm_loadu_ps(src + 4 * stride), 1);
}
MX_INLINE VQ low_pairs(VQ a, VQ b) { return _mm256_unpacklo_ps(a, b); }
MX_INLINE VQ high_pairs(VQ a, VQ b) { return _mm256_unpackhi_ps(a, b); }
MX_INLINE VQ low_halves(VQ a, VQ b) { return _mm256_shuffle_ps(a, b, 0x44); }
MX_INLINE VQ high_halves(VQ a, VQ b) { return _mm256_shuffle_ps(a, b, 0xee); }
#else
typedef __m128 VQ;
MX_INLINE VQ load_quads(const float* src, int64_t) { return _mm_loadu_ps(src); }
MX_INLINE VQ low_pairs(VQ a, VQ b) { return _mm_unpacklo_ps(a, b); }
MX_INLINE VQ high_pairs(VQ a, VQ b) { return _mm_unpackhi_ps(a, b); }
MX_INLINE VQ low_halves(VQ a, VQ b) { return _mm_movelh_ps(a, b); }
MX_INLINE VQ high_halves(VQ a, VQ b) { return _mm_movehl_ps(b, a); }
#endif

// --- in memory -----------------------------------------------------------------------------------

// No shuffle crosses a quad: loads combine the quads of four rows. Not inlined, because its
// addresses would take registers from the surrounding loop.
__attribute__((noinline)) inline void transpose_words(float* dst, int64_t dst_step,
                                                      const float* src, int64_t src_step) {
#pragma GCC unroll 4
  for (int q = 0; q < kLanes<float>; q += 4, src += 4, dst += 4 * dst_step) {
    const VQ a = load_quads(src, src_step), b = load_quads(src + src_step, src_step),
             c = load_quads(src + 2 * src_step, src_step),
             d = load_quads(src + 3 * src_step, src_step);
    const VQ ab_low = low_pairs(a, b), ab_high = high_pairs(a, b), cd_low = low_pairs(c, d),
             cd_high = high_pairs(c, d);
    store(dst, (VF)low_halves(ab_low, cd_low));
    store(dst + dst_step, (VF)high_halves(ab_low, cd_low));
    store(dst + 2 * dst_step, (VF)low_halves(ab_high, cd_high));
    store(dst + 3 * dst_step, (VF)high_halves(ab_high, cd_high));
  }
}

// dst[i * dst_step + j] = src[j * src_step + i] for all i and j below kSquare.
template <class T>
inline void transpose_square(T* dst, int64_t dst_step, const T* src, int64_t src_step) {
  constexpr int n = kSquare<T>;
  if constexpr (sizeof(T) < 4) {
    for (int i = 0; i < n; ++i)
      for (int j = 0; j < n; ++j) dst[i * dst_step + j] = src[j * src_step + i];
  } else if constexpr (sizeof(T) == 4) {
    transpose_words((float*)dst, dst_step, (const float*)src, src_step);
  } else {
    Vec<T> rows[n];
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) rows[i] = load(src + i * src_step);
    transpose_registers<T>(rows);
#pragma GCC unroll 8
    for (int i = 0; i < n; ++i) store(dst + i * dst_step, rows[i]);
  }
}

// dst[i * dst_step + j] = src[j * src_step + i] for i < rows, j < columns.
template <class T>
inline void transpose(T* dst, int64_t dst_step, const T* src, int64_t src_step, int64_t rows,
                      int64_t columns) {
  constexpr int64_t n = kSquare<T>;
  const int64_t whole_rows = rows / n * n, whole_columns = columns / n * n;
  for (int64_t j = 0; j < whole_columns; j += n)
    for (int64_t i = 0; i < whole_rows; i += n)
      transpose_square(dst + i * dst_step + j, dst_step, src + j * src_step + i, src_step);
  for (int64_t j = 0; j < columns; ++j)
    for (int64_t i = j < whole_columns ? whole_rows : 0; i < rows; ++i)
      dst[i * dst_step + j] = src[j * src_step + i];
}

MX_LEAF_END
