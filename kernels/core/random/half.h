// float16 arithmetic of the random kernels: every operation runs in float32 and is rounded.
#pragma once
#include <cstdint>
#include <cstring>
#include <type_traits>

namespace mx {

inline float half_to_float(uint16_t h) {
  const uint32_t sign = (uint32_t)(h & 0x8000u) << 16, magnitude = h & 0x7fffu;
  uint32_t bits;
  if (magnitude >= 0x7c00u) {
    bits = 0x7f800000u | (magnitude & 0x3ffu) << 13;  // inf and NaN
  } else {
    // Scaling by 2^112 moves the exponent and normalises denormals.
    float value;
    const uint32_t raw = magnitude << 13;
    memcpy(&value, &raw, 4);
    value *= 0x1p112f;
    memcpy(&bits, &value, 4);
  }
  bits |= sign;
  float out;
  memcpy(&out, &bits, 4);
  return out;
}

inline uint16_t float_to_half(float value) {
  uint32_t bits;
  memcpy(&bits, &value, 4);
  const uint32_t sign = bits >> 16 & 0x8000u, magnitude = bits & 0x7fffffffu;
  if (magnitude > 0x7f800000u) return (uint16_t)(sign | 0x7e00u);
  // Rounds beyond the largest finite value.
  if (magnitude >= 0x477ff000u) return (uint16_t)(sign | 0x7c00u);
  if (magnitude < 0x38800000u) {
    // Denormal: the addition leaves the rounded result in the low bits.
    float f;
    memcpy(&f, &magnitude, 4);
    f += 0.5f;
    memcpy(&bits, &f, 4);
    return (uint16_t)(sign | (bits - 0x3f000000u));
  }
  const uint32_t rounded = magnitude + 0xfffu + (magnitude >> 13 & 1u);
  return (uint16_t)(sign | (rounded - 0x38000000u) >> 13);
}

struct Half {
  uint16_t bits;
  Half() = default;
  explicit Half(float value) : bits(float_to_half(value)) {}
  explicit Half(double value) : bits(float_to_half((float)value)) {}
  explicit operator float() const { return half_to_float(bits); }
  explicit operator double() const { return half_to_float(bits); }
};

template <class T>
inline constexpr bool is_half = std::is_same<T, Half>::value;

#define MX_HALF_OPERATOR(OP, RESULT)                                              \
  template <class A, class B, class = std::enable_if_t<is_half<A> || is_half<B>>> \
  inline RESULT operator OP(A a, B b) {                                           \
    return RESULT((float)a OP(float) b);                                          \
  }
MX_HALF_OPERATOR(+, Half)
MX_HALF_OPERATOR(-, Half)
MX_HALF_OPERATOR(*, Half)
MX_HALF_OPERATOR(/, Half)
MX_HALF_OPERATOR(<, bool)
MX_HALF_OPERATOR(==, bool)
#undef MX_HALF_OPERATOR

}  // namespace mx
