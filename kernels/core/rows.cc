// Rows of tables: dealing them to owners, copying and summing.
#include "mxcy_rows.h"

#include <algorithm>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "core/sum_types.h"
#include "machine.h"

namespace {

constexpr int64_t kAhead = 8;       // rows prefetched: their addresses are unpredictable
constexpr int64_t kFetched = 1024;  // bytes of a row at most; the hardware continues
constexpr int64_t kCacheLine = 64;

// Copies to memory that this core uses next, or other cores do.
void copy(void* to, const void* from, int64_t bytes, bool stream) {
  if (stream)
    mx::machine::stream(to, from, static_cast<size_t>(bytes));
  else
    std::memcpy(to, from, static_cast<size_t>(bytes));
}

template <int kWrite>
void fetch(const char* row, int64_t bytes) {
  for (int64_t at = 0; at < std::min(bytes, kFetched); at += kCacheLine)
    __builtin_prefetch(row + at, kWrite);
}

// Quotients of ids below 2^52, in a fraction of the time of integer divisions.
class Division {
 public:
  explicit Division(int64_t divisor)
      : divisor_(divisor), inverse_(1.0 / static_cast<double>(divisor)) {}
  int64_t operator()(int64_t id) const {
    const int64_t near = static_cast<int64_t>(static_cast<double>(id) * inverse_);
    const int64_t rest = id - near * divisor_;
    return near + (rest >= divisor_) - (rest < 0);
  }

 private:
  int64_t divisor_;
  double inverse_;
};

// The terms of a sum as a heap: the one whose next row comes first is on top, then the earliest.
class Merge {
 public:
  Merge(int64_t terms, const int64_t* counts, const int64_t* const* ids, int64_t* places)
      : counts_(counts), ids_(ids), at_(places), heap_(places + terms), size_(0) {
    for (int64_t t = 0; t < terms; ++t) {
      at_[t] = 0;
      if (counts[t]) heap_[size_++] = t;
    }
    for (int64_t i = size_ / 2; i-- > 0;) sink(i);
  }
  bool empty() const { return !size_; }
  int64_t term() const { return heap_[0]; }
  int64_t place() const { return at_[heap_[0]]; }
  int64_t id() const { return id_of(heap_[0]); }
  void next() {
    if (++at_[heap_[0]] == counts_[heap_[0]]) heap_[0] = heap_[--size_];
    sink(0);
  }

 private:
  int64_t id_of(int64_t term) const { return ids_[term][at_[term]]; }
  bool before(int64_t a, int64_t b) const {
    return id_of(a) < id_of(b) || (id_of(a) == id_of(b) && a < b);
  }
  void sink(int64_t i) {
    for (int64_t child; (child = 2 * i + 1) < size_; i = child) {
      if (child + 1 < size_ && before(heap_[child + 1], heap_[child])) ++child;
      if (!before(heap_[child], heap_[i])) return;
      std::swap(heap_[child], heap_[i]);
    }
  }

  const int64_t* counts_;
  const int64_t* const* ids_;
  int64_t *at_, *heap_, size_;
};

// The rows of the terms of a sum.
struct Terms {
  const int64_t* counts;
  const int64_t* const* from;
  const void* const* rows;
  int64_t bytes;  // of a row

  const char* row(int64_t term, int64_t at) const {
    return static_cast<const char*>(rows[term]) +
           (from && from[term] ? from[term][at] : at) * bytes;
  }
  void fetch_after(int64_t term, int64_t at) const {
    if (at + kAhead < counts[term]) fetch<0>(row(term, at + kAhead), bytes);
  }
};

template <class T>
int64_t sum_rows(Merge merge, const Terms& terms, int64_t* ids, T* sums, bool stream) {
  const int64_t width = terms.bytes / static_cast<int64_t>(sizeof(T));
  const std::unique_ptr<T[]> total(new (std::nothrow) T[static_cast<size_t>(width)]);
  if (!total) return -1;
  const T* sum = nullptr;  // of the last id, not yet written
  int64_t n = 0;
  const auto write = [&] {
    if (n) copy(sums + (n - 1) * width, sum, terms.bytes, stream);
  };
  for (; !merge.empty(); merge.next()) {
    const T* row = reinterpret_cast<const T*>(terms.row(merge.term(), merge.place()));
    terms.fetch_after(merge.term(), merge.place());
    if (n && ids[n - 1] == merge.id()) {
      T* __restrict out = total.get();
      for (int64_t i = 0; i < width; ++i) out[i] = static_cast<T>(sum[i] + row[i]);
      sum = out;
      continue;
    }
    write();
    sum = row;
    ids[n++] = merge.id();
  }
  write();
  if (stream) mx::machine::order_streams();
  return n;
}

// Sums the rows of given ids.
template <class T>
void sum_rows_at(int64_t n, const int64_t* wanted, const Terms& terms, const int64_t* const* ids,
                 int64_t count, int64_t* places, T* sums) {
  const int64_t width = terms.bytes / static_cast<int64_t>(sizeof(T));
  std::fill(places, places + count, int64_t{0});
  for (int64_t i = 0; i < n; ++i, sums += width) {
    bool begun = false;
    for (int64_t t = 0; t < count; ++t) {
      int64_t& at = places[t];
      while (at < terms.counts[t] && ids[t][at] < wanted[i]) ++at;
      for (; at < terms.counts[t] && ids[t][at] == wanted[i]; ++at) {
        const T* row = reinterpret_cast<const T*>(terms.row(t, at));
        if (begun)
          for (int64_t j = 0; j < width; ++j) sums[j] = static_cast<T>(sums[j] + row[j]);
        else
          std::memcpy(sums, row, static_cast<size_t>(terms.bytes));
        begun = true;
      }
    }
    if (!begun) std::memset(sums, 0, static_cast<size_t>(terms.bytes));
  }
}

}  // namespace

