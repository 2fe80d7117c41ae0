// CUDA's vector types and their alignments.
#pragma once

#define CUDA_TEXT_VECTORS(T, name)                                              \
  struct name##1 { T x; };                                                      \
  struct alignas(2 * sizeof(T)) name##2 { T x, y; };                            \
  struct name##3 { T x, y, z; };                                                \
  struct alignas(sizeof(T) < 4 ? 4 * sizeof(T) : 16) name##4 { T x, y, z, w; }; \
  inline name##1 make_##name##1(T x) { return {x}; }                            \
  inline name##2 make_##name##2(T x, T y) { return {x, y}; }                    \
  inline name##3 make_##name##3(T x, T y, T z) { return {x, y, z}; }            \
  inline name##4 make_##name##4(T x, T y, T z, T w) { return {x, y, z, w}; }

typedef unsigned char uchar;
typedef unsigned int uint;
CUDA_TEXT_VECTORS(signed char, char)
CUDA_TEXT_VECTORS(unsigned char, uchar)
CUDA_TEXT_VECTORS(short, short)
CUDA_TEXT_VECTORS(unsigned short, ushort)
CUDA_TEXT_VECTORS(int, int)
CUDA_TEXT_VECTORS(unsigned int, uint)
CUDA_TEXT_VECTORS(long long, longlong)
CUDA_TEXT_VECTORS(unsigned long long, ulonglong)
CUDA_TEXT_VECTORS(float, float)
CUDA_TEXT_VECTORS(double, double)
#undef CUDA_TEXT_VECTORS

struct dim3 {
  unsigned x, y, z;
  constexpr dim3(unsigned x = 1, unsigned y = 1, unsigned z = 1) : x(x), y(y), z(z) {}
};
