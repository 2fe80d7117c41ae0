// channels_last_bf16.h: conversion of channels-last bfloat16 arrays, and the epilogue of
// convolutions with such results.
#pragma once
#include "leaf/simd/bf16.h"

#if MX_ISA_LEVEL == 4
#include "intrinsics.h"

MX_LEAF_BEGIN

inline bf16 rounded_bf16(float x) {
  uint32_t bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  if (x != x) return {(uint16_t)(bits >> 16 | 0x40)};
  return {(uint16_t)((bits + 0x7fff + (bits >> 16 & 1)) >> 16)};
}

MX_INLINE __m256i narrowed_bf16(const __m512& x) {
  __m256i bits;
  asm("vcvtneps2bf16 %1, %0" : "=v"(bits) : "v"(x));
  return bits;
}
// The same for two registers, concatenated.
MX_INLINE __m512i narrowed_bf16(const __m512& low, const __m512& high) {
  __m512i bits;
  asm("vcvtne2ps2bf16 %1, %2, %0" : "=v"(bits) : "v"(low), "v"(high));
  return bits;
}
MX_INLINE __m512 widened_bf16(const __m256i& bits) {
  return (__m512)_mm512_slli_epi32(_mm512_cvtepu16_epi32(bits), 16);
}
inline __mmask16 lanes_inside(int64_t left) {
  return left >= kBlockLanes ? 0xffff : left > 0 ? (__mmask16)((1u << left) - 1) : 0;
}

// The even and the odd ones of 32 channels as floats, for which a shift and a mask suffice.
struct Halves {
  __m512 even, odd;
};
MX_INLINE Halves widened(const __m512i& bits) {
  return {(__m512)_mm512_slli_epi32(bits, 16),
          (__m512)_mm512_and_si512(bits, _mm512_set1_epi32((int)0xffff0000))};
}
MX_INLINE __m512i joined(const __m512& even, const __m512& odd) {
  const __m512i order = _mm512_set_epi16(31, 15, 30, 14, 29, 13, 28, 12, 27, 11, 26, 10, 25, 9, 24,
                                         8, 23, 7, 22, 6, 21, 5, 20, 4, 19, 3, 18, 2, 17, 1, 16, 0);
  return _mm512_permutexvar_epi16(order, narrowed_bf16(even, odd));
}

// act(sum + bias + other), with per-filter bias, for arrays with `filters` elements per pixel.
struct LastSink {
  FinishOf<bf16> rest;
  int64_t filters;

  LastSink(const mx_call* call, const mx_fused_conv_params& p, int64_t n)
      : rest(finish_of<bf16>(call, p)), filters(n) {}

  template <int kind>
  MX_INLINE __m512 result(const __m512& sum, const __m512& alpha, const __m512& beta) const {
    __m512 x = sum;
    if constexpr (kind == kRelu) {
      x = _mm512_max_ps(_mm512_setzero_ps(), x);  // NaN passes, as below
    } else if constexpr (kind == kClip) {
      x = _mm512_min_ps(beta, _mm512_max_ps(alpha, x));
    } else if constexpr (kind == kAnyAct) {
      alignas(64) float row[kBlockLanes];
      _mm512_store_ps(row, x);
      activate_row(row, kBlockLanes, rest.act, rest.alpha, rest.beta);
      x = _mm512_load_ps(row);
    } else {
      x = (__m512)activate<kind>((VB)x, (VB)alpha, (VB)beta);
    }
    return x;
  }

  // Finish rows of sums, `step` apart, of 1 or 2 times 16 filters.
  void finish(const float* sums, int64_t step, int64_t pixels, int vectors, int64_t pixel,
              int64_t filter) const {
    with_activation(rest.act, [&](auto act) {
      constexpr int kind = decltype(act)::value;
      vectors == 1 ? lines<kind, 1>(sums, step, pixels, pixel, filter)
                   : lines<kind, 2>(sums, step, pixels, pixel, filter);
    });
  }

 private:
  template <int kind, int N>
  void lines(const float* sums, int64_t step, int64_t pixels, int64_t pixel, int64_t filter) const {
    const __m512 alpha = _mm512_set1_ps(rest.alpha), beta = _mm512_set1_ps(rest.beta);
    __mmask16 inside[N];
    __m512 bias[N];
#pragma GCC unroll 2
    for (int n = 0; n < N; ++n) {
      inside[n] = lanes_inside(filters - filter - n * kBlockLanes);
      bias[n] = _mm512_setzero_ps();
      if (rest.bias)
        bias[n] = _mm512_maskz_loadu_ps(inside[n], rest.bias + filter + n * kBlockLanes);
    }
    const bool whole = inside[N - 1] == 0xffff;
    const bf16* other = rest.other ? rest.other + pixel * filters + filter : nullptr;
    bf16* to = rest.out + pixel * filters + filter;
    const auto add = [&](int64_t i, __m512(&x)[N]) MX_ALWAYS {
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n) {
        x[n] = _mm512_add_ps(_mm512_load_ps(sums + i * step + n * kBlockLanes), bias[n]);
        if (!other) continue;
        const bf16* own = other + i * filters + n * kBlockLanes;
        x[n] = _mm512_add_ps(x[n], widened_bf16(_mm256_maskz_loadu_epi16(inside[n], own)));
      }
    };
    const auto write = [&](int64_t i, const __m512(&x)[N]) MX_ALWAYS {
      bf16* row = to + i * filters;
      if (N == 2 && whole) {
        _mm512_storeu_si512(row, narrowed_bf16(x[0], x[N - 1]));
        return;
      }
#pragma GCC unroll 2
      for (int n = 0; n < N; ++n)
        _mm256_mask_storeu_epi16(row + n * kBlockLanes, inside[n], narrowed_bf16(x[n]));
    };
    __m512 x[N];
    if constexpr (kind != kAnyAct) {
      for (int64_t i = 0; i < pixels; ++i) {
        add(i, x);
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n) x[n] = result<kind>(x[n], alpha, beta);
        write(i, x);
      }
      return;
    }
    // Several rows at once, whose activations overlap.
    constexpr int64_t kRows = 32, kRow = N * kBlockLanes;
    alignas(64) float rows[kRows * kRow];
    for (int64_t first = 0; first < pixels; first += kRows) {
      const int64_t past = least(first + kRows, pixels);
      for (int64_t i = first; i < past; ++i) {
        add(i, x);
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n)
          _mm512_store_ps(rows + (i - first) * kRow + n * kBlockLanes, x[n]);
      }
      activate_row(rows, (int)((past - first) * kRow), rest.act, rest.alpha, rest.beta);
      for (int64_t i = first; i < past; ++i) {
#pragma GCC unroll 2
        for (int n = 0; n < N; ++n)
          x[n] = _mm512_load_ps(rows + (i - first) * kRow + n * kBlockLanes);
        write(i, x);
      }
    }
  }
};

MX_LEAF_END
#endif
