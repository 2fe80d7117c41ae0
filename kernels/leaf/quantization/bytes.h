// Sums of products of unsigned and signed bytes in AVX-512 registers, with VNNI: some pixels times
// at most 64 filters, and their conversion to bytes or floats.
#pragma once
#include "leaf/leaf.h"

#if MX_ISA_LEVEL == 4
#include "intrinsics.h"

MX_LEAF_BEGIN

constexpr int kFilterLanes = 16;   // per register
constexpr int kMaxVectors = 4;     // registers of filters per sum
constexpr int kMaxRuns = 256;      // contiguous runs under a window
constexpr uint8_t kMiddle = 0x80;  // an int8 zero as an unsigned byte

// Whether this CPU has VNNI; otherwise nothing here may be called.
inline bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0; }

// sum += u[0] * s[0] + ... + u[3] * s[3] in each lane. In assembly, because the build's ISA level
// does not include VNNI.
inline __attribute__((always_inline)) void add_products(__m512i& sum, __m512i u, __m512i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}
inline __attribute__((always_inline)) void add_products(__m256i& sum, __m256i u, __m256i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}

// The bytes of at most four registers of integers, concatenated.
template <bool is_signed>
inline __m512i narrowed(const __m512i* numbers, bool positive) {
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i low = _mm512_packs_epi32(numbers[0], numbers[1]);
  const __m512i high = _mm512_packs_epi32(numbers[2], numbers[3]);
  if (!is_signed) return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
  const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
  return positive ? _mm512_max_epi8(bytes, _mm512_setzero_si512()) : bytes;
}

// The summation range: `runs` of `bytes` (a multiple of 4) at offsets from each pixel's first byte.
struct ByteReach {
  int runs;
  int64_t bytes;
  int64_t offset[kMaxRuns];
};

// Destination and conversion of the sums: rows of `filters` results per pixel. With type MX_I32 the
// sums are stored unconverted, and only `out` and `filters` matter.
struct ByteSink {
  void* out;
  const void* other;          // the residual, or NULL
  const float *scale, *bias;  // per filter; bias may be NULL
  int64_t filters;
  float other_scale, high;  // upper bound of results
  bool positive;            // lower bound 0
  bool bounded = false;     // whether all results fit in 32 bits before that
  int32_t type, other_type;
};

int most_pixels(int vectors);

// Initial values of the sums: `step` elements apart per pixel, or with 0 the same for all.
struct ByteStart {
  const int32_t* sums;
  int64_t step;
};

// Sums of `pixels` <= most_pixels(vectors), whose windows begin at `from`, and `vectors` <= 4 times
// 16 filters, from `filter` on. Weights are [run][4 bytes][filter][byte]; results go to the rows
// from `pixel` on.
void sum_bytes(int pixels, int vectors, const uint8_t* const* from, const ByteReach& reach,
               const int8_t* weights, const ByteStart& start, const ByteSink& sink, int64_t pixel,
               int64_t filter);

// Convert sums in aligned memory: `pixels` rows, `step` elements apart, of 1 or 2 times 16 filters.
void finish_rows(const int32_t* sums, int64_t step, int64_t pixels, int vectors,
                 const ByteSink& sink, int64_t pixel, int64_t filter);

MX_LEAF_END
#endif
