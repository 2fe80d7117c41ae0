// Kernel "sort": the elements along a dimension in order, without their positions.
//
// Elements become integers of the same order: NaN is the largest, and all bits are flipped for
// descending order. Short lines are sorted side by side, one in each lane of a vector, by Batcher's
// network; long ones by partitions (sort_keys.h) or their digits.
#include "core/memory/scratch.h"
#include "leaf/indexing/sort_keys.h"
#include "leaf/simd/transpose.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kNetwork = 1024;  // elements of lines that the network sorts, at most
constexpr int64_t kNear = 256;      // vectors that stay in the first cache
constexpr int64_t kWide = 4096;     // from here on, digits of 11 bits beat those of 8
constexpr int64_t kShared = 32768;  // keys of one line that two threads sort

template <class T>
constexpr T kMost = sizeof(T) == 8 ? (T)INT64_MAX : (T)INT32_MAX;
template <class T>
constexpr T kInfinity = sizeof(T) == 8 ? (T)0x7ff0000000000000 : (T)0x7f800000;

template <bool real, class T>
MX_INLINE T key_of(T x, T flip) {
  const T magnitude = x & kMost<T>;
  if (real) x = magnitude > kInfinity<T> ? kMost<T> : x < 0 ? x ^ kMost<T> : x;
  return x ^ flip;
}
template <bool real, class T>
MX_INLINE T element_of(T key, T flip) {
  key ^= flip;
  return real && key < 0 ? key ^ kMost<T> : key;
}

// --- digits ------------------------------------------------------------------------------------

