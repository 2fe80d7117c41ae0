// Strided copies (transpose, slice, broadcast_to, flip) and fills.
#include "leaf/shape/copy.h"

#include "leaf/simd/cast.h"
#include "leaf/simd/stream.h"
#include "leaf/simd/transpose.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kTile = 256;  // a transposed square that touches few memory pages
constexpr int64_t kGrain = 1024;
constexpr int64_t kSmall = 128;  // elements that are copied one by one
constexpr int64_t kLong = 256;   // bytes of a row long enough for a division per row

// A copy as nested loops, innermost last; strides count elements.
struct Loops {
  int n = 0;
  int64_t extent[MX_MAX_DIM], dst[MX_MAX_DIM], src[MX_MAX_DIM];

  // Drops dimensions of size 1 and merges neighbours with a common stride.
  Loops(const mx_tensor& to, const mx_tensor& from) {
    int64_t dense_to = 1, dense_from = 1;
    for (int d = to.ndim - 1; d >= 0; --d) {
      const int64_t size = to.shape[d];
      const int64_t step_to = to.strides ? to.strides[d] : dense_to;
      const int64_t step_from = from.strides ? from.strides[d] : dense_from;
      dense_to *= size;
      dense_from *= size;
      if (size == 1) continue;
      if (n && step_to == dst[n - 1] * extent[n - 1] && step_from == src[n - 1] * extent[n - 1]) {
        extent[n - 1] *= size;
      } else {
        extent[n] = size;
        dst[n] = step_to;
        src[n++] = step_from;
      }
    }
    if (!n) extent[0] = dst[0] = src[0] = 1, n = 1;
    for (int i = 0, j = n - 1; i < j; ++i, --j) exchange(i, j);
  }
  void exchange(int i, int j) {
    int64_t* const lists[] = {extent, dst, src};
    for (int64_t* list : lists) {
      const int64_t old = list[i];
      list[i] = list[j];
      list[j] = old;
    }
  }
  // Whether runs of dense elements are repeated 2 to 4 times each.
  bool repeats() const {
    if (n < 2) return false;
    const int64_t times = extent[n - 1];
    return times >= 2 && times <= 4 && src[n - 1] == 0 && dst[n - 1] == 1 && src[n - 2] == 1 &&
           dst[n - 2] == times;
  }
  // Offsets of combination `i` of all loops except the last `inner` ones.
  void offsets(int64_t i, int inner, int64_t* to, int64_t* from) const {
    *to = *from = 0;
    for (int d = n - 1 - inner; d >= 0; --d) {
      const int64_t index = d ? i % extent[d] : i;
      i /= extent[d];
      *to += index * dst[d];
      *from += index * src[d];
    }
  }
};

template <class T>
void copy_row(T* dst, int64_t step_to, const T* src, int64_t step_from, int64_t n) {
  if (n <= 4) {  // too short for calls and vectors
    for (; n; --n, dst += step_to, src += step_from) *dst = *src;
  } else if (step_to == 1 && step_from == 1) {
    copy_bytes(dst, src, n * sizeof(T));
  } else if (step_to == 1 && step_from == 0) {
    const T value = *src;
    for (int64_t i = 0; i < n; ++i) dst[i] = value;
  } else if (step_to == 1 && step_from == -1) {
    for (int64_t i = 0; i < n; ++i) dst[i] = src[-i];
  } else {
    for (int64_t i = 0; i < n; ++i) dst[i * step_to] = src[i * step_from];
  }
}

// Repeat each of n elements a number of times known at compile time.
template <int times, class T>
void repeat_row(T* dst, const T* src, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i)
    for (int k = 0; k < times; ++k) dst[i * times + k] = src[i];
}
template <class T>
void repeat_row(T* dst, const T* src, int64_t n, int64_t times) {
  times == 2   ? repeat_row<2>(dst, src, n)
  : times == 3 ? repeat_row<3>(dst, src, n)
               : repeat_row<4>(dst, src, n);
}

