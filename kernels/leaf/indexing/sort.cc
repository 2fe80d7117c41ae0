// Kernel "sort": sorting along a dimension.
//
// Elements become order-preserving integers: NaN is the largest, and all bits are flipped for
// descending order. Short lines are sorted together, one per vector lane, by Batcher's network;
// long ones by partitioning (sort_keys.h, sort_buckets.h) or radix sort.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/indexing/sort_buckets.h"
#include "leaf/indexing/sort_elements.h"
#include "leaf/simd/transpose.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kNetwork = 1024;       // largest number of elements sorted by the network
constexpr int64_t kCachedVectors = 256;  // vectors that fit in the L1 cache

// --- network -----------------------------------------------------------------------------------

// Merge runs of p vectors, lane by lane, into runs of twice that: Batcher's odd-even merge.
template <class T>
void merge_runs(T* x, int64_t n, int64_t p) {
  constexpr int L = kLanes<T>;
  for (int64_t k = p; k >= 1; k /= 2) {
    for (int64_t j = k % p; j + k < n; j += 2 * k) {
      if (k < p && (j + k) % (2 * p) == 0) continue;  // these belong to different runs
      const int64_t end = j + k + k < n ? j + k : n - k;
      for (int64_t i = j; i < end; ++i) {
        const Vec<T> a = load(x + i * L), b = load(x + (i + k) * L);
        store(x + i * L, min(a, b));
        store(x + (i + k) * L, max(a, b));
      }
    }
  }
}
template <class T>
void sort_lanes(T* x, int64_t n) {
  constexpr int L = kLanes<T>;
  for (int64_t begin = 0; begin < n; begin += kCachedVectors) {
    const int64_t size = n - begin < kCachedVectors ? n - begin : kCachedVectors;
    for (int64_t p = 1; p < size; p *= 2) merge_runs(x + begin * L, size, p);
  }
  for (int64_t p = kCachedVectors; p < n; p *= 2) merge_runs(x, n, p);
}

// --- lines -------------------------------------------------------------------------------------

template <class T, bool real>
struct Sorting {
  static constexpr int L = kLanes<T>;
  const mx_order_params& p;
  const T* in;
  T *out, flip;

  int64_t start_of(int64_t line) const {
    return line / p.inner * p.extent * p.inner + line % p.inner;
  }

  // Sort one contiguous line.
#if MX_ISA_LEVEL == 4
  bool one_line(const T* from, T* to, int threads) const {
    const int64_t n = p.extent;
    const KeyOf<T, real> key_of = {flip};
    const auto finish = [&](T* keys, int64_t count) {
      if (real || flip) elements_of<real>(keys, count, flip);
    };
    if (n >= kShared && (threads > 1 || n * (int64_t)sizeof(T) >= kDistributedBytes))
      return Buckets(n, threads, to, key_of, finish).sort(from);
    T* spare = (T*)scratch(kTempSlot, n * sizeof(T));
    if (spare) sort_elements(from, to, spare, n, key_of, finish);
    return spare;
  }
#else
  bool one_line(const T* from, T* to, int threads) const {
    const int64_t n = p.extent;
    T* keys = (T*)scratch(kTempSlot, 2 * n * sizeof(T));
    if (!keys) return false;
    for (int64_t i = 0; i < n; ++i) keys[i] = key_of<real>(from[i], flip);
    const T* sorted = sort_digits(keys, keys + n, n);
    for (int64_t i = 0; i < n; ++i) to[i] = element_of<real>(sorted[i], flip);
    return true;
  }
#endif
  bool scattered_line(int64_t line) const {
    const int64_t n = p.extent;
    T* keys = (T*)scratch(kPackSlot, 2 * n * sizeof(T));
    if (!keys) return false;
    const T* from = in + start_of(line);
    for (int64_t i = 0; i < n; ++i) keys[i] = from[i * p.inner];
    if (!one_line(keys, keys + n, 1)) return false;
    T* to = out + start_of(line);
    for (int64_t i = 0; i < n; ++i) to[i * p.inner] = keys[n + i];
    return true;
  }

  // Sort `count` lines from `line` on, at most as many as there are lanes.
  void some_lines(T* keys, int64_t line, int64_t count) const {
    const int64_t n = p.extent;
    const bool whole = count == L && p.inner == 1;
    const bool adjacent = count == L && line % p.inner + L <= p.inner;
    const int64_t start = start_of(line);
    if (whole) {
      transpose(keys, L, in + start, n, n, L);
    } else if (adjacent) {
      for (int64_t i = 0; i < n; ++i) store(keys + i * L, load(in + start + i * p.inner));
    } else {
      for (int64_t lane = 0; lane < count; ++lane) {
        const T* from = in + start_of(line + lane);
        for (int64_t i = 0; i < n; ++i) keys[i * L + lane] = from[i * p.inner];
      }
    }
    for (int64_t i = 0; i < n * L; ++i) keys[i] = key_of<real>(keys[i], flip);
    sort_lanes(keys, n);
    for (int64_t i = 0; i < n * L; ++i) keys[i] = element_of<real>(keys[i], flip);
    if (whole) {
      transpose(out + start, n, keys, L, L, n);
    } else if (adjacent) {
      for (int64_t i = 0; i < n; ++i) store(out + start + i * p.inner, load(keys + i * L));
    } else {
      for (int64_t lane = 0; lane < count; ++lane) {
        T* to = out + start_of(line + lane);
        for (int64_t i = 0; i < n; ++i) to[i * p.inner] = keys[i * L + lane];
      }
    }
  }
};

template <class T, bool real>
int sort(const mx_call* call) {
  constexpr int L = kLanes<T>;
  const auto& p = *static_cast<const mx_order_params*>(call->params);
  const Sorting<T, real> job = {p, data<T>(call->in[0]), data<T>(call->out[0]),
                                (T)(p.ascending ? 0 : -1)};
  const int64_t lines = p.outer * p.inner;
  if (lines == 1) return job.one_line(job.in, job.out, call->threads) ? 0 : -1;
  const bool by_network = p.extent <= kNetwork && lines >= L / 4;
  const int64_t each = by_network ? L : 1, tasks = ceil_div(lines, each);
  return parallel_try(call->threads, tasks, 1, [&](int64_t begin, int64_t end) {
    T* keys = nullptr;
    if (by_network) {
      keys = (T*)scratch(kTempSlot, p.extent * L * sizeof(T));
      if (!keys) return false;
      memset(keys, 0, p.extent * L * sizeof(T));
    }
    for (int64_t task = begin; task < end; ++task) {
      const int64_t line = task * each, start = job.start_of(line);
      if (by_network) {
        job.some_lines(keys, line, lines - line < L ? lines - line : L);
      } else if (!(p.inner == 1 ? job.one_line(job.in + start, job.out + start, 1)
                                : job.scattered_line(line))) {
        return false;
      }
    }
    return true;
  });
}

}  // namespace

void register_sort() {
  mx_kernel_add("sort", sort<int32_t, true>, MX_BIT(F32), 0);
  mx_kernel_add("sort", sort<int32_t, false>, MX_BIT(I32), 0);
  mx_kernel_add("sort", sort<int64_t, true>, MX_BIT(F64), 0);
  mx_kernel_add("sort", sort<int64_t, false>, MX_BIT(I64), 0);
}
MX_LEAF_END
