// Broadcast binary calls: rows along the innermost collapsed dimension, along which each operand
// either advances or is constant.
#include "leaf/elementwise/functor.h"
#include "params/elementwise.gen.h"

MX_LEAF_BEGIN
namespace {

// Rows shorter than this are first gathered into blocks, to fill whole vectors.
constexpr int64_t kShortRow = 16;
// Rows up to this length that an operand repeats at least this often are gathered once.
constexpr int64_t kRepeatedRow = 64, kRepetitions = 8;

// A position in the collapsed shape and its offset in both operands, without the innermost
// dimension.
struct Odometer {
  const mx_broadcast_params& p;
  int64_t index[MX_MAX_DIM], lhs = 0, rhs = 0;

  Odometer(const mx_broadcast_params& params, int64_t row) : p(params) {
    for (int d = p.ndim - 2; d >= 0; --d) {
      index[d] = row % p.shape[d];
      row /= p.shape[d];
      lhs += index[d] * p.lhs[d];
      rhs += index[d] * p.rhs[d];
    }
  }
  void next() {
    for (int d = p.ndim - 2; d >= 0; --d) {
      lhs += p.lhs[d];
      rhs += p.rhs[d];
      if (++index[d] < p.shape[d]) return;
      lhs -= index[d] * p.lhs[d];
      rhs -= index[d] * p.rhs[d];
      index[d] = 0;
    }
  }
};

bool runs_along_whole(const mx_broadcast_params& p, const int64_t* strides) {
  int64_t expected = 1;
  for (int d = p.ndim - 1; d >= 0; --d) {
    if (strides[d] != expected) return false;
    expected *= p.shape[d];
  }
  return true;
}

template <class T>
void gather_row(void* to, const void* from, int64_t step, int64_t n) {
  T* dst = (T*)to;
  const T* src = (const T*)from;
  for (int64_t i = 0; i < n; ++i) dst[i] = src[i * step];
}
struct Wide {
  uint64_t parts[2];
};
typedef void (*GatherRow)(void*, const void*, int64_t, int64_t);
GatherRow gather_of(int size) {
  switch (size) {
    case 1:
      return gather_row<uint8_t>;
    case 2:
      return gather_row<uint16_t>;
    case 4:
      return gather_row<uint32_t>;
    case 8:
      return gather_row<uint64_t>;
    default:
      return gather_row<Wide>;
  }
}

struct Broadcast {
  const mx_call* call;
  const mx_broadcast_params& p;
  const Rows& rows;
  const char *lhs, *rhs;
  char* dst;
  int size_l, size_r, out_size;

  void long_rows(int64_t begin, int64_t end) const {
    const int last = p.ndim - 1;
    const int64_t inner = p.shape[last], step_l = p.lhs[last];
    const int64_t step_r = step_l == 0 ? 1 : p.rhs[last];  // of one element; one operand advances
    const TypedRow& row = step_l == 0 ? rows.sv : step_r == 0 ? rows.vs : rows.vv;
    const Runner runner(row, call->in[0].dtype, call->in[1].dtype, call->out[0], step_l, step_r);
    Odometer at(p, begin / inner);
    uint64_t value_l, value_r;
    for (int64_t i = begin; i < end; at.next()) {
      const int64_t skip = i % inner, n = inner - skip < end - i ? inner - skip : end - i;
      const void* a = lhs + (at.lhs + skip * step_l) * size_l;
      const void* b = rhs + (at.rhs + skip * step_r) * size_r;
      if (step_l == 0 && runner.load_a) {
        runner.load_a(&value_l, a, 1);
        a = &value_l;
      }
      if (step_r == 0 && runner.load_b) {
        runner.load_b(&value_r, b, 1);
        b = &value_r;
      }
      runner(dst + i * out_size, a, b, n);
      i += n;
    }
  }

