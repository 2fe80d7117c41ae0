// Kernel "sort": the elements along a dimension in order, without their positions.
//
// Elements become integers of the same order: NaN is the largest, and all bits are flipped for
// descending order. Short lines are sorted side by side, one in each lane of a vector, by Batcher's
// network; long ones by their digits.
#include "core/memory/scratch.h"
#include "leaf/simd/transpose.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kNetwork = 1024;  // elements of lines that the network sorts, at most
constexpr int64_t kNear = 256;      // vectors that stay in the first cache
constexpr int64_t kWide = 4096;     // from here on, digits of 11 bits beat those of 8
constexpr int L = kLanes<int32_t>;

template <bool real>
MX_INLINE int32_t key_of(int32_t x, int32_t flip) {
  const int32_t magnitude = x & INT32_MAX;
  if (real) x = magnitude > 0x7f800000 ? INT32_MAX : x < 0 ? x ^ INT32_MAX : x;
  return x ^ flip;
}
template <bool real>
MX_INLINE int32_t element_of(int32_t key, int32_t flip) {
  key ^= flip;
  return real && key < 0 ? key ^ INT32_MAX : key;
}

// --- digits ------------------------------------------------------------------------------------

// Sort n keys by digits of `bits` bits, lowest first. Returns where they are: `keys` or `spare`.
template <int bits>
int32_t* sort_digits(int32_t* keys, int32_t* spare, int64_t n) {
  constexpr int kDigits = ceil_div(32, bits), kSize = 1 << bits;
  const auto digit = [](int32_t key, int number) {
    return (((uint32_t)key ^ 0x80000000u) >> number * bits) & (kSize - 1);
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
    int32_t* sorted = spare;
    spare = keys;
    keys = sorted;
  }
  return keys;
}

// --- network -----------------------------------------------------------------------------------

// Merge runs of p vectors, lane by lane, to runs of twice that: Batcher's odd-even merge.
void merge_runs(int32_t* x, int64_t n, int64_t p) {
  for (int64_t k = p; k >= 1; k /= 2) {
    for (int64_t j = k % p; j + k < n; j += 2 * k) {
      if (k < p && (j + k) % (2 * p) == 0) continue;  // these are of different runs
      const int64_t end = j + k + k < n ? j + k : n - k;
      for (int64_t i = j; i < end; ++i) {
        const VI a = load(x + i * L), b = load(x + (i + k) * L);
        store(x + i * L, min(a, b));
        store(x + (i + k) * L, max(a, b));
      }
    }
  }
}
void sort_lanes(int32_t* x, int64_t n) {
  for (int64_t begin = 0; begin < n; begin += kNear) {
    const int64_t size = n - begin < kNear ? n - begin : kNear;
    for (int64_t p = 1; p < size; p *= 2) merge_runs(x + begin * L, size, p);
  }
  for (int64_t p = kNear; p < n; p *= 2) merge_runs(x, n, p);
}

// --- lines -------------------------------------------------------------------------------------

template <bool real>
struct Sorting {
  const mx_order_params& p;
  const int32_t* in;
  int32_t *out, flip;

  int64_t start_of(int64_t line) const {
    return line / p.inner * p.extent * p.inner + line % p.inner;
  }

  void one_line(int32_t* keys, int64_t line) const {
    const int32_t* from = in + start_of(line);
    int32_t* to = out + start_of(line);
    for (int64_t i = 0; i < p.extent; ++i) keys[i] = key_of<real>(from[i * p.inner], flip);
    int32_t* spare = keys + p.extent;
    const int32_t* sorted = p.extent < kWide ? sort_digits<8>(keys, spare, p.extent)
                                             : sort_digits<11>(keys, spare, p.extent);
    for (int64_t i = 0; i < p.extent; ++i) to[i * p.inner] = element_of<real>(sorted[i], flip);
  }

  // `count` lines from `line` on, at most as many as there are lanes.
  void some_lines(int32_t* keys, int64_t line, int64_t count) const {
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
        const int32_t* from = in + start_of(line + lane);
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
        int32_t* to = out + start_of(line + lane);
        for (int64_t i = 0; i < n; ++i) to[i * p.inner] = keys[i * L + lane];
      }
    }
  }
};

template <bool real>
int sort(const mx_call* call) {
  const auto& p = *static_cast<const mx_order_params*>(call->params);
  const Sorting<real> job = {p, data<int32_t>(call->in[0]), data<int32_t>(call->out[0]),
                             p.ascending ? 0 : -1};
  const int64_t lines = p.outer * p.inner;
  const bool by_network = p.extent <= kNetwork && lines >= L / 4;
  const int64_t each = by_network ? L : 1, tasks = ceil_div(lines, each);
  const int64_t room = by_network ? p.extent * L : 2 * p.extent;
  bool ok = true;
  parallel_for(call->threads, tasks, 1, [&](int64_t begin, int64_t end) {
    int32_t* keys = (int32_t*)scratch(kTempSlot, (size_t)room * sizeof *keys);
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
  mx_kernel_add("sort", sort<true>, MX_BIT(F32), 0);
  mx_kernel_add("sort", sort<false>, MX_BIT(I32), 0);
}
MX_LEAF_END
