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

// Gives a sink each row of a sum, with its id; false if it refuses one.
template <class T, class Sink>
bool sum_rows(Merge merge, const Terms& terms, Sink& sink) {
  const int64_t width = terms.bytes / static_cast<int64_t>(sizeof(T));
  const std::unique_ptr<T[]> total(new (std::nothrow) T[static_cast<size_t>(width)]);
  if (!total) return false;
  const T* sum = nullptr;  // of the last id, which the sink does not have yet
  int64_t id = 0;
  for (; !merge.empty(); merge.next()) {
    const T* row = reinterpret_cast<const T*>(terms.row(merge.term(), merge.place()));
    terms.fetch_after(merge.term(), merge.place());
    if (sum && id == merge.id()) {
      T* __restrict out = total.get();
      for (int64_t i = 0; i < width; ++i) out[i] = static_cast<T>(sum[i] + row[i]);
      sum = out;
      continue;
    }
    if (sum && !sink(id, sum)) return false;
    sum = row;
    id = merge.id();
  }
  return !sum || sink(id, sum);
}

// Stores the rows of a sum and their ids.
struct Stored {
  int64_t* ids;
  char* rows;
  int64_t bytes;  // of a row
  bool stream;
  int64_t n = 0;

  bool operator()(int64_t id, const void* row) {
    ids[n] = id;
    copy(rows + n++ * bytes, row, bytes, stream);
    return true;
  }
};

// Updates a table by the rows of a sum, in pieces that stay in the cache.
class Updated {
 public:
  Updated(mx_kernel kernel, int32_t dtype, const void* params, int64_t count,
          const mx_tensor* tables, int64_t bytes)
      : kernel_(kernel),
        bytes_(bytes),
        most_(std::max<int64_t>(piece() / std::max<int64_t>(bytes, 1), 1)),
        memory_(new(std::nothrow) char[static_cast<size_t>(most_ * (bytes + 8) + kCacheLine)]) {
    const size_t start = reinterpret_cast<size_t>(memory_.get());
    stored_.rows = memory_.get() + (kCacheLine - start % kCacheLine);
    stored_.ids = reinterpret_cast<int64_t*>(stored_.rows + most_ * bytes);
    stored_.bytes = bytes;
    std::copy(tables[0].shape, tables[0].shape + tables[0].ndim, extents_);
    ins_[0] = tables[0];
    ins_[1] = {stored_.rows, extents_, nullptr, tables[0].ndim, dtype};
    ins_[2] = {stored_.ids, extents_, nullptr, 1, MX_I64};
    std::copy(tables + 1, tables + count, ins_ + 3);
    for (int64_t i = 0; i < count; ++i) {
      int64_t size = bytes / std::max<int64_t>(row_size(tables[0]), 1) * row_size(tables[i]);
      tables_[i] = {static_cast<const char*>(tables[i].data), size};
    }
    out_ = tables[0];
    call_.nin = static_cast<int32_t>(count) + 2;
    call_.nout = 1;
    call_.in = ins_;
    call_.out = &out_;
    call_.req = &request_;
    call_.params = params;
  }
  bool ready() const { return static_cast<bool>(memory_); }
  bool operator()(int64_t id, const void* row) {
    for (int64_t i = 0; i < call_.nin - 2; ++i)
      fetch<1>(tables_[i].rows + id * tables_[i].bytes, tables_[i].bytes);
    stored_(id, row);
    return stored_.n < most_ || flush();
  }
  // Updates by the rows of the last piece.
  bool flush() {
    extents_[0] = stored_.n;
    call_.threads = mx_threads_for(stored_.n * bytes_);
    const bool updated = !stored_.n || kernel_(&call_) == 0;
    stored_.n = 0;
    return updated;
  }

  static constexpr int64_t kTables = 8;  // at most

 private:
  // Bytes of a piece: with the rows that it updates, it stays in the first level of the cache; for
  // several threads it is larger.
  static int64_t piece() {
    const int64_t threads = mx_threads();
    return threads > 1 ? threads << 16 : 1 << 13;
  }
  struct Table {
    const char* rows;
    int64_t bytes;  // of a row
  };

  static int64_t row_size(const mx_tensor& table) {
    int64_t size = 1;
    for (int32_t i = 1; i < table.ndim; ++i) size *= table.shape[i];
    return size;
  }

  mx_kernel kernel_;
  int64_t bytes_, most_;
  std::unique_ptr<char[]> memory_;
  Stored stored_ = {};
  int64_t extents_[MX_MAX_DIM];
  mx_tensor ins_[kTables + 2], out_;
  Table tables_[kTables];
  int32_t request_ = MX_WRITE;
  mx_call call_ = {};
};

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
  Stored stored = {sum_ids, static_cast<char*>(sums), bytes, stream};
  bool complete = false;
  mx::with_sum_type(dtype,
                    [&](auto zero) { complete = sum_rows<decltype(zero)>(merge, all, stored); });
  if (stream) mx::machine::order_streams();
  return complete ? stored.n : -1;
}

extern "C" int mx_update_by_sums(const char* kernel, int32_t dtype, const void* params,
                                 int64_t count, const mx_tensor* tables, int64_t terms,
                                 const int64_t* counts, const int64_t* const* ids,
                                 const int64_t* const* from, const void* const* rows, int64_t bytes,
                                 int64_t* places) {
  const mx_kernel function = mx_kernel_find(kernel, dtype, nullptr);
  if (!function || count > Updated::kTables) return mx_fail("no kernel %s for this", kernel);
  Updated updated(function, dtype, params, count, tables, bytes);
  if (!updated.ready()) return mx_fail("out of memory for the sums of rows");
  const Merge merge(terms, counts, ids, places);
  const Terms all = {counts, from, rows, bytes};
  bool complete = false;
  const bool known = mx::with_sum_type(dtype, [&](auto zero) {
    complete = sum_rows<decltype(zero)>(merge, all, updated) && updated.flush();
  });
  if (!known) return mx_fail("no sums of rows of dtype %d", static_cast<int>(dtype));
  return complete ? 0 : -1;
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