extern "C" void mx_deal_rows(int64_t n, const int64_t* ids, int64_t owners, int64_t* counts,
                             int64_t* places, int64_t* local) {
  const Division by(owners);
  std::fill(counts, counts + owners, int64_t{0});
  for (int64_t i = 0; i < n; ++i) ++counts[ids[i] - by(ids[i]) * owners];
  int64_t first = 0;  // counts become the next places for a while
  for (int64_t o = 0; o < owners; ++o) first += std::exchange(counts[o], first);
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = by(ids[i]), place = counts[ids[i] - number * owners]++;
    places[place] = i;
    local[place] = number;
  }
  for (int64_t o = owners - 1; o > 0; --o) counts[o] -= counts[o - 1];
}

extern "C" int64_t mx_own_rows(int64_t n, const int64_t* ids, int64_t owners, int64_t owner,
                               int64_t* local, int64_t* places) {
  const Division by(owners);
  int64_t count = 0;
  for (int64_t i = 0; i < n; ++i) {
    const int64_t number = by(ids[i]);
    local[count] = number;
    places[count] = i;
    count += ids[i] - number * owners == owner;
  }
  return count;
}

extern "C" void mx_find_rows(int64_t n, const int64_t* ids, int64_t others,
                             const int64_t* other_ids, int64_t* places) {
  int64_t at = 0;
  for (int64_t i = 0; i < n; ++i) {
    while (at < others && other_ids[at] < ids[i]) ++at;
    places[i] = at < others && other_ids[at] == ids[i] ? at : -1;
  }
}

extern "C" void mx_copy_rows(int64_t n, const int64_t* from, const int64_t* to, int64_t bytes,
                             const void* rows, void* out, bool stream) {
  if (!from && !to) {
    copy(out, rows, n * bytes, stream);
    n = 0;
  }
  const char* source = static_cast<const char*>(rows);
  char* target = static_cast<char*>(out);
  for (int64_t i = 0; i < n; ++i) {
    if (i + kAhead < n) {
      if (from) fetch<0>(source + from[i + kAhead] * bytes, bytes);
      if (to && !stream) fetch<1>(target + to[i + kAhead] * bytes, bytes);
    }
    const int64_t place = from ? from[i] : i;
    char* row = target + (to ? to[i] : i) * bytes;
    if (place < 0)
      std::memset(row, 0, static_cast<size_t>(bytes));
    else
      copy(row, source + place * bytes, bytes, stream);
  }
  if (stream) mx::machine::order_streams();
}

extern "C" int64_t mx_sum_rows(int32_t dtype, int64_t terms, const int64_t* counts,
                               const int64_t* const* ids, const int64_t* const* from,
                               const void* const* rows, int64_t bytes, int64_t* places,
                               int64_t* sum_ids, void* sums, bool stream) {
  const Merge merge(terms, counts, ids, places);
  const Terms all = {counts, from, rows, bytes};
  int64_t count = -1;
  mx::with_sum_type(dtype, [&](auto zero) {
    count = sum_rows(merge, all, sum_ids, static_cast<decltype(zero)*>(sums), stream);
  });
  return count;
}

extern "C" bool mx_sum_rows_at(int32_t dtype, int64_t n, const int64_t* wanted, int64_t terms,
                               const int64_t* counts, const int64_t* const* ids,
                               const void* const* rows, int64_t bytes, int64_t* places,
                               void* sums) {
  const Terms all = {counts, nullptr, rows, bytes};
  return mx::with_sum_type(dtype, [&](auto zero) {
    sum_rows_at(n, wanted, all, ids, terms, places, static_cast<decltype(zero)*>(sums));
  });
}
