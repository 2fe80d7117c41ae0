// Long copies, and outputs so large that no cache keeps them until they are read: these are written
// past the caches, which saves reading their lines first.
#pragma once
#include "leaf/simd/cast.h"
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

constexpr int64_t kStreamBytes = 32 << 20;  // larger outputs are written past the caches
constexpr int64_t kCopyBytes = 16 << 10;    // memcpy is at its best up to about here

inline bool beyond_caches(const mx_tensor& out) {
  return count(out) * element_size(out.dtype) > kStreamBytes;
}

MX_INLINE void stream(char* to, const char* from) {
#if MX_ISA_LEVEL == 4
  _mm512_stream_si512((__m512i*)to, (__m512i)load<uint8_t>((const uint8_t*)from));
#elif MX_ISA_LEVEL == 3
  _mm256_stream_si256((__m256i*)to, (__m256i)load<uint8_t>((const uint8_t*)from));
#else
  _mm_stream_si128((__m128i*)to, (__m128i)load<uint8_t>((const uint8_t*)from));
#endif
}

// Memory serves several pages at a time better than one: these are read and written side by side.
constexpr int64_t kPage = 4096, kPages = 4;

// Copy n bytes past the caches. Call `end_streams` before others may read them.
inline void stream_bytes(char* dst, const char* src, int64_t n) {
  const int64_t head = -(uintptr_t)dst % kVecBytes;
  if (n < head + kVecBytes) {
    memcpy(dst, src, n);
    return;
  }
  memcpy(dst, src, head);
  int64_t i = head;
  for (; i + kPages * kPage <= n; i += kPages * kPage) {
    for (int64_t j = i; j < i + kPage; j += kVecBytes) {
      for (int64_t p = 0; p < kPages; ++p) stream(dst + p * kPage + j, src + p * kPage + j);
    }
  }
  for (; i + kVecBytes <= n; i += kVecBytes) stream(dst + i, src + i);
  memcpy(dst + i, src + i, n - i);
}
inline void end_streams() { _mm_sfence(); }

// Write n elements of `size` bytes past the caches, which make(to, i, m) computes from the i-th on.
template <class Make>
inline void stream_made(char* dst, int size, int64_t n, const Make& make) {
  constexpr int64_t kChunk = 512;  // bytes of a page at a time
  alignas(64) char made[kPage];
  const int64_t page = kPage / size, chunk = kChunk / size;
  int64_t i = -(uintptr_t)dst % kVecBytes / size;
  if (i > n) i = n;
  make(dst, 0, i);
  for (; i + kPages * page <= n; i += kPages * page) {
    for (int64_t j = i; j < i + page; j += chunk) {
      for (int64_t p = 0; p < kPages; ++p) make(made + p * kChunk, j + p * page, chunk);
      for (int64_t u = 0; u < kChunk; u += kVecBytes) {
        for (int64_t p = 0; p < kPages; ++p)
          stream(dst + j * size + p * kPage + u, made + p * kChunk + u);
      }
    }
  }
  make(dst + i * size, i, n - i);
}

// memcpy, by way of which long copies come near the bandwidth of memory.
inline void copy_bytes(void* dst, const void* src, int64_t n) {
  char* to = (char*)dst;
  const char* from = (const char*)src;
  if (n > kStreamBytes) {
    stream_bytes(to, from, n);
    end_streams();
    return;
  }
  for (; n > kCopyBytes; n -= kCopyBytes, to += kCopyBytes, from += kCopyBytes)
    memcpy(to, from, kCopyBytes);
  memcpy(to, from, n);
}

MX_LEAF_END
