// Long copies, and outputs so large that no cache keeps them until they are read: these use
// non-temporal stores, which avoid reading their lines first.
#pragma once
#include "leaf/simd/cast.h"
#include "leaf/simd/vec.h"

MX_LEAF_BEGIN

constexpr int64_t kStreamBytes = 32 << 20;  // larger outputs bypass the caches
constexpr int64_t kCopyBytes = 512;         // shorter copies use memcpy

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

// Memory bandwidth is higher across several pages: these are read and written in parallel.
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

// Write n elements of `size` bytes past the caches; make(to, i, m) computes m of them from the i-th
// on.
template <class Make>
inline void stream_made(char* dst, int size, int64_t n, const Make& make) {
  constexpr int64_t kChunk = 512;  // bytes of a page at a time
  alignas(64) char buffer[kPage];
  const int64_t page = kPage / size, chunk = kChunk / size;
  int64_t i = -(uintptr_t)dst % kVecBytes / size;
  if (i > n) i = n;
  make(dst, 0, i);
  for (; i + kPages * page <= n; i += kPages * page) {
    for (int64_t j = i; j < i + page; j += chunk) {
      for (int64_t p = 0; p < kPages; ++p) make(buffer + p * kChunk, j + p * page, chunk);
      for (int64_t u = 0; u < kChunk; u += kVecBytes) {
        for (int64_t p = 0; p < kPages; ++p)
          stream(dst + j * size + p * kPage + u, buffer + p * kChunk + u);
      }
    }
  }
  make(dst + i * size, i, n - i);
}

// Copy n bytes by vectors with aligned stores: memcpy may choose an instruction that is very slow
// if source and target differ in their offset within a cache line.
inline void copy_vectors(char* to, const char* from, int64_t n) {
  constexpr int V = kVecBytes;
  typedef uint8_t B;
  const auto at = [](const char* p) MX_ALWAYS { return load((const B*)p); };
  const Vec<B> first = at(from), last = at(from + n - V);
  int64_t i = V - (uintptr_t)to % V;
  for (; i + 4 * V <= n; i += 4 * V) {
    const Vec<B> a = at(from + i), b = at(from + i + V), c = at(from + i + 2 * V),
                 d = at(from + i + 3 * V);
    store((B*)to + i, a);
    store((B*)to + i + V, b);
    store((B*)to + i + 2 * V, c);
    store((B*)to + i + 3 * V, d);
  }
  for (; i + V <= n; i += V) store((B*)to + i, at(from + i));
  store((B*)to + n - V, last);
  store((B*)to, first);
}

// memcpy that reaches memory bandwidth for long copies, whatever their alignment.
inline void copy_bytes(void* dst, const void* src, int64_t n) {
  if (n < kCopyBytes) {
    memcpy(dst, src, n);
  } else if (n <= kStreamBytes) {
    copy_vectors((char*)dst, (const char*)src, n);
  } else {
    stream_bytes((char*)dst, (const char*)src, n);
    end_streams();
  }
}

MX_LEAF_END
