// Sums of products of unsigned and signed bytes in registers of AVX-512, with VNNI: some pixels
// times at most 64 filters, and what makes bytes or floats of the sums.
#pragma once
#include "leaf/leaf.h"

#if MX_ISA_LEVEL == 4
#include "intrinsics.h"

MX_LEAF_BEGIN

constexpr int kFilterLanes = 16;   // of a register
constexpr int kMostVectors = 4;    // registers of filters of a sum
constexpr int kMostRuns = 256;     // runs of neighbouring bytes under a window
constexpr uint8_t kMiddle = 0x80;  // what an int8 zero becomes as an unsigned byte

// Whether this CPU has the instruction; without it nothing here may be called.
inline bool has_vnni() { return __builtin_cpu_supports("avx512vnni") != 0; }

// sum += u[0] * s[0] + ... + u[3] * s[3] in each lane. The build's own level does not know the
// instruction, so that there is no intrinsic.
inline __attribute__((always_inline)) void add_products(__m512i& sum, __m512i u, __m512i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}
inline __attribute__((always_inline)) void add_products(__m256i& sum, __m256i u, __m256i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}

// The bytes of at most four registers of numbers, one after the other.
template <bool is_signed>
inline __m512i narrowed(const __m512i* numbers, bool positive) {
  const __m512i order = _mm512_set_epi32(15, 11, 7, 3, 14, 10, 6, 2, 13, 9, 5, 1, 12, 8, 4, 0);
  const __m512i low = _mm512_packs_epi32(numbers[0], numbers[1]);
  const __m512i high = _mm512_packs_epi32(numbers[2], numbers[3]);
  if (!is_signed) return _mm512_permutexvar_epi32(order, _mm512_packus_epi16(low, high));
  const __m512i bytes = _mm512_permutexvar_epi32(order, _mm512_packs_epi16(low, high));
  return positive ? _mm512_max_epi8(bytes, _mm512_setzero_si512()) : bytes;
}

// What a sum runs over: `runs` of `bytes` (a multiple of 4), at offsets from each pixel's first.
struct ByteReach {
  int runs;
  int64_t bytes;
  int64_t offset[kMostRuns];
};

// Where sums go, and on what way: rows of `filters` results for each pixel. With type MX_I32 they
// stay sums, and only `out` and `filters` count.
struct ByteSink {
  void* out;
  const void* other;          // the other summand, or NULL
  const float *scale, *bias;  // of each filter; no bias: NULL
  int64_t filters;
  float other_scale, high;  // results are at most `high`
  bool positive;            // and at least 0
  int32_t type, other_type;
};

int most_pixels(int vectors);

// What sums begin with: those of a pixel are `step` behind those of the one before, or, with 0, the
// same for all.
struct ByteStart {
  const int32_t* sums;
  int64_t step;
};

// Sums of `pixels` <= most_pixels(vectors), whose windows begin at `from`, and of `vectors` <= 4
// times 16 filters, from `filter` on. Weights are [run][4 bytes][filter][byte], results go to the
// rows from `pixel` on.
void sum_bytes(int pixels, int vectors, const uint8_t* const* from, const ByteReach& reach,
               const int8_t* weights, const ByteStart& start, const ByteSink& sink, int64_t pixel,
               int64_t filter);

// Results of sums in aligned memory: of `pixels`, `step` numbers apart, and of 1 or 2 times 16
// filters.
void finish_rows(const int32_t* sums, int64_t step, int64_t pixels, int vectors,
                 const ByteSink& sink, int64_t pixel, int64_t filter);

MX_LEAF_END
#endif
