// Gradients of attention. Blocks of scores are recomputed from two values per row kept by the
// forward pass: the largest score and the reciprocal of the sum of exponentials.
#include "core/parallel_try.h"
#include "leaf/attention/attention.h"

MX_LEAF_BEGIN
namespace attention {
namespace {

// Turn exponents into weights, and gradients of weights into gradients of scores.
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
struct BackwardBuffers {
  T *keys_across, *values_across, *keys;  // packed: keys', values', keys
  T *by_key, *by_value;                   // gradients of keys and values
  T *query, *grad, *by_query;  // a block's queries, output gradients and gradients of queries
  T *queries, *grads;          // the first two, packed
  T *scores, *by_weights;      // and gradients of weights
  T* inner;                    // products of results and output gradients
  T* packed;

  BackwardBuffers(const P& p, const Blocks& blocks, BumpAllocator<T>& allocator)
      : keys_across(allocator.take(panels_size<T>(p.keys, p.depth))),
        values_across(allocator.take(panels_size<T>(p.keys, p.width))),
        keys(allocator.take(panels_size<T>(p.depth, p.keys))),
        by_key(allocator.take(p.keys * p.depth)),
        by_value(allocator.take(p.keys * p.width)),
        query(allocator.take(blocks.size * p.depth)),
        grad(allocator.take(blocks.size * p.width)),
        by_query(allocator.take(blocks.size * p.depth)),
        queries(allocator.take(panels_size<T>(p.depth, blocks.size))),
        grads(allocator.take(panels_size<T>(p.width, blocks.size))),
        scores(allocator.take(blocks.size * score_row<T>(p))),
        by_weights(allocator.take(blocks.size * score_row<T>(p))),
        inner(allocator.take(blocks.size)),
        packed(allocator.take(kTileRows * blocks.size + 2 * kLanes<T>)) {}
};

template <class T>
struct Backward {
  const Problem<T>& problem;
  const BackwardBuffers<T>& own;
  const P& p;
  const T *gradient, *result, *stats;

  Backward(const Problem<T>& of, const BackwardBuffers<T>& buffers)
      : problem(of),
        own(buffers),
        p(of.p),
        gradient(data<T>(of.call->in[0]) + of.start(kOut)),
        result(data<T>(of.call->in[1]) + of.start(kOut)),
        stats(data<T>(of.call->in[2]) + of.matrix * p.queries * 2) {}

  T* keys_of(int64_t key) const { return own.keys + key * round_up(p.depth, kLanes<T>); }

  void pack() const {
    const Matrix<T> key = {problem.of(kKey), p.row[kKey], false};
    pack_panels(own.keys_across, key, p.keys, p.depth);
    pack_panels<T>(own.values_across, {problem.of(kValue), p.row[kValue], false}, p.keys, p.width);
    for (int64_t j = 0; j < p.keys; j += block_keys(p))
      pack_panels<T>(keys_of(j), {key.data, key.stride, true}, p.depth,
                     least(block_keys(p), p.keys - j), j);
  }

  // Read `rows` queries and output gradients from `from` on.
  void read_block(int64_t from, int64_t rows) const {
    copy_rows(own.query, p.depth, problem.of(kQuery) + from * p.row[kQuery], p.row[kQuery], rows,
              p.depth);
    copy_rows(own.grad, p.width, gradient + from * p.row[kOut], p.row[kOut], rows, p.width);
    pack_panels<T>(own.queries, {own.query, p.depth, true}, p.depth, rows);
    pack_panels<T>(own.grads, {own.grad, p.width, true}, p.width, rows);
    for (int64_t r = 0; r < rows; ++r) {
      const T *results = result + (from + r) * p.row[kOut], *grads = own.grad + r * p.width;
      Vec<T> sum = {};
      each_vector<T>(p.width, [&](int64_t i, int count) MX_ALWAYS {
        sum += load_lanes(grads + i, count) * load_lanes(results + i, count);
      });
      own.inner[r] = sum_of_lanes<T>(sum);
    }
  }

  // Add the contributions of the query block and keys [key, key + keys).
  void add_keys(int64_t from, int64_t rows, int64_t key, int64_t keys) const {
    const int64_t depth = p.depth, width = p.width, row = score_row<T>(p);
    multiply(own.query, depth, rows, own.keys_across + key * depth, keys, depth, false, own.scores,
             row);
    multiply(own.grad, width, rows, own.values_across + key * width, keys, width, false,
             own.by_weights, row);
    for (int64_t r = 0; r < rows; ++r) {
      problem.prepare(own.scores + r * row, from + r, key, keys);
      slopes(own.scores + r * row, own.by_weights + r * row, keys, stats + (from + r) * 2,
             own.inner[r], (T)p.scale);
    }
    multiply(own.by_weights, row, rows, keys_of(key), depth, keys, key > 0, own.by_query, depth);
    multiply_transposed(own.by_weights, row, keys, own.queries, depth, rows, from > 0,
                        own.by_key + key * depth, own.packed);
    multiply_transposed(own.scores, row, keys, own.grads, width, rows, from > 0,
                        own.by_value + key * width, own.packed);
  }

  void run(const Blocks& blocks) const {
    pack();
    for (int64_t from = 0; from < p.queries; from += blocks.size) {
      const int64_t rows = least(blocks.size, p.queries - from);
      read_block(from, rows);
      for (int64_t j = 0; j < p.keys; j += block_keys(p))
        add_keys(from, rows, j, least(block_keys(p), p.keys - j));
      copy_rows(problem.gradient(kQuery) + from * p.row[kQuery], p.row[kQuery], own.by_query,
                p.depth, rows, p.depth);
    }
    copy_rows(problem.gradient(kKey), p.row[kKey], own.by_key, p.depth, p.keys, p.depth);
    copy_rows(problem.gradient(kValue), p.row[kValue], own.by_value, p.width, p.keys, p.width);
  }
};

template <class T>
int attend_back(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const Blocks blocks(p.queries);
  for (int s = 0; s < p.arrays; ++s)
    if (p.clear[s]) memset(call->out[s].data, 0, (size_t)count(call->out[s]) * sizeof(T));
  return parallel_try(call->threads, p.outer * p.inner, 1, [&](int64_t begin, int64_t end) {
    void* memory = buffer_memory<T, BackwardBuffers<T>>(p, blocks);
    if (!memory) return false;
    BumpAllocator<T> allocator(memory);
    const BackwardBuffers<T> own(p, blocks, allocator);
    for (int64_t matrix = begin; matrix < end; ++matrix) {
      const Problem<T> problem = {p, call, 3, matrix};
      Backward<T>(problem, own).run(blocks);
    }
    return true;
  });
}

}  // namespace
}  // namespace attention

void register_attention_grad() {
  mx_kernel_add("attention_grad", attention::attend_back<float>, MX_BIT(F32), 0);
  mx_kernel_add("attention_grad", attention::attend_back<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
