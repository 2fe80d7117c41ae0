// Attention: softmax(scale * queries keys' + mask) values, and its gradients. Scores exist for a
// block of queries and a block of keys at a time, in scratch memory:
//
//        keys' (packed in panels)              values (packed)
//   Q  [ block | block | block ]      P V  [ sums of a block of queries ]
//   block of queries: scores -> exponentials; sums so far shrink when a larger score comes
//
// The backward pass computes blocks of scores again from what is kept of each row: its largest
// score and one divided by the sum of its exponentials.
#include <cstring>

#include "leaf/matrix/gemm.h"
#include "leaf/simd/math.h"
#include "params/attention.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_attention_params P;
enum Operand { kQuery, kKey, kValue, kOut };
enum Masking { kNone, kAdd, kKeep, kLength };
constexpr int64_t kQueries = 4 * kTileRows;  // of a block
constexpr int64_t kKeys = 256;               // of a block: whole panels

// --- products of blocks --------------------------------------------------------------------------

// The right side of products, `depth` x `columns`, packed once for all rows.
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

// c (rows x columns) = or += a b for an a whose rows lie `a_row` apart.
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

// c (rows x columns) = or += a' b for an a (depth x rows); `packed` has room for a tile's rows.
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

// --- rows of numbers -----------------------------------------------------------------------------

// body(offset, lanes) for the vectors of a row.
template <class T, class Body>
MX_INLINE void each_vector(int64_t n, Body body) {
  constexpr int L = kLanes<T>;
  int64_t i = 0;
  for (; i + L <= n; i += L) body(i, L);
  if (i < n) body(i, (int)(n - i));
}
template <class T>
MX_INLINE Vec<T> read(const T* from, int n) {
  return n == kLanes<T> ? load(from) : load_first(from, n);
}
template <class T>
MX_INLINE void write(T* to, Vec<T> x, int n) {
  n == kLanes<T> ? store(to, x) : store_first(to, x, n);
}
// Lanes behind the first n become `other`.
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
  int first;       // the number of the first array among the inputs
  int64_t matrix;  // which one it is

  int64_t start(int operand) const {
    return p.offset[operand] + matrix / p.inner * p.outer_step[operand] +
           matrix % p.inner * p.inner_step[operand];
  }
  const T* of(int operand) const {
    return data<T>(call->in[first + p.source[operand]]) + start(operand);
  }
  // Gradients lie where their operands do.
  T* gradient(int operand) const { return data<T>(call->out[p.source[operand]]) + start(operand); }

  // Turns the products of a query with the keys [from, from + n) into what exponentials are taken
  // of: scaled, masked, minus infinity behind the last. Returns the largest.
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
        pass([=](V x, int64_t i, int count) MX_ALWAYS { return x + read(added + i, count); });
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
        const int64_t left = length - from - i;
        return with_rest<T>(x, left < 0 ? 0 : left, none);
      });
    } else {
      pass([](V x, int64_t, int) MX_ALWAYS { return x; });
    }
    return largest_lane<T>(top);
  }
};

// scores[i] = exp(scores[i] - top) for whole vectors; returns the sum.
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

// Blocks of queries of equal size.
struct Blocks {
  int64_t size, count;
  explicit Blocks(int64_t queries) {
    size = ceil_div(queries, ceil_div(queries, kQueries));
    count = ceil_div(queries, size);
  }
};

// Gives out parts of one block of scratch memory.
template <class T>
struct Parts {
  T* at;
  T* take(int64_t count) {
    T* part = at;
    at += round_up(count, 64 / (int64_t)sizeof(T));
    return part;
  }
  static int64_t size(int64_t count) { return round_up(count, 64 / (int64_t)sizeof(T)); }
};

// --- forward -------------------------------------------------------------------------------------