// Two loops with few elements, one by one.
template <class T>
void copy_small(const Loops& loops, T* dst, const T* src) {
  for (int64_t i = 0; i < loops.extent[0]; ++i)
    for (int64_t j = 0; j < loops.extent[1]; ++j)
      dst[i * loops.dst[0] + j * loops.dst[1]] = src[i * loops.src[0] + j * loops.src[1]];
}

// Runs of elements, each repeated 2 to 4 times in the output.
template <class T>
void copy_repeated(const Loops& loops, int threads, int64_t total, T* dst, const T* src) {
  const int last = loops.n - 1;
  const int64_t n = loops.extent[last], rows = loops.extent[last - 1];
  parallel_for(threads, total / n, kGrain / n + 1, [&](int64_t begin, int64_t end) {
    int64_t to, from;
    for (int64_t i = begin, m; i < end; i += m) {
      m = rows - i % rows < end - i ? rows - i % rows : end - i;
      loops.offsets(i, 1, &to, &from);
      repeat_row(dst + to, src + from, m, n);
    }
  });
}

template <class T>
void copy_rows(const Loops& loops, int threads, int64_t total, T* dst, const T* src) {
  const int last = loops.n - 1;
  const int64_t n = loops.extent[last];
  if (loops.n == 1) {
    parallel_for(threads, n, kGrain, [&](int64_t begin, int64_t end) {
      copy_row(dst + begin * loops.dst[0], loops.dst[0], src + begin * loops.src[0], loops.src[0],
               end - begin);
    });
    return;
  }
  const int64_t rows = loops.extent[last - 1];
  parallel_for(threads, total / n, kGrain / n + 1, [&](int64_t begin, int64_t end) {
    int64_t to, from, row = begin % rows;
    loops.offsets(begin, 1, &to, &from);
    for (int64_t i = begin; i < end; ++i) {
      copy_row(dst + to, loops.dst[last], src + from, loops.src[last], n);
      if (++row < rows) {  // most steps need no division
        to += loops.dst[last - 1];
        from += loops.src[last - 1];
      } else {
        row = 0;
        loops.offsets(i + 1, 1, &to, &from);
      }
    }
  });
}

// Copy the loop `across`, along which the source is dense, and the innermost one in square tiles.
template <class T>
void copy_transposed(Loops& loops, int across, int threads, int64_t total, T* dst, const T* src) {
  const int last = loops.n - 1;
  for (int d = across; d < last - 1; ++d) loops.exchange(d, d + 1);
  const int64_t rows = loops.extent[last - 1], cols = loops.extent[last];
  const int64_t step_to = loops.dst[last - 1], step_from = loops.src[last];
  const int64_t bands = ceil_div(rows, kTile), stripes = ceil_div(cols, kTile);
  const int64_t tiles = bands * stripes;
  parallel_for(threads, total / (rows * cols) * tiles, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t to, from;
      loops.offsets(i / tiles, 2, &to, &from);
      const int64_t r = i % bands * kTile, c = i % tiles / bands * kTile;
      transpose(dst + to + r * step_to + c, step_to, src + from + c * step_from + r, step_from,
                rows - r < kTile ? rows - r : kTile, cols - c < kTile ? cols - c : kTile);
    }
  });
}

template <class T>
int copy(const mx_call* call) {
  T* dst = data<T>(call->out[0]);
  const T* src = data<T>(call->in[0]);
  const int64_t total = count(call->out[0]);
  if (total <= 1) {
    if (total) *dst = *src;
    return 0;
  }
  Loops loops(call->out[0], call->in[0]);
  const int last = loops.n - 1;
  if (loops.n == 2 && total <= kSmall) {
    copy_small(loops, dst, src);
    return 0;
  }
  int across = -1;  // the loop along which the source is dense, if not the innermost
  if (loops.dst[last] == 1 && loops.src[last] != 1 && loops.src[last] != 0)
    for (int d = 0; d < last; ++d)
      if (loops.src[d] == 1) across = d;
  if (across >= 0) {
    copy_transposed(loops, across, call->threads, total, dst, src);
  } else if (loops.repeats()) {
    copy_repeated(loops, call->threads, total, dst, src);
  } else {
    copy_rows(loops, call->threads, total, dst, src);
  }
  return 0;
}

