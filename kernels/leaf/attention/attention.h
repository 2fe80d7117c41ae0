// attention.h: shared by attention and its gradients: products with packed blocks, rows of scores,
// and addressing of one of the matrices.
#pragma once
#include <cstring>

#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/bump_allocator.h"
#include "leaf/matrix/gemm.h"
#include "leaf/simd/math.h"
#include "params/attention.gen.h"

MX_LEAF_BEGIN
namespace attention {

typedef mx_attention_params P;
enum Operand { kQuery, kKey, kValue, kOut };
enum Masking { kNone, kAdd, kKeep, kLength };
constexpr int64_t kQueries = 4 * kTileRows;  // per block
constexpr int64_t kKeys = 256;               // per block: whole panels

// --- products of blocks --------------------------------------------------------------------------

// The right operand of products, `depth` x `columns`, packed once for all rows.
template <class T>
int64_t panels_size(int64_t columns, int64_t depth) {
  return round_up(columns, kLanes<T>) * depth + kLanes<T>;
}
template <class T>
void pack_panels(T* to, const Matrix<T>& b, int64_t columns, int64_t depth, int64_t row = 0) {
  constexpr int L = kLanes<T>, kWidth = 2 * L;
  for (int64_t j = 0; j < columns; j += kWidth) {
    const int count = (int)least(kWidth, columns - j);
    b.pack(to + j * depth, count <= L ? L : kWidth, j, count, row, depth);
  }
}

// c (rows x columns) = or += a b, where the row stride of a is `a_row`.
template <class T>
void multiply(const T* a, int64_t a_row, int64_t rows, const T* panels, int64_t columns,
              int64_t depth, bool add, T* c, int64_t c_row) {
  constexpr int L = kLanes<T>, kWidth = 2 * L;
  const auto& tiles = tile_table(T())[0];
  const Scale<T> scale = {1, (T)add, nullptr, nullptr};
  const int height = tile_height(rows);
  for (int64_t j = 0; j < columns; j += kWidth) {
    const int count = (int)least(kWidth, columns - j);
    for (int64_t i = 0; i < rows; i += height)
      tiles[least(height, rows - i) - 1][count > L](depth, a + i * a_row, a_row, panels + j * depth,
                                                    count > L ? kWidth : L, &scale,
                                                    c + i * c_row + j, c_row, count);
  }
}

// c (rows x columns) = or += a' b for a (depth x rows); `packed` has room for a tile's rows.
template <class T>
void multiply_transposed(const T* a, int64_t a_row, int64_t rows, const T* panels, int64_t columns,
                         int64_t depth, bool add, T* c, T* packed) {
  constexpr int L = kLanes<T>, kWidth = 2 * L;
  const auto& tiles = tile_table(T())[1];
  const Scale<T> scale = {1, (T)add, nullptr, nullptr};
  const Matrix<T> left = {a, a_row, true};
  const int height = tile_height(rows);
  for (int64_t i = 0; i < rows; i += height) {
    const int some = (int)least(height, rows - i);
    left.pack(packed, some, i, some, 0, depth);
    for (int64_t j = 0; j < columns; j += kWidth) {
      const int count = (int)least(kWidth, columns - j);
      tiles[some - 1][count > L](depth, packed, 0, panels + j * depth, count > L ? kWidth : L,
                                 &scale, c + i * columns + j, columns, count);
    }
  }
}

// --- rows of elements ----------------------------------------------------------------------------

// Replace the lanes after the first n by `other`.
template <class T>
MX_INLINE Vec<T> with_rest(Vec<T> x, int64_t n, T other) {
  if (n >= kLanes<T>) return x;
  Vec<T> lane;
#pragma GCC unroll 16
  for (int i = 0; i < kLanes<T>; ++i) lane[i] = (T)i;
  return lane < (T)n ? x : splat<Vec<T>>(other);
}
template <class T>
MX_INLINE T largest_lane(Vec<T> x) {
  T top = x[0];
  for (int i = 1; i < kLanes<T>; ++i) top = x[i] > top ? x[i] : top;
  return top;
}
template <class T>
MX_INLINE T sum_of_lanes(Vec<T> x) {
  T lane[kLanes<T>];
  store(lane, x);
#pragma GCC unroll 4
  for (int n = kLanes<T> / 2; n > 0; n /= 2)
    for (int i = 0; i < n; ++i) lane[i] += lane[i + n];
  return lane[0];
}

template <class T>
void copy_rows(T* to, int64_t to_row, const T* from, int64_t from_row, int64_t rows, int64_t n) {
  for (int64_t r = 0; r < rows; ++r)
    memcpy(to + r * to_row, from + r * from_row, (size_t)n * sizeof(T));
}

// --- one of the matrices -------------------------------------------------------------------------

template <class T>
struct Problem {
  const P& p;
  const mx_call* call;
  int first;       // index of the first array among the inputs
  int64_t matrix;  // index of the matrix

  int64_t start(int operand) const {
    return p.offset[operand] + matrix / p.inner * p.outer_step[operand] +
           matrix % p.inner * p.inner_step[operand];
  }
  const T* of(int operand) const {
    return data<T>(call->in[first + p.source[operand]]) + start(operand);
  }
  // Gradients have the layout of their operands.
  T* gradient(int operand) const { return data<T>(call->out[p.source[operand]]) + start(operand); }