// Sort n keys by digits of `bits` bits, lowest first. Returns where they are: `keys` or `spare`.
template <int bits, class T>
T* sort_digits(T* keys, T* spare, int64_t n) {
  typedef typename UnsignedOf<sizeof(T)>::type U;
  constexpr int kWidth = 8 * sizeof(T), kDigits = ceil_div(kWidth, bits), kSize = 1 << bits;
  const auto digit = [](T key, int number) {
    return (int)(((U)key ^ (U)1 << (kWidth - 1)) >> number * bits) & (kSize - 1);
  };
  uint32_t counts[kDigits][kSize] = {};
  for (int64_t i = 0; i < n; ++i)
    for (int number = 0; number < kDigits; ++number) ++counts[number][digit(keys[i], number)];
  for (int number = 0; number < kDigits; ++number) {
    uint32_t* starts = counts[number];
    if (starts[digit(keys[0], number)] == n) continue;
    uint32_t start = 0;
    for (int d = 0; d < kSize; ++d) {
      const uint32_t size = starts[d];
      starts[d] = start;
      start += size;
    }
    for (int64_t i = 0; i < n; ++i) spare[starts[digit(keys[i], number)]++] = keys[i];
    T* sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}

// --- network -----------------------------------------------------------------------------------

// Merge runs of p vectors, lane by lane, to runs of twice that: Batcher's odd-even merge.
template <class T>
void merge_runs(T* x, int64_t n, int64_t p) {
  constexpr int L = kLanes<T>;
  for (int64_t k = p; k >= 1; k /= 2) {
    for (int64_t j = k % p; j + k < n; j += 2 * k) {
      if (k < p && (j + k) % (2 * p) == 0) continue;  // these are of different runs
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
  for (int64_t begin = 0; begin < n; begin += kNear) {
    const int64_t size = n - begin < kNear ? n - begin : kNear;
    for (int64_t p = 1; p < size; p *= 2) merge_runs(x + begin * L, size, p);
  }
  for (int64_t p = kNear; p < n; p *= 2) merge_runs(x, n, p);
}

// --- lines -------------------------------------------------------------------------------------

// Sort n keys; `spare` has a vector more. Returns where they are: `keys` or `spare`.
template <class T>
T* sorted_line(T* keys, T* spare, int64_t n) {
#if MX_ISA_LEVEL == 4
  const int halvings = 63 - __builtin_clzll(n | 1);
  if (sort_keys(keys, n, spare, 2 * halvings)) return keys;
#endif
  return n < kWide ? sort_digits<8>(keys, spare, n) : sort_digits<11>(keys, spare, n);
}

template <class T, bool real>
struct Sorting {
  static constexpr int L = kLanes<T>;
  const mx_order_params& p;
  const T* in;
  T *out, flip;

  int64_t start_of(int64_t line) const {
    return line / p.inner * p.extent * p.inner + line % p.inner;
  }
  // Keys of elements, and elements of keys; strides of 1 are told the compiler.
  void take(T* keys, const T* from, int64_t begin, int64_t end) const {
    if (p.inner == 1)
      for (int64_t i = begin; i < end; ++i) keys[i] = key_of<real>(from[i], flip);
    else
      for (int64_t i = begin; i < end; ++i) keys[i] = key_of<real>(from[i * p.inner], flip);
  }
  void give(T* to, const T* keys, int64_t count) const {
    if (p.inner == 1)
      for (int64_t i = 0; i < count; ++i) to[i] = element_of<real>(keys[i], flip);
    else
      for (int64_t i = 0; i < count; ++i) to[i * p.inner] = element_of<real>(keys[i], flip);
  }

  void one_line(T* keys, int64_t line) const {
    take(keys, in + start_of(line), 0, p.extent);
    give(out + start_of(line), sorted_line(keys, keys + p.extent, p.extent), p.extent);
  }

#if MX_ISA_LEVEL == 4
  // One line by two threads: the keys below a pivot and those above.
  void shared_line(T* keys, int threads) const {
    const int64_t n = p.extent;
    T* spare = keys + n;
    parallel_for(threads, n, 4096, [&](int64_t i, int64_t end) { take(keys, in, i, end); });
    const int64_t low = partition<false>(keys, n, spare, pivot_of(keys, n));
    parallel_for(threads, 2, 1, [&](int64_t part, int64_t end) {
      for (; part < end; ++part) {
        const int64_t first = part ? low : 0, count = part ? n - low : low;
        const T* sorted = sorted_line(keys + first, spare + (part ? low + L : 0), count);
        give(out + first * p.inner, sorted, count);
      }
    });
  }
#endif

  // `count` lines from `line` on, at most as many as there are lanes.
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
  const bool by_network = p.extent <= kNetwork && lines > 1 && lines >= L / 4;
  const int64_t each = by_network ? L : 1, tasks = ceil_div(lines, each);
  const int64_t room = by_network ? p.extent * L : 2 * (p.extent + L);
#if MX_ISA_LEVEL == 4
  if (lines == 1 && p.extent >= kShared && call->threads > 1) {
    T* keys = (T*)scratch(kTempSlot, (size_t)room * sizeof *keys);
    if (!keys) return -1;
    job.shared_line(keys, call->threads);
    return 0;
  }
#endif
  bool ok = true;
  parallel_for(call->threads, tasks, 1, [&](int64_t begin, int64_t end) {
    T* keys = (T*)scratch(kTempSlot, (size_t)room * sizeof *keys);
    if (!keys) {
      ok = false;
      return;
    }
    if (by_network) memset(keys, 0, (size_t)room * sizeof *keys);
    for (int64_t task = begin; task < end; ++task) {
      const int64_t line = task * each;
      if (by_network)
        job.some_lines(keys, line, lines - line < L ? lines - line : L);
      else
        job.one_line(keys, line);
    }
  });
  return ok ? 0 : -1;
}

}  // namespace

void register_sort() {
  mx_kernel_add("sort", sort<int32_t, true>, MX_BIT(F32), 0);
  mx_kernel_add("sort", sort<int32_t, false>, MX_BIT(I32), 0);
  mx_kernel_add("sort", sort<int64_t, true>, MX_BIT(F64), 0);
  mx_kernel_add("sort", sort<int64_t, false>, MX_BIT(I64), 0);
}
MX_LEAF_END