template <class T>
void fill_row(T* dst, T value, int64_t n) {
  if (value == 0)
    memset(dst, 0, n * sizeof(T));
  else
    for (int64_t i = 0; i < n; ++i) dst[i] = value;
}

template <class T>
int fill(const mx_call* call) {
  T value;
  cast_row(call->out[0].dtype, MX_F64)(&value, call->params, 1);
  T* dst = data<T>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), kGrain,
               [&](int64_t begin, int64_t end) { fill_row(dst + begin, value, end - begin); });
  return 0;
}

// Copy rows in memory order including the gaps between them, so that each line of `whole` is
// written once. False if that does not pay off.
template <class T>
bool copy_and_fill_gaps(const mx_tensor& whole, const mx_tensor& to, const mx_tensor& from, T value,
                        int threads) {
  const int64_t total = count(to), size = count(whole);
  if (total < kSmall || total < size / 2) return false;  // gaps would keep one thread busy
  const Loops loops(to, from);
  const int last = loops.n - 1;
  const int64_t n = loops.extent[last], rows = total / n;
  if (n * (int64_t)sizeof(T) < kLong || loops.dst[last] != 1 || loops.src[last] != 1) return false;
  for (int d = 0; d < last; ++d)
    if (loops.dst[d] < loops.dst[d + 1] * loops.extent[d + 1]) return false;

  T* const dst = data<T>(to);
  const T* const src = data<T>(from);
  parallel_for(threads, rows, kGrain / n + 1, [&](int64_t begin, int64_t end) {
    int64_t to_row, from_row;
    T* gap = data<T>(whole);
    if (begin) {
      loops.offsets(begin - 1, 1, &to_row, &from_row);
      gap = dst + to_row + n;
    }
    for (int64_t i = begin; i < end; ++i, gap = dst + to_row + n) {
      loops.offsets(i, 1, &to_row, &from_row);
      fill_row(gap, value, dst + to_row - gap);
      copy_bytes(dst + to_row, src + from_row, n * sizeof(T));
    }
    if (end == rows) fill_row(gap, value, data<T>(whole) + size - gap);
  });
  return true;
}

template <class T>
int copy_filled(const mx_call* call, const mx_tensor& to, const mx_tensor& from) {
  T value;
  cast_row(to.dtype, MX_F64)(&value, call->params, 1);
  if (copy_and_fill_gaps(call->out[0], to, from, value, call->threads)) return 0;
  fill<T>(call);
  mx_call part = *call;
  mx_tensor dst = to;
  part.in = &from;
  part.out = &dst;
  return copy<T>(&part);
}

}  // namespace

mx_kernel strided_copy(int32_t bytes) {
  return bytes == 1   ? copy<uint8_t>
         : bytes == 2 ? copy<uint16_t>
         : bytes == 4 ? copy<uint32_t>
                      : copy<uint64_t>;
}
int filled_copy(const mx_call* call, const mx_tensor& to, const mx_tensor& from) {
  const int32_t bytes = element_size(to.dtype);
  return bytes == 1   ? copy_filled<uint8_t>(call, to, from)
         : bytes == 2 ? copy_filled<uint16_t>(call, to, from)
         : bytes == 4 ? copy_filled<uint32_t>(call, to, from)
                      : copy_filled<uint64_t>(call, to, from);
}

void register_copy() {
  const uint32_t one = MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL);
  const uint32_t two = MX_BIT(F16) | MX_BIT(BF16) | MX_BIT(I16) | MX_BIT(U16);
  const uint32_t four = MX_BIT(F32) | MX_BIT(I32) | MX_BIT(U32);
  const uint32_t eight = MX_BIT(F64) | MX_BIT(I64) | MX_BIT(U64);
#define MX_ADD_SIZE(T, bits)                       \
  mx_kernel_add("copy_strided", copy<T>, bits, 0); \
  mx_kernel_add("fill", fill<T>, bits, 0)
  MX_ADD_SIZE(uint8_t, one);
  MX_ADD_SIZE(uint16_t, two);
  MX_ADD_SIZE(uint32_t, four);
  MX_ADD_SIZE(uint64_t, eight);
}
MX_LEAF_END
