// Attention: softmax(scale * queries keys' + mask) values. Scores exist for a block of queries and
// a block of keys at a time, in scratch memory:
//
//        keys' (packed in panels)              values (packed)
//   Q  [ block | block | block ]      P V  [ sums of a block of queries ]
//   block of queries: scores -> exponentials; sums so far shrink when a larger score comes
#include "leaf/attention/attention.h"

MX_LEAF_BEGIN
namespace attention {
namespace {

// Working buffers of a thread for products of query and key blocks.
template <class T>
struct ForwardBuffers {
  T *keys, *values, *query, *scores, *sums;
  T *top, *totals, *shrunk;  // per query: largest score, sum of exponentials, rescaling factor

  ForwardBuffers(const P& p, const Blocks& blocks, BumpAllocator<T>& allocator)
      : keys(allocator.take(panels_size<T>(p.keys, p.depth))),
        values(allocator.take(panels_size<T>(p.width, p.keys))),
        query(allocator.take(blocks.size * p.depth)),
        scores(allocator.take(blocks.size * score_row<T>(p))),
        sums(allocator.take(blocks.size * p.width)),
        top(allocator.take(blocks.size)),
        totals(allocator.take(blocks.size)),
        shrunk(allocator.take(blocks.size)) {}
};

template <class T>
struct Forward {
  static constexpr T none = -Real<Vec<T>>::infinity;
  const Problem<T>& problem;
  const ForwardBuffers<T>& own;
  const P& p;

  Forward(const Problem<T>& of, const ForwardBuffers<T>& buffers)
      : problem(of), own(buffers), p(of.p) {}

  const T* values_of(int64_t key) const { return own.values + key * round_up(p.width, kLanes<T>); }

  static int64_t unit() { return 1; }

  void pack() const {
    pack_panels<T>(own.keys, {problem.of(kKey), p.row[kKey], false}, p.keys, p.depth);
    for (int64_t j = 0; j < p.keys; j += block_keys(p))
      pack_panels<T>((T*)values_of(j), {problem.of(kValue), p.row[kValue], true}, p.width,
                     least(block_keys(p), p.keys - j), j);
  }

  // Turn row r of the scores into exponentials and record the factor that rescales its sums.
  void exponentiate(int64_t r, int64_t query, int64_t key, int64_t keys) const {
    T* line = own.scores + r * score_row<T>(p);
    const T here = problem.prepare(line, query, key, keys);
    const T larger = own.top[r] > here ? own.top[r] : here;
    // An all-masked row would give inf - inf.
    const T base = larger == none ? 0 : larger;
    const T sum = exponentials(line, keys, base);
    own.shrunk[r] = own.top[r] == larger ? 1 : exp(splat<Vec<T>>(own.top[r] - base))[0];
    own.totals[r] = own.totals[r] * own.shrunk[r] + sum;
    own.top[r] = larger;
  }

  void shrink(int64_t r) const {
    if (own.shrunk[r] == 1) return;
    T* sums = own.sums + r * p.width;
    const T factor = own.shrunk[r];
    each_vector<T>(p.width, [&](int64_t i, int count) MX_ALWAYS {
      store_lanes(sums + i, load_lanes(sums + i, count) * factor, count);
    });
  }

  void write_row(int64_t r, T* to, T* statistics) const {
    const bool empty = own.totals[r] == 0 && (p.masking == kKeep || p.masking == kLength);
    const T inverse = empty ? 0 : 1 / own.totals[r];
    const T* sums = own.sums + r * p.width;
    each_vector<T>(p.width, [&](int64_t i, int count) MX_ALWAYS {
      store_lanes(to + i, load_lanes(sums + i, count) * inverse, count);
    });
    statistics[0] = own.top[r] == none ? 0 : own.top[r];
    statistics[1] = inverse;
  }

  // Compute `rows` queries from query `from` on.
  void attend(int64_t from, int64_t rows) const {
    const int64_t row = score_row<T>(p), depth = p.depth;
    copy_rows(own.query, depth, problem.of(kQuery) + from * p.row[kQuery], p.row[kQuery], rows,
              depth);
    for (int64_t r = 0; r < rows; ++r) own.top[r] = none, own.totals[r] = 0;
    for (int64_t j = 0; j < p.keys; j += block_keys(p)) {
      const int64_t keys = least(block_keys(p), p.keys - j);
      multiply(own.query, depth, rows, own.keys + j * depth, keys, depth, false, own.scores, row);
      for (int64_t r = 0; r < rows; ++r) exponentiate(r, from + r, j, keys);
      for (int64_t r = 0; j && r < rows; ++r) shrink(r);
      multiply(own.scores, row, rows, values_of(j), p.width, keys, j > 0, own.sums, p.width);
    }
    T* out = data<T>(problem.call->out[0]) + problem.start(kOut);
    T* stats = data<T>(problem.call->out[1]) + problem.matrix * p.queries * 2;
    for (int64_t r = 0; r < rows; ++r)
      write_row(r, out + (from + r) * p.row[kOut], stats + (from + r) * 2);
  }
};

template <class T>
int attend(const mx_call* call) {
  const P& p = *(const P*)call->params;
  return each_block<T, ForwardBuffers<T>, Forward<T>>(call, p);
}

}  // namespace
}  // namespace attention

void register_attention() {
  mx_kernel_add("attention", attention::attend<float>, MX_BIT(F32), 0);
  mx_kernel_add("attention", attention::attend<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
