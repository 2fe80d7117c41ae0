// Registers of int8 layers: loads of weights, products of 8-bit integers summed in 32 bits, and the
// conversion of sums to bytes. With AVX-512, VNNI sums four products of bytes in each lane; with
// AVX2, two products of integers of 16 bits, as products of bytes saturate there.
#pragma once
#include "leaf/simd/vec.h"

#if MX_ISA_LEVEL >= 3
MX_LEAF_BEGIN

constexpr int kFilterLanes = kLanes<float>;  // filters per register
typedef Vec<uint8_t> Bytes;
typedef Vec<uint16_t> Shorts;
typedef Vec<uint32_t> Sums;  // which may wrap around

#if MX_ISA_LEVEL == 4
constexpr int kMaxVectors = 4;    // registers of filters per sum
constexpr int kLaneProducts = 4;  // products that one instruction sums in a lane
typedef uint8_t Cell;             // an element of data that is multiplied
typedef __mmask16 Inside;         // the lanes of a register that exist

// Whether this CPU has the instructions; otherwise nothing here may be called.
inline bool has_byte_products() { return __builtin_cpu_supports("avx512vnni") != 0; }

MX_INLINE Inside inside_of(int64_t left) {
  return left >= kFilterLanes ? 0xffff : left > 0 ? (1u << left) - 1 : 0;
}
MX_INLINE bool is_whole(Inside inside) { return inside == 0xffff; }

// The weights of a group and register of filters.
MX_INLINE Sums load_group(const int8_t* weights) { return load((const uint32_t*)weights); }

// sum += data[0] * weights[0] + ... + data[3] * weights[3] in each lane. In assembly, because the
// build's ISA level does not include VNNI.
MX_INLINE void add_group(Sums& sum, const Sums& data, const Sums& weights) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(data), "v"(weights));
}
// sum += a[0] * b[0] + a[1] * b[1] in each lane, of signed integers of 16 bits.
MX_INLINE void add_pair(Sums& sum, const Sums& a, const Sums& b) {
  __asm__("vpdpwssd %2, %1, %0" : "+v"(sum) : "v"(a), "v"(b));
}

MX_INLINE VF load_floats(const float* from, Inside inside) {
  return (VF)_mm512_maskz_loadu_ps(inside, from);
}
MX_INLINE void store_floats(float* to, const VF& x, Inside inside) {
  _mm512_mask_storeu_ps(to, inside, (__m512)x);
}
MX_INLINE VF load_bytes(const char* from, bool is_signed, Inside inside) {
  const __m128i bytes = _mm_maskz_loadu_epi8(inside, from);
  const __m512i wide = is_signed ? _mm512_cvtepi8_epi32(bytes) : _mm512_cvtepu8_epi32(bytes);
  return (VF)_mm512_cvtepi32_ps(wide);
}
MX_INLINE VF to_floats(const Sums& sums) { return (VF)_mm512_cvtepi32_ps((__m512i)sums); }
MX_INLINE Sums to_integers(const VF& x) { return (Sums)_mm512_cvtps_epi32((__m512)x); }

// As many integers of 16 bits as fit in a register, from bytes of which `left` exist.
template <bool is_signed>
MX_INLINE Shorts load_shorts(const uint8_t* from, int64_t left) {
  const __mmask32 inside = left < kLanes<uint16_t> ? (1u << left) - 1 : ~0u;
  const __m256i bytes = _mm256_maskz_loadu_epi8(inside, from);
  return (Shorts)(is_signed ? _mm512_cvtepi8_epi16(bytes) : _mm512_cvtepu8_epi16(bytes));
}

// The bytes of at most four registers of integers, concatenated.
template <bool is_signed>
MX_INLINE Bytes narrowed(const Sums* numbers, bool positive) {
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i low = _mm512_packs_epi32((__m512i)numbers[0], (__m512i)numbers[1]);
  const __m512i high = _mm512_packs_epi32((__m512i)numbers[2], (__m512i)numbers[3]);
  if (!is_signed) return (Bytes)_mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
  const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
  return (Bytes)(positive ? _mm512_max_epi8(bytes, _mm512_setzero_si512()) : bytes);
}

