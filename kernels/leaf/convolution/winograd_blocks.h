// Conversion between plain and blocked arrays; channels are padded with zeros to whole blocks.
#pragma once
#include "leaf/convolution/winograd.h"
#include "leaf/simd/transpose.h"

MX_LEAF_BEGIN

// Convert planes of a plain array to blocks, and back.
inline void to_blocks(const float* plain, float* blocked, int64_t images, int64_t channels,
                      int64_t pixels, int threads) {
  constexpr int B = kBlockLanes;
  const int64_t blocks = ceil_div(channels, B);
  parallel_for(threads, images * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * B, some = least(B, channels - first);
      float* to = blocked + i * pixels * B;
      if (some < B) memset(to, 0, pixels * B * sizeof(float));
      transpose(to, B, plain + (i / blocks * channels + first) * pixels, pixels, pixels, some);
    }
  });
}
inline void from_blocks(const float* blocked, float* plain, int64_t images, int64_t channels,
                        int64_t pixels, int threads) {
  constexpr int B = kBlockLanes;
  const int64_t blocks = ceil_div(channels, B);
  parallel_for(threads, images * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t first = i % blocks * B, some = least(B, channels - first);
      transpose(plain + (i / blocks * channels + first) * pixels, pixels, blocked + i * pixels * B,
                B, some, pixels);
    }
  });
}

MX_LEAF_END
