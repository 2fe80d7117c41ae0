// The 32-bit Mersenne twister with the output of std::mt19937, half its memory and block
// generation. Trivially copyable; only seed() initialises it.
#pragma once
#include <cstdint>
#include <cstring>

namespace mx {

class Mt19937 {
 public:
  static constexpr int kWords = 624;

  void seed(uint32_t value) {
    words_[0] = value;
    for (int i = 1; i < kWords; ++i)
      words_[i] = 1812433253u * (words_[i - 1] ^ (words_[i - 1] >> 30)) + (uint32_t)i;
    position_ = kWords;
  }

  uint32_t next() {
    if (position_ == kWords) refill();
    return temper(words_[position_++]);
  }

  // Write the next n outputs.
  void next(uint32_t* out, int64_t n) {
    while (n > 0) {
      if (position_ == kWords) refill();
      const int left = kWords - position_;
      const int m = n < left ? (int)n : left;
      const uint32_t* from = words_ + position_;
      for (int i = 0; i < m; ++i) out[i] = temper(from[i]);
      position_ += m;
      out += m;
      n -= m;
    }
  }

  // Whether the state of a restored engine is valid.
  bool valid() const { return position_ >= 0 && position_ <= kWords; }

 private:
  static constexpr int kShift = 397;

  static uint32_t temper(uint32_t y) {
    y ^= y >> 11;
    y ^= (y << 7) & 0x9d2c5680u;
    y ^= (y << 15) & 0xefc60000u;
    return y ^ (y >> 18);
  }

  static uint32_t twist(uint32_t high, uint32_t low) {
    const uint32_t y = (high & 0x80000000u) | (low & 0x7fffffffu);
    return (y >> 1) ^ (-(low & 1u) & 0x9908b0dfu);
  }

  void refill() {
    constexpr int kRest = kWords - kShift;
    for (int i = 0; i < kRest; ++i)
      words_[i] = words_[i + kShift] ^ twist(words_[i], words_[i + 1]);
    for (int i = kRest; i < kWords - 1; ++i)
      words_[i] = words_[i - kRest] ^ twist(words_[i], words_[i + 1]);
    words_[kWords - 1] = words_[kShift - 1] ^ twist(words_[kWords - 1], words_[0]);
    position_ = 0;
  }

  uint32_t words_[kWords];
  int32_t position_;  // the next word to return; kWords: generate more first
};

}  // namespace mx
