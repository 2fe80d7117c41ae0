// Sorting of integers too numerous for one thread or the caches: chunks are distributed over
// buckets, and then each bucket is sorted.
#pragma once
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/indexing/sort_keys.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN

constexpr int64_t kChunk = 16384;       // keys distributed at a time
constexpr int64_t kSamples = 1024;      // samples that determine the buckets' bounds
constexpr int64_t kCached = 256 << 10;  // bytes of a bucket that stay in the cache
constexpr int64_t kShared = 32768;      // keys of a line that several threads sort
constexpr int64_t kDistributedBytes =
    16 << 20;  // bytes of a line that a single thread distributes as well
constexpr int kMaxHalvings = 6;

template <class T, class KeyOf, class Finish>
class Buckets {
 public:
  Buckets(int64_t n, int threads, T* out, const KeyOf& key_of, const Finish& finish)
      : n_(n),
        threads_(threads),
        chunks_(ceil_div(n, kChunk)),
        out_(out),
        key_of_(key_of),
        finish_(finish) {
    while (halvings_ < kMaxHalvings &&
           (n * (int64_t)sizeof(T) >> halvings_ > kCached || 1 << halvings_ < 4 * threads))
      ++halvings_;
  }
  // Sort the keys of the elements. False if memory is exhausted.
  bool sort(const T* from) {
    const int buckets = 1 << halvings_;
    char* room = (char*)scratch(kSharedSlot, n_ * sizeof(T) + chunks_ * buckets * sizeof(int32_t));
    if (!room) return false;
    pieces_ = (T*)room;
    counts_ = (int32_t*)(room + n_ * sizeof(T));
    draw(from);
    const int status = parallel_try(threads_, chunks_, 1, [&](int64_t chunk, int64_t end) {
      T* rooms = (T*)scratch(kTempSlot, 2 * kChunk * sizeof(T));
      if (!rooms) return false;
      for (; chunk < end; ++chunk) distribute(from, chunk, rooms);
      return true;
    });
    if (status) return false;
    int64_t starts[(1 << kMaxHalvings) + 1] = {}, most = 0;
    for (int64_t chunk = 0; chunk < chunks_; ++chunk)
      for (int b = 0; b < buckets; ++b) starts[b + 1] += counts_[chunk * buckets + b];
    for (int b = 0; b < buckets; ++b) {
      if (starts[b + 1] > most) most = starts[b + 1];
      starts[b + 1] += starts[b];
    }
    const int finished = parallel_try(threads_, buckets, 1, [&](int64_t bucket, int64_t end) {
      T* spare = (T*)scratch(kTempSlot, most * sizeof(T));
      if (!spare) return false;
      for (; bucket < end; ++bucket)
        finish_bucket(bucket, out_ + starts[bucket], spare, starts[bucket + 1] - starts[bucket]);
      return true;
    });
    return finished == 0;
  }

 private:
  // Bounds at even indices separate buckets, those at odd indices lie in the middle of one.
  void draw(const T* from) {
    T keys[3 * kSamples];
    for (int64_t i = 0; i < kSamples; ++i) keys[i] = from[i * (n_ / kSamples)];
    const auto none = [](T*, int64_t) {};
    T* sorted = keys + kSamples;
    sort_elements(keys, sorted, sorted + kSamples, kSamples, key_of_, none);
    const int halves = 2 << halvings_;
    for (int i = 1; i < halves; ++i) bounds_[i] = sorted[i * (kSamples / halves)];
  }
  void distribute(const T* from, int64_t chunk, T* rooms) {
    const int64_t begin = chunk * kChunk, n = n_ - begin < kChunk ? n_ - begin : kChunk;
    T *a = rooms, *b = rooms + kChunk, *to = pieces_ + begin;
    int32_t* counts = counts_ + (chunk << halvings_);
    const int middle = 1 << halvings_;
    const int64_t low = partition<false>(a, b, from + begin, n, bounds_[middle], key_of_);
    halve(a, a, b + (n - low), low, 0, middle / 2, to, counts);
    halve(b, a + low, b, n - low, middle, middle / 2, to, counts);
  }
  // Partition n keys of a chunk, in one of two buffers, around the bound number `first` + `middle`.
  void halve(const T* keys, T* a, T* b, int64_t n, int first, int middle, T*& to,
             int32_t*& counts) {
    if (middle == 1) {
      memcpy(to, keys, n * sizeof(T));
      to += n;
      *counts++ = (int32_t)n;
      return;
    }
    const int64_t low = partition<false>(a, b, keys, n, bounds_[first + middle], Plain());
    halve(a, a, b + (n - low), low, first, middle / 2, to, counts);
    halve(b, a + low, b, n - low, first + middle, middle / 2, to, counts);
  }
  // The pieces of a bucket are partitioned while they are read.
  void finish_bucket(int64_t bucket, T* out, T* spare, int64_t n) {
    const int buckets = 1 << halvings_;
    const T pivot = bounds_[2 * bucket + 1];
    int64_t low = 0, high = 0;
    for (int64_t chunk = 0; chunk < chunks_; ++chunk) {
      const int32_t* counts = counts_ + chunk * buckets;
      const T* piece = pieces_ + chunk * kChunk;
      for (int b = 0; b < bucket; ++b) piece += counts[b];
      const int64_t lower =
          partition<false>(out + low, spare + high, piece, counts[bucket], pivot, Plain());
      low += lower;
      high += counts[bucket] - lower;
    }
    const int patience = patience_for(n);
    sort_keys(out, out, spare + high, low, patience, finish_);
    sort_keys(spare, out + low, spare, high, patience, finish_);
  }

  const int64_t n_;
  const int threads_;
  const int64_t chunks_;
  T* const out_;
  const KeyOf& key_of_;
  const Finish& finish_;
  int halvings_ = 1;
  T bounds_[2 << kMaxHalvings];
  T* pieces_;        // chunks, each in bucket order
  int32_t* counts_;  // number of keys per chunk and bucket
};

MX_LEAF_END
#endif