  // Turn the products of a query with keys [from, from + n) into exponents: scaled, masked, and
  // minus infinity past the end. Returns the maximum.
  T prepare(T* scores, int64_t query, int64_t from, int64_t n) const {
    constexpr int L = kLanes<T>;
    typedef Vec<T> V;
    const T none = -Real<V>::infinity, scale = (T)p.scale;
    const int64_t at = matrix / p.inner * p.mask_step[0] + matrix % p.inner * p.mask_step[1] +
                       query * p.mask_step[2] + from * p.mask_step[3];
    const mx_tensor* mask = p.masking ? &call->in[first + p.arrays] : nullptr;
    V top = splat<V>(none);
    const auto pass = [&](auto masked) MX_ALWAYS {
      for (int64_t i = 0; i < n; i += L) {
        const int count = (int)least(L, n - i);
        const V x = with_rest<T>(masked(load(scores + i) * scale, i, count), count, none);
        store(scores + i, x);
        top = max(top, x);
      }
    };
    if (p.masking == kAdd) {
      const T* added = data<T>(*mask) + at;
      if (p.mask_step[3]) {
        pass([=](V x, int64_t i, int count) MX_ALWAYS { return x + load_lanes(added + i, count); });
      } else {
        pass([=](V x, int64_t, int) MX_ALWAYS { return x + *added; });
      }
    } else if (p.masking == kKeep) {
      const uint8_t* kept = data<uint8_t>(*mask) + at;
      const int64_t step = p.mask_step[3];
      pass([=](V x, int64_t i, int count) MX_ALWAYS {
        V flags = {};
        for (int e = 0; e < count; ++e) flags[e] = (T)kept[(i + e) * step];
        return flags != 0 ? x : splat<V>(none);
      });
    } else if (p.masking == kLength) {
      const int64_t length =
          mask->dtype == MX_I32 ? data<int32_t>(*mask)[at] : data<int64_t>(*mask)[at];
      pass([=](V x, int64_t i, int) MX_ALWAYS {
        // lengths come from the user and may be any number
        const int64_t left = length <= from + i ? 0 : length - from - i;
        return with_rest<T>(x, left, none);
      });
    } else {
      pass([](V x, int64_t, int) MX_ALWAYS { return x; });
    }
    return largest_lane<T>(top);
  }
};

// scores[i] = exp(scores[i] - top) for whole vectors; returns their sum.
template <class T>
T exponentials(T* scores, int64_t n, T top) {
  Vec<T> sum = {};
  for (int64_t i = 0; i < n; i += kLanes<T>) {
    const Vec<T> y = exp(load(scores + i) - top);
    store(scores + i, y);
    sum += y;
  }
  return sum_of_lanes<T>(sum);
}

// Partition of the queries into blocks of equal size, a multiple of `unit` where that is possible.
struct Blocks {
  int64_t size, count;
  explicit Blocks(int64_t queries, int64_t unit = 1) {
    size = ceil_div(queries, ceil_div(queries, kQueries));
    if (round_up(size, unit) <= kQueries) size = round_up(size, unit);
    count = ceil_div(queries, size);
  }
};

inline int64_t block_keys(const P& p) { return least(kKeys, p.keys); }
// Row stride of a block of scores.
template <class T>
int64_t score_row(const P& p) {
  return round_up(block_keys(p), kLanes<T>);
}

// A thread's buffers in scratch memory; NULL if it is exhausted.
template <class T, class Buffers>
void* buffer_memory(const P& p, const Blocks& blocks) {
  BumpAllocator<T> counter(nullptr);
  (void)Buffers(p, blocks, counter);
  return scratch(kTempSlot, (size_t)counter.bytes());
}

// Call Forward's pack() once for each matrix, and attend(first query, rows) for its blocks of
// queries, on the team; -1 if memory is exhausted.
template <class T, class Buffers, class Forward>
int each_block(const mx_call* call, const P& p) {
  const Blocks blocks(p.queries, Forward::unit());
  // If there are too few matrices to share evenly, blocks of queries are distributed as well.
  const int64_t matrices = p.outer * p.inner, shares = 2 * call->threads;
  const int64_t wanted = call->threads > 1 && matrices < shares ? ceil_div(shares, matrices) : 1;
  const int64_t pieces = least(wanted, blocks.count), each = ceil_div(blocks.count, pieces);
  return parallel_try(call->threads, matrices * pieces, 1, [&](int64_t begin, int64_t end) {
    void* memory = buffer_memory<T, Buffers>(p, blocks);
    if (!memory) return false;
    BumpAllocator<T> allocator(memory);
    const Buffers own(p, blocks, allocator);
    int64_t packed = -1;
    for (int64_t task = begin; task < end; ++task) {
      const Problem<T> problem = {p, call, 0, task / pieces};
      const Forward forward(problem, own);
      if (packed != problem.matrix) {
        packed = problem.matrix;
        forward.pack();
      }
      const int64_t last = least(blocks.count, (task % pieces + 1) * each);
      for (int64_t block = task % pieces * each; block < last; ++block) {
        const int64_t from = block * blocks.size;
        forward.attend(from, least(blocks.size, p.queries - from));
      }
    }
    return true;
  });
}

}  // namespace attention
MX_LEAF_END
