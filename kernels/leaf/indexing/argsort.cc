// Kernel "argsort": stable argsort along a dimension.
//
// An element becomes the leading bits of an order-preserving integer, followed by its position;
// these are sorted as one. Only 64-bit elements may have more bits than fit; runs with equal
// leading bits are then sorted by the remaining ones.
#include "core/parallel_try.h"
#include "leaf/indexing/sort_buckets.h"
#include "leaf/indexing/sort_elements.h"
#include "leaf/simd/cast.h"
#include "params/indexing.gen.h"

MX_LEAF_BEGIN
#if MX_ISA_LEVEL == 4
namespace {

constexpr int64_t kInsertionRun = 32;  // entries of a run that are sorted by insertion
constexpr uint64_t kTop = (uint64_t)1 << 63;

// As in sort, but both zeros are equal.
template <bool real, class T>
MX_INLINE T rank_of(T x, T flip) {
  const T magnitude = x & kLargest<T>;
  if (real) x = magnitude > kInfinity<T> ? kLargest<T> : x < 0 ? -magnitude : x;
  return x ^ flip;
}

void sort_entries(int64_t* entries, int64_t* spare, int64_t n) {
  sort_keys(entries, entries, spare, n, patience_for(n), [](int64_t*, int64_t) {});
}

template <class T, bool real>
class Line {
 public:
  Line(const T* from, int64_t step, int64_t n, bool ascending)
      : from_(from), step_(step), n_(n), flip_((T)(ascending ? 0 : -1)) {
    while ((int64_t)1 << places_ < n) ++places_;
    if (sizeof(T) < 8) return;
    T most = rank(0);
    least_ = most;
    for (int64_t i = 1; i < n; ++i) {
      const T x = rank(i);
      least_ = x < least_ ? x : least_;
      most = x > most ? x : most;
    }
    const uint64_t range = (uint64_t)most - (uint64_t)least_;
    const int bits = range ? 64 - __builtin_clzll(range) : 0;
    if (bits + places_ > 64) left_ = bits + places_ - 64;
  }
  void fill(int64_t* entries, int64_t begin, int64_t end) const {
    if (step_ == 1)
      for (int64_t i = begin; i < end; ++i) entries[i] = entry(rank_of<real>(from_[i], flip_), i);
    else
      for (int64_t i = begin; i < end; ++i) entries[i] = entry(rank(i), i);
  }
  // Sort entries, ordered by their leading bits, by all bits.
  void order_runs(int64_t* entries, int64_t* spare) const {
    if (!left_) return;
    for (int64_t i = 0, end; i < n_; i = end) {
      for (end = i + 1; end < n_ && leading(entries[end]) == leading(entries[i]);) ++end;
      if (end - i > 1) order_run(entries + i, end - i, spare);
    }
  }
  int64_t place(int64_t entry) const { return entry & (((int64_t)1 << places_) - 1); }

 private:
  T rank(int64_t i) const { return rank_of<real>(from_[i * step_], flip_); }
  int64_t entry(T rank, int64_t i) const {
    const uint64_t bits = (uint64_t)rank - (uint64_t)least_;
    if (sizeof(T) < 8) return (int64_t)(bits << places_ | (uint64_t)i);
    return (int64_t)((bits >> left_ << places_ | (uint64_t)i) ^ kTop);
  }
  uint64_t leading(int64_t entry) const { return (uint64_t)entry >> places_; }
  void order_run(int64_t* entries, int64_t n, int64_t* spare) const {
    const uint64_t rest = ((uint64_t)1 << left_) - 1;
    for (int64_t i = 0; i < n; ++i) {
      const int64_t at = place(entries[i]);
      const uint64_t bits = ((uint64_t)rank(at) - (uint64_t)least_) & rest;
      entries[i] = (int64_t)((bits << places_ | (uint64_t)at) ^ kTop);
    }
    if (n > kInsertionRun) return sort_entries(entries, spare, n);
    for (int64_t i = 1; i < n; ++i) {
      const int64_t entry = entries[i];
      int64_t j = i;
      for (; j > 0 && entries[j - 1] > entry; --j) entries[j] = entries[j - 1];
      entries[j] = entry;
    }
  }

  const T* from_;
  const int64_t step_, n_;
  const T flip_;
  T least_ = 0;
  int places_ = 0;  // bits of a position
  int left_ = 0;    // bits of an element that do not fit
};

template <class T, bool real>
struct Ordering {
  const mx_order_params& p;
  const T* in;
  char* out;
  int32_t dtype;

  int64_t start_of(int64_t line) const {
    return line / p.inner * p.extent * p.inner + line % p.inner;
  }
  bool one_line(int64_t line, int threads) const {
    const int64_t n = p.extent, start = start_of(line);
    const Line<T, real> order(in + start, p.inner, n, p.ascending);
    int64_t* entries = (int64_t*)scratch(kPackSlot, 2 * n * sizeof(int64_t));
    if (!entries) return false;
    int64_t* spare = entries + n;
    if (threads > 1 && n >= kShared) {
      parallel_for(threads, n, 4096, [&](int64_t i, int64_t end) { order.fill(entries, i, end); });
      const auto finish = [](int64_t*, int64_t) {};
      if (!Buckets(n, threads, spare, Plain(), finish).sort(entries)) return false;
      std::swap(entries, spare);
    } else {
      order.fill(entries, 0, n);
      sort_entries(entries, spare, n);
    }
    order.order_runs(entries, spare);
    parallel_for(threads, n, kBlock, [&](int64_t begin, int64_t end) {
      for (; begin < end; begin += kBlock)
        write(order, entries, begin, end - begin < kBlock ? end - begin : kBlock, start);
    });
    return true;
  }
  // Write `n` positions from index `first` on.
  void write(const Line<T, real>& order, const int64_t* entries, int64_t first, int64_t n,
             int64_t start) const {
    const int size = element_size(dtype);
    int64_t places[kBlock], converted[kBlock];
    for (int64_t i = 0; i < n; ++i) places[i] = order.place(entries[first + i]);
    char* to = out + (start + first * p.inner) * size;
    const CastRow cast = cast_row(dtype, MX_I64);
    if (p.inner == 1) return cast(to, places, n);
    cast(converted, places, n);
    for (int64_t i = 0; i < n; ++i)
      memcpy(to + i * p.inner * size, (const char*)converted + i * size, size);
  }
};

template <class T, bool real>
int argsort(const mx_call* call) {
  const auto& p = *static_cast<const mx_order_params*>(call->params);
  const mx_tensor& out = call->out[p.indices];
  const Ordering<T, real> job = {p, data<T>(call->in[0]), data<char>(out), out.dtype};
  const int64_t lines = p.outer * p.inner;
  if (!p.extent) return 0;
  if (lines == 1) return job.one_line(0, call->threads) ? 0 : -1;
  return parallel_try(call->threads, lines, 1 + 2048 / p.extent, [&](int64_t line, int64_t end) {
    for (; line < end; ++line)
      if (!job.one_line(line, 1)) return false;
    return true;
  });
}

}  // namespace
#endif

void register_argsort() {
#if MX_ISA_LEVEL == 4
  mx_kernel_add("argsort", argsort<int32_t, true>, MX_BIT(F32), 0);
  mx_kernel_add("argsort", argsort<int32_t, false>, MX_BIT(I32), 0);
  mx_kernel_add("argsort", argsort<int64_t, true>, MX_BIT(F64), 0);
  mx_kernel_add("argsort", argsort<int64_t, false>, MX_BIT(I64), 0);
#endif
}
MX_LEAF_END