  void short_rows(int64_t begin, int64_t end) const {
    const int last = p.ndim - 1;
    const int64_t inner = p.shape[last], step_l = p.lhs[last], step_r = p.rhs[last];
    const bool whole_l = runs_along_whole(p, p.lhs), whole_r = runs_along_whole(p, p.rhs);
    const Runner runner(rows.vv, call->in[0].dtype, call->in[1].dtype, call->out[0], true, true);
    const GatherRow gather_l = gather_of(size_l), gather_r = gather_of(size_r);
    alignas(64) char block_l[kBlock * sizeof(Wide)], block_r[kBlock * sizeof(Wide)];
    Odometer at(p, begin / inner);
    int64_t skip = begin % inner;
    while (begin < end) {
      const int64_t m = end - begin < kBlock ? end - begin : kBlock;
      for (int64_t i = 0; i < m;) {
        const int64_t n = inner - skip < m - i ? inner - skip : m - i;
        if (!whole_l)
          gather_l(block_l + i * size_l, lhs + (at.lhs + skip * step_l) * size_l, step_l, n);
        if (!whole_r)
          gather_r(block_r + i * size_r, rhs + (at.rhs + skip * step_r) * size_r, step_r, n);
        i += n;
        skip += n;
        if (skip == inner) skip = 0, at.next();
      }
      runner(dst + begin * out_size, whole_l ? lhs + begin * size_l : block_l,
             whole_r ? rhs + begin * size_r : block_r, m);
      begin += m;
    }
  }

  // Whether an operand repeats short rows while the other one advances.
  static bool repeats(const mx_broadcast_params& p, const int64_t* strides, const int64_t* others) {
    if (p.ndim < 2) return false;
    const int64_t inner = p.shape[p.ndim - 1], times = p.shape[p.ndim - 2];
    return strides[p.ndim - 2] == 0 && inner > 1 && inner <= kRepeatedRow &&
           times >= kRepetitions && runs_along_whole(p, others);
  }

  // `left`: whether the left operand repeats rows; otherwise the right one does.
  void repeated_rows(int64_t begin, int64_t end, bool left) const {
    const int last = p.ndim - 1;
    const int64_t inner = p.shape[last], times = p.shape[last - 1], span = inner * times;
    const int64_t step = left ? p.lhs[last] : p.rhs[last], rows_at_once = kBlock / inner;
    const int size = left ? size_l : size_r;
    const Runner runner(rows.vv, call->in[0].dtype, call->in[1].dtype, call->out[0], true, true);
    const GatherRow gather = gather_of(size);
    alignas(64) char block[kBlock * sizeof(Wide)];
    while (begin < end) {
      const int64_t row = begin / inner, here = begin % span;
      const int64_t stop = end - begin < span - here ? end : begin + span - here;
      const Odometer at(p, row);
      const char* from = (left ? lhs : rhs) + (left ? at.lhs : at.rhs) * size;
      const int64_t touched = ceil_div(begin % inner + stop - begin, inner);
      for (int64_t i = 0; i < touched && i < rows_at_once; ++i) {
        gather(block + i * inner * size, from, step, inner);
      }
      while (begin < stop) {
        const int64_t skip = begin % inner, most = rows_at_once * inner - skip;
        const int64_t n = stop - begin < most ? stop - begin : most;
        const char* repeated = block + skip * size;
        runner(dst + begin * out_size, left ? repeated : lhs + begin * size_l,
               left ? rhs + begin * size_r : repeated, n);
        begin += n;
      }
    }
  }
};

}  // namespace

int run_broadcast(const mx_call* call, const Rows& rows) {
  const mx_tensor *in = call->in, &out = call->out[0];
  const auto& p = *static_cast<const mx_broadcast_params*>(call->params);
  const Broadcast job = {call,
                         p,
                         rows,
                         data<char>(in[0]),
                         data<char>(in[1]),
                         data<char>(out),
                         element_size(in[0].dtype),
                         element_size(in[1].dtype),
                         element_size(out.dtype)};
  const bool left = Broadcast::repeats(p, p.lhs, p.rhs);
  const bool repeats = left || Broadcast::repeats(p, p.rhs, p.lhs);
  const bool is_short = p.ndim > 1 && p.shape[p.ndim - 1] < kShortRow;
  parallel_for(call->threads, count(out), kGrain, [&](int64_t begin, int64_t end) {
    if (repeats) {
      job.repeated_rows(begin, end, left);
    } else if (is_short) {
      job.short_rows(begin, end);
    } else {
      job.long_rows(begin, end);
    }
  });
  return 0;
}

MX_LEAF_END
