// Of NVIDIA's header, what CuPy's own headers need: float16 as its bits.
#pragma once
#include <type_traits>

struct __half_raw {
  unsigned short x;
};
struct half {
  unsigned short bits;

  half() {}
  half(float value) : bits(__float2half_rn(value)) {}
  half(const __half_raw& raw) : bits(raw.x) {}
  template <class T, class = std::enable_if_t<std::is_arithmetic<T>::value>>
  explicit half(T value) : half((float)value) {}
  operator float() const { return __half2float(bits); }
  operator __half_raw() const { return {bits}; }
};
static inline unsigned short __half_as_ushort(half value) { return value.bits; }
static inline half __ushort_as_half(unsigned short bits) { return half(__half_raw{bits}); }