template <class T>
int attend(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const int64_t m = p.queries, n = p.keys, width = p.width, block_keys = least(kKeys, n);
  const Blocks blocks(m);
  // With fewer matrices than threads can share evenly, blocks of queries are shared as well.
  const int64_t matrices = p.outer * p.inner, shares = 2 * call->threads;
  const int64_t wanted = call->threads > 1 && matrices < shares ? ceil_div(shares, matrices) : 1;
  const int64_t pieces = least(wanted, blocks.count), each = ceil_div(blocks.count, pieces);
  const int64_t row = round_up(block_keys, kLanes<T>);
  const int64_t keys_size = panels_size<T>(n, p.depth), values_size = panels_size<T>(width, n);
  const int64_t sizes[] = {keys_size,         values_size,         blocks.size * p.depth,
                           blocks.size * row, blocks.size * width, 3 * blocks.size};
  int64_t total = 0;
  for (int64_t size : sizes) total += Parts<T>::size(size);
  bool ok = true;
  parallel_for(call->threads, matrices * pieces, 1, [&](int64_t begin, int64_t end) {
    T* memory = (T*)scratch(kTempSlot, (size_t)total * sizeof(T));
    if (!memory) {
      ok = false;
      return;
    }
    Parts<T> parts = {memory};
    T *keys = parts.take(sizes[0]), *values = parts.take(sizes[1]), *query = parts.take(sizes[2]);
    T *scores = parts.take(sizes[3]), *sums = parts.take(sizes[4]), *top = parts.take(sizes[5]);
    T *total_of = top + blocks.size, *shrunk = total_of + blocks.size;
    int64_t packed = -1;
    for (int64_t task = begin; task < end; ++task) {
      const Problem<T> problem = {p, call, 0, task / pieces};
      if (packed != problem.matrix) {
        packed = problem.matrix;
        pack_panels<T>(keys, {problem.of(kKey), p.row[kKey], false}, n, p.depth);
        for (int64_t j = 0; j < n; j += block_keys)
          pack_panels<T>(values + j * round_up(width, kLanes<T>),
                         {problem.of(kValue), p.row[kValue], true}, width, least(block_keys, n - j),
                         j);
      }
      T* out = data<T>(call->out[0]) + problem.start(kOut);
      T* stats = data<T>(call->out[1]) + problem.matrix * m * 2;
      const int64_t last = least(blocks.count, (task % pieces + 1) * each);
      for (int64_t block = task % pieces * each; block < last; ++block) {
        const int64_t from = block * blocks.size, rows = least(blocks.size, m - from);
        copy_rows(query, p.depth, problem.of(kQuery) + from * p.row[kQuery], p.row[kQuery], rows,
                  p.depth);
        for (int64_t r = 0; r < rows; ++r) top[r] = -Real<Vec<T>>::infinity, total_of[r] = 0;
        for (int64_t j = 0; j < n; j += block_keys) {
          const int64_t some = least(block_keys, n - j);
          multiply(query, p.depth, rows, keys + j * p.depth, some, p.depth, false, scores, row);
          for (int64_t r = 0; r < rows; ++r) {
            T* line = scores + r * row;
            const T here = problem.prepare(line, from + r, j, some);
            const T larger = top[r] > here ? top[r] : here;
            // Where nothing is kept so far, differences of infinities would be none.
            const T base = larger == -Real<Vec<T>>::infinity ? 0 : larger;
            const T sum = exponentials(line, some, base);
            shrunk[r] = top[r] == larger ? 1 : exp(splat<Vec<T>>(top[r] - base))[0];
            total_of[r] = total_of[r] * shrunk[r] + sum;
            top[r] = larger;
          }
          for (int64_t r = 0; j && r < rows; ++r) {
            if (shrunk[r] == 1) continue;
            each_vector<T>(width, [&](int64_t i, int count) MX_ALWAYS {
              T* to = sums + r * width + i;
              write(to, read(to, count) * shrunk[r], count);
            });
          }
          multiply(scores, row, rows, values + j * round_up(width, kLanes<T>), width, some, j > 0,
                   sums, width);
        }
        for (int64_t r = 0; r < rows; ++r) {
          const bool empty = total_of[r] == 0 && (p.masking == kKeep || p.masking == kLength);
          const T inverse = empty ? 0 : 1 / total_of[r];
          T *to = out + (from + r) * p.row[kOut], *statistics = stats + (from + r) * 2;
          each_vector<T>(width, [&](int64_t i, int count) MX_ALWAYS {
            write(to + i, read(sums + r * width + i, count) * inverse, count);
          });
          statistics[0] = top[r] == -Real<Vec<T>>::infinity ? 0 : top[r];
          statistics[1] = inverse;
        }
      }
    }
  });
  return ok ? 0 : mx_fail("out of memory in attention");
}

// --- backward ------------------------------------------------------------------------------------

// Turns exponents into weights, and gradients of weights into those of scores.
template <class T>
void slopes(T* scores, T* by_weights, int64_t n, const T* stats, T inner, T scale) {
  const T top = stats[0], inverse = stats[1];
  for (int64_t i = 0; i < n; i += kLanes<T>) {
    const Vec<T> weight = exp(load(scores + i) - top) * inverse;
    store(scores + i, weight);
    store(by_weights + i, weight * (load(by_weights + i) - inner) * scale);
  }
}

