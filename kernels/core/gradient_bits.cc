// Gradients of one or two bits: rounding, packing, and sums of levels. Elements are handled in
// blocks that stay in the cache, in loops simple enough for the compiler to vectorize.
#include "mxcy_gradient_bits.h"

#include <algorithm>
#include <cstring>

namespace {

constexpr int64_t kBlock = 2048;  // elements, whole words

// Codes of a block, one per byte.
struct Codes {
  alignas(64) uint8_t bytes[kBlock];
};

template <int kBits>
uint8_t code_of(float wanted, float threshold) {
  if (kBits == 1) return wanted > threshold;
  return static_cast<uint8_t>((wanted >= threshold) | (wanted <= -threshold) << 1 |
                              (wanted >= threshold) << 1);
}

template <int kBits>
float sent_for(float wanted, float threshold) {
  if (kBits == 1) return wanted > threshold ? 1.0f : -1.0f;
  return wanted >= threshold ? threshold : wanted <= -threshold ? -threshold : 0.0f;
}

template <int kBits>
void round_block(int64_t n, float threshold, const float* __restrict gradients,
                 float* __restrict residuals, Codes& codes) {
  if (!residuals) {
    for (int64_t i = 0; i < n; ++i) codes.bytes[i] = code_of<kBits>(gradients[i], threshold);
    return;
  }
  for (int64_t i = 0; i < n; ++i) {
    const float wanted = gradients[i] + residuals[i];
    codes.bytes[i] = code_of<kBits>(wanted, threshold);
    residuals[i] = wanted - sent_for<kBits>(wanted, threshold);
  }
}

// Each multiplication collects the codes of a byte in the highest byte of the product.
void pack_codes(int32_t bits, int64_t bytes, const Codes& codes, uint8_t* packed) {
  if (bits == 1) {
    for (int64_t i = 0; i < bytes; ++i) {
      uint64_t eight;
      std::memcpy(&eight, codes.bytes + 8 * i, sizeof eight);
      packed[i] = static_cast<uint8_t>(eight * 0x8040201008040201u >> 56);
    }
    return;
  }
  for (int64_t i = 0; i < bytes; ++i) {
    uint32_t four;
    std::memcpy(&four, codes.bytes + 4 * i, sizeof four);
    packed[i] = static_cast<uint8_t>(four * 0x40100401u >> 24);
  }
}

template <int kBits>
int8_t level_of(uint8_t code) {
  if (kBits == 1) return static_cast<int8_t>(2 * (code & 1) - 1);
  return static_cast<int8_t>((code >> 1 & 1) * (2 * (code & 1) - 1));
}

// Add the levels of whole bytes, and of the first `rest` elements of the next byte.
template <int kBits, class Sum>
void add_levels(int64_t n, const uint8_t* __restrict packed, Sum* __restrict sums) {
  constexpr int kEach = 8 / kBits;
  const int64_t bytes = n / kEach;
  for (int64_t i = 0; i < bytes; ++i)
    for (int j = 0; j < kEach; ++j)
      sums[kEach * i + j] = static_cast<Sum>(
          sums[kEach * i + j] +
          level_of<kBits>(static_cast<uint8_t>(packed[i] >> (8 - kBits * (j + 1)))));
  for (int64_t i = kEach * bytes; i < n; ++i)
    sums[i] = static_cast<Sum>(sums[i] + level_of<kBits>(static_cast<uint8_t>(
                                             packed[bytes] >> (8 - kBits * (i % kEach + 1)))));
}

template <class Sum>
void scale(int64_t n, const Sum* __restrict sums, float factor, float* __restrict values) {
  for (int64_t i = 0; i < n; ++i) values[i] = static_cast<float>(sums[i]) * factor;
}

}  // namespace

extern "C" void mx_round_gradients(int32_t bits, int64_t n, float threshold, const float* gradients,
                                   float* residuals, uint8_t* packed) {
  const auto round = bits == 1 ? round_block<1> : round_block<2>;
  Codes codes;
  for (int64_t begin = 0; begin < n; begin += kBlock) {
    const int64_t length = std::min(kBlock, n - begin);
    round(length, threshold, gradients + begin, residuals ? residuals + begin : nullptr, codes);
    const int64_t words = (length * bits + 31) / 32;
    std::fill(codes.bytes + length, codes.bytes + words * 32 / bits, uint8_t{0});
    pack_codes(bits, 4 * words, codes, packed + begin * bits / 8);
  }
}

extern "C" void mx_add_gradient_levels(int32_t bits, int64_t n, const uint8_t* packed,
                                       int32_t width, void* sums) {
  if (width == 1)
    (bits == 1 ? add_levels<1, int8_t> : add_levels<2, int8_t>)(n, packed,
                                                                static_cast<int8_t*>(sums));
  else
    (bits == 1 ? add_levels<1, int16_t> : add_levels<2, int16_t>)(n, packed,
                                                                  static_cast<int16_t*>(sums));
}

extern "C" void mx_scale_gradient_levels(int64_t n, int32_t width, const void* sums, float factor,
                                         float* values) {
  if (width == 1)
    scale(n, static_cast<const int8_t*>(sums), factor, values);
  else
    scale(n, static_cast<const int16_t*>(sums), factor, values);
}
