// Element types: storage and conversions.
namespace mx {
typedef long long Long;
struct Half { unsigned short bits; };
struct Bf16 { unsigned short bits; };
struct Bool { unsigned char bits; };

#ifdef __CUDA_ARCH__
__device__ inline float widened(Half x) {
  float y;
  asm("cvt.f32.f16 %0, %1;" : "=f"(y) : "h"(x.bits));
  return y;
}
__device__ inline Half to_half(float x) {
  Half y;
  asm("cvt.rn.f16.f32 %0, %1;" : "=h"(y.bits) : "f"(x));
  return y;
}
#else
__device__ inline float widened(Half x) { return (float)__builtin_bit_cast(_Float16, x); }
__device__ inline Half to_half(float x) { return __builtin_bit_cast(Half, (_Float16)x); }
#endif
__device__ inline float widened(Bf16 x) {
  return __builtin_bit_cast(float, (unsigned)x.bits << 16);
}
__device__ inline Bf16 to_bf16(float x) {
  const unsigned bits = __builtin_bit_cast(unsigned, x);
  const unsigned rounded = (bits + 0x7fffu + (bits >> 16 & 1)) >> 16;
  return Bf16{(unsigned short)(x != x ? 0x7fc0 : rounded)};
}

template <class T> struct Is { static constexpr bool real = false; };
template <> struct Is<float> { static constexpr bool real = true; };
template <> struct Is<double> { static constexpr bool real = true; };

template <class T> __device__ inline T read(T x) { return x; }
__device__ inline float read(Half x) { return widened(x); }
__device__ inline float read(Bf16 x) { return widened(x); }
__device__ inline unsigned char read(Bool x) { return x.bits; }

template <class To> struct Cast {
  template <class From> __device__ static To of(From x) {
    if constexpr (Is<From>::real && !Is<To>::real && sizeof(To) < 8) return (To)(Long)x;
    return (To)x;
  }
};
template <> struct Cast<Half> {
  template <class From> __device__ static Half of(From x) { return to_half((float)x); }
};
template <> struct Cast<Bf16> {
  template <class From> __device__ static Bf16 of(From x) { return to_bf16((float)x); }
};
template <> struct Cast<Bool> {
  template <class From> __device__ static Bool of(From x) { return Bool{(unsigned char)(x != 0)}; }
};
template <class To, class From> __device__ inline To cast(From x) { return Cast<To>::of(read(x)); }

// NVRTC has neither INFINITY nor __builtin_inf.
constexpr double kInfinity = __builtin_bit_cast(double, 0x7ff0000000000000ull);
constexpr double kNaN = __builtin_bit_cast(double, 0x7ff8000000000000ull);

// Vector of neighbouring elements for one load or store.
template <class T, int W>
struct __align__(W * sizeof(T) > 16 ? 16 : W * sizeof(T)) Run { T x[W]; };
}  // namespace mx