// Store the bytes of N registers of filters, the last of which may be partial.
template <int N>
MX_INLINE void store_bytes(char* to, const Bytes& all, const Inside* inside) {
  const __m512i bytes = (__m512i)all;
  if (!is_whole(inside[N - 1])) {
    const __mmask64 lanes = (uint64_t)inside[0] | (uint64_t)inside[1] << 16 |
                            (uint64_t)inside[2] << 32 | (uint64_t)inside[3] << 48;
    _mm512_mask_storeu_epi8(to, lanes, bytes);
    return;
  }
  if (N == 4) _mm512_storeu_si512(to, bytes);
  if (N == 1) _mm_storeu_si128((__m128i*)to, _mm512_castsi512_si128(bytes));
  if (N == 2 || N == 3) _mm256_storeu_si256((__m256i*)to, _mm512_castsi512_si256(bytes));
  if (N == 3) _mm_storeu_si128((__m128i*)(to + 32), _mm512_extracti32x4_epi32(bytes, 2));
}
// The upper half of the bytes in the lower half.
MX_INLINE Bytes upper_half(const Bytes& x) {
  return (Bytes)_mm512_shuffle_i64x2((__m512i)x, (__m512i)x, 0x4e);
}
#else
constexpr int kMaxVectors = 2;
constexpr int kLaneProducts = 2;
typedef int16_t Cell;
typedef int Inside;  // their number

inline bool has_byte_products() { return true; }

MX_INLINE Inside inside_of(int64_t left) {
  return left >= kFilterLanes ? kFilterLanes : left > 0 ? (int)left : 0;
}
MX_INLINE bool is_whole(Inside inside) { return inside == kFilterLanes; }

MX_INLINE Sums load_group(const int8_t* weights) {
  return (Sums)_mm256_cvtepi8_epi16(_mm_loadu_si128((const __m128i*)weights));
}
MX_INLINE void add_pair(Sums& sum, const Sums& a, const Sums& b) {
  sum += (Sums)_mm256_madd_epi16((__m256i)a, (__m256i)b);
}
MX_INLINE void add_group(Sums& sum, const Sums& data, const Sums& weights) {
  add_pair(sum, data, weights);
}

MX_INLINE VF load_floats(const float* from, Inside inside) {
  if (is_whole(inside)) return load(from);
  return inside > 0 ? load_first(from, inside) : VF{};
}
MX_INLINE void store_floats(float* to, const VF& x, Inside inside) {
  if (is_whole(inside)) return store(to, x);
  if (inside > 0) store_first(to, x, inside);
}
// The first `n` of 16 bytes, others 0; out of line, as whole registers are the rule.
inline __attribute__((noinline)) __m128i first_bytes(const void* from, int64_t n) {
  __m128i bytes = _mm_setzero_si128();
  memcpy(&bytes, from, n);
  return bytes;
}
MX_INLINE VF load_bytes(const char* from, bool is_signed, Inside inside) {
  const __m128i bytes =
      is_whole(inside) ? _mm_loadl_epi64((const __m128i*)from) : first_bytes(from, inside);
  const __m256i wide = is_signed ? _mm256_cvtepi8_epi32(bytes) : _mm256_cvtepu8_epi32(bytes);
  return (VF)_mm256_cvtepi32_ps(wide);
}
MX_INLINE VF to_floats(const Sums& sums) { return (VF)_mm256_cvtepi32_ps((__m256i)sums); }
MX_INLINE Sums to_integers(const VF& x) { return (Sums)_mm256_cvtps_epi32((__m256)x); }

template <bool is_signed>
MX_INLINE Shorts load_shorts(const uint8_t* from, int64_t left) {
  const __m128i bytes =
      left >= kLanes<uint16_t> ? _mm_loadu_si128((const __m128i*)from) : first_bytes(from, left);
  return (Shorts)(is_signed ? _mm256_cvtepi8_epi16(bytes) : _mm256_cvtepu8_epi16(bytes));
}

template <bool is_signed>
MX_INLINE Bytes narrowed(const Sums* numbers, bool positive) {
  const __m256i order = _mm256_setr_epi32(0, 4, 1, 5, 2, 6, 3, 7);
  const __m256i low = _mm256_packs_epi32((__m256i)numbers[0], (__m256i)numbers[1]);
  const __m256i high = _mm256_packs_epi32((__m256i)numbers[2], (__m256i)numbers[3]);
  if (!is_signed) return (Bytes)_mm256_permutevar8x32_epi32(_mm256_packus_epi16(low, high), order);
  const __m256i bytes = _mm256_permutevar8x32_epi32(_mm256_packs_epi16(low, high), order);
  return (Bytes)(positive ? _mm256_max_epi8(bytes, _mm256_setzero_si256()) : bytes);
}

template <int N>
MX_INLINE void store_bytes(char* to, const Bytes& all, const Inside* inside) {
  const __m128i bytes = _mm256_castsi256_si128((__m256i)all);
  if (!is_whole(inside[N - 1]))
    memcpy(to, &bytes, (N - 1) * kFilterLanes + inside[N - 1]);
  else if (N == 1)
    _mm_storel_epi64((__m128i*)to, bytes);
  else
    _mm_storeu_si128((__m128i*)to, bytes);
}
MX_INLINE Bytes upper_half(const Bytes& x) {
  return (Bytes)_mm256_permute4x64_epi64((__m256i)x, 0x4e);
}
#endif

MX_LEAF_END
#endif