template <class T>
int attend_back(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const int64_t m = p.queries, n = p.keys, depth = p.depth, width = p.width;
  const int64_t block_keys = least(kKeys, n), row = round_up(block_keys, kLanes<T>);
  const Blocks blocks(m);
  const int64_t padded_depth = round_up(depth, kLanes<T>);
  for (int s = 0; s < p.arrays; ++s)
    if (p.clear[s]) memset(call->out[s].data, 0, (size_t)count(call->out[s]) * sizeof(T));
  const int64_t sizes[] = {panels_size<T>(n, depth),  // keys', values', keys
                           panels_size<T>(n, width),
                           panels_size<T>(depth, n),
                           n * depth,  // gradients of keys, of values
                           n * width,
                           blocks.size * depth,                 // of a block: queries
                           blocks.size * width,                 // gradients of results
                           blocks.size * depth,                 // gradients of queries
                           panels_size<T>(depth, blocks.size),  // the first two packed
                           panels_size<T>(width, blocks.size),
                           blocks.size * row,  // scores
                           blocks.size * row,  // gradients of weights
                           blocks.size,        // products of results and gradients
                           kTileRows * blocks.size + 2 * kLanes<T>};
  int64_t total = 0;
  for (int64_t size : sizes) total += Parts<T>::size(size);
  bool ok = true;
  parallel_for(call->threads, p.outer * p.inner, 1, [&](int64_t begin, int64_t end) {
    T* memory = (T*)scratch(kTempSlot, (size_t)total * sizeof(T));
    if (!memory) {
      ok = false;
      return;
    }
    Parts<T> parts = {memory};
    T *keys_across = parts.take(sizes[0]), *values_across = parts.take(sizes[1]);
    T *keys = parts.take(sizes[2]), *by_key = parts.take(sizes[3]),
      *by_value = parts.take(sizes[4]);
    T *query = parts.take(sizes[5]), *grad = parts.take(sizes[6]), *by_query = parts.take(sizes[7]);
    T *queries = parts.take(sizes[8]), *grads = parts.take(sizes[9]);
    T *scores = parts.take(sizes[10]), *by_weights = parts.take(sizes[11]);
    T *inner = parts.take(sizes[12]), *packed = parts.take(sizes[13]);
    for (int64_t matrix = begin; matrix < end; ++matrix) {
      const Problem<T> problem = {p, call, 3, matrix};
      const Matrix<T> key = {problem.of(kKey), p.row[kKey], false};
      pack_panels(keys_across, key, n, depth);
      pack_panels<T>(values_across, {problem.of(kValue), p.row[kValue], false}, n, width);
      for (int64_t j = 0; j < n; j += block_keys)
        pack_panels<T>(keys + j * padded_depth, {key.data, key.stride, true}, depth,
                       least(block_keys, n - j), j);
      const T* grad_at = data<T>(call->in[0]) + problem.start(kOut);
      const T* result_at = data<T>(call->in[1]) + problem.start(kOut);
      const T* stats = data<T>(call->in[2]) + matrix * m * 2;
      for (int64_t from = 0; from < m; from += blocks.size) {
        const int64_t rows = least(blocks.size, m - from);
        copy_rows(query, depth, problem.of(kQuery) + from * p.row[kQuery], p.row[kQuery], rows,
                  depth);
        copy_rows(grad, width, grad_at + from * p.row[kOut], p.row[kOut], rows, width);
        pack_panels<T>(queries, {query, depth, true}, depth, rows);
        pack_panels<T>(grads, {grad, width, true}, width, rows);
        for (int64_t r = 0; r < rows; ++r) {
          const T* result = result_at + (from + r) * p.row[kOut];
          Vec<T> sum = {};
          each_vector<T>(width, [&](int64_t i, int count) MX_ALWAYS {
            sum += read(grad + r * width + i, count) * read(result + i, count);
          });
          inner[r] = sum_of_lanes<T>(sum);
        }
        for (int64_t j = 0; j < n; j += block_keys) {
          const int64_t some = least(block_keys, n - j);
          multiply(query, depth, rows, keys_across + j * depth, some, depth, false, scores, row);
          multiply(grad, width, rows, values_across + j * width, some, width, false, by_weights,
                   row);
          for (int64_t r = 0; r < rows; ++r) {
            problem.prepare(scores + r * row, from + r, j, some);
            slopes(scores + r * row, by_weights + r * row, some, stats + (from + r) * 2, inner[r],
                   (T)p.scale);
          }
          multiply(by_weights, row, rows, keys + j * padded_depth, depth, some, j > 0, by_query,
                   depth);
          multiply_transposed(by_weights, row, some, queries, depth, rows, from > 0,
                              by_key + j * depth, packed);
          multiply_transposed(scores, row, some, grads, width, rows, from > 0, by_value + j * width,
                              packed);
        }
        copy_rows(problem.gradient(kQuery) + from * p.row[kQuery], p.row[kQuery], by_query, depth,
                  rows, depth);
      }
      copy_rows(problem.gradient(kKey), p.row[kKey], by_key, depth, n, depth);
      copy_rows(problem.gradient(kValue), p.row[kValue], by_value, width, n, width);
    }
  });
  return ok ? 0 : mx_fail("out of memory in the gradients of attention");
}

}  // namespace

void register_attention() {
  mx_kernel_add("attention", attend<float>, MX_BIT(F32), 0);
  mx_kernel_add("attention", attend<double>, MX_BIT(F64), 0);
  mx_kernel_add("attention_grad", attend_back<float>, MX_BIT(F32), 0);
  mx_kernel_add("attention_grad", attend_back<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
