// "rnn": stacked recurrent layers over sequences; in training it saves what "rnn_grad" needs. The
// input products of all steps are one matrix product; those of the hidden state are computed step
// by step with weights packed once, unless there is a single step.
#include "leaf/recurrent/rnn.h"

#include "core/random/dropout.h"
#include "leaf/bump_allocator.h"
#include "leaf/queries.h"
#include "leaf/recurrent/lengths.h"
#include "leaf/recurrent/single_step.h"

MX_LEAF_BEGIN
namespace {

template <class T>
struct ForwardBuffers {
  T *own, *panels, *bias, *below, *saved;
  T *lengths, *hidden, *cell;  // states kept while sequences are padding
  T *raw, *projection;         // outputs of cells before the projection, and its panels

  ForwardBuffers(const RnnShape& s, BumpAllocator<T>& allocator)
      : own(allocator.take(s.mode == kGru ? s.batch * s.rows : 0)),
        panels(allocator.take(s.steps > 1 ? Panels<T>::size(s.rows, s.out) : 0)),
        bias(allocator.take(s.rows)),
        below(allocator.take(s.drops ? s.points() * s.wide : 0)),
        saved(allocator.take(s.saves ? 0 : s.saved_size())),
        lengths(allocator.take(Lengths::size<T>(s))),
        hidden(allocator.take(s.lengths ? s.batch * s.out : 0)),
        cell(allocator.take(s.lengths && s.mode == kLstm ? s.batch * s.hidden : 0)),
        raw(allocator.take(s.projected ? s.batch * s.hidden : 0)),
        projection(allocator.take(s.projected ? Panels<T>::size(s.out, s.hidden) : 0)) {}
};

template <class T>
struct BackwardBuffers {
  T *d_gates, *d_own, *panels, *d_hidden, *d_cell, *below, *d_below, *d_above, *lengths, *first;
  // With a projection: the gradients of what it puts out (of all steps) and takes in (of one), what
  // it took in, a gradient that is zero, and its panels.
  T *d_projected, *d_raw, *raw, *zero, *projection;

  BackwardBuffers(const RnnShape& s, BumpAllocator<T>& allocator)
      : d_gates(allocator.take(s.points() * s.rows)),
        d_own(allocator.take(s.mode == kGru ? s.points() * s.rows : 0)),
        panels(allocator.take(Panels<T>::size(s.out, s.rows))),
        d_hidden(allocator.take(s.batch * s.out)),
        d_cell(allocator.take(s.batch * s.hidden)),
        below(allocator.take(s.drops ? s.points() * s.wide : 0)),
        d_below(allocator.take(s.layers > 1 ? s.points() * s.wide : 0)),
        d_above(allocator.take(s.layers > 1 ? s.points() * s.wide : 0)),
        lengths(allocator.take(Lengths::size<T>(s))),
        first(allocator.take(s.lengths ? s.batch * s.rows : 0)),
        d_projected(allocator.take(s.projected ? s.points() * s.out : 0)),
        d_raw(allocator.take(s.projected ? s.batch * s.hidden : 0)),
        raw(allocator.take(s.projected ? s.points() * s.hidden : 0)),
        zero(allocator.take(s.projected ? s.batch * s.hidden : 0)),
        projection(allocator.take(s.projected ? Panels<T>::size(s.hidden, s.out) : 0)) {
    if (s.mode != kGru) d_own = d_gates;
  }
};

template <class T>
void scale_by(int threads, int64_t n, const T* x, const T* factors, T* out) {
  parallel_for(threads, n, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) out[i] = x[i] * factors[i];
  });
}

template <class T>
int product(int threads, bool ta, bool tb, int64_t m, int64_t n, int64_t k, const T* a, int64_t lda,
            const T* b, int64_t ldb, T beta, T* c, int64_t ldc) {
  if (m == 0 || n == 0) return 0;
  return gemm_arrays(threads, GemmShape{ta, tb, m, n, k, lda, ldb, ldc}, (T)1, a, b, beta, c);
}

// Hidden states, with row stride `apart`, and cells, if there are any, before a step.
template <class T>
struct States {
  const T *hidden, *cell;
  int64_t apart;
};

template <class T>
void keep_last(const RnnShape& s, const States<T>& last, T* state, T* cell) {
  for (int64_t n = 0; n < s.batch; ++n) {
    memcpy(state + n * s.out, last.hidden + n * last.apart, s.out * sizeof(T));
  }
  if (cell) memcpy(cell, last.cell, s.batch * s.hidden * sizeof(T));
}

// One direction of a layer: data (points x source) to `out`, with row stride `wide`.
template <class T>
int run_part(const RnnShape& s, int threads, int64_t direction, int64_t source, const T* data,
             const T* weight, const T* bias, const T* state, const T* cell, T* gates, T* extra,
             T* out, T* last_state, T* last_cell, const Lengths& lengths,
             const ForwardBuffers<T>& buffers) {
  if (is_single_step(s, source)) {
    run_single_step<T>(s, threads,
                       {source, data, weight, bias, state, cell, gates, buffers.own, extra, out});
    keep_last(s, {out, extra, s.wide}, last_state, last_cell);
    return 0;
  }
  const T *own_weight = weight + s.rows * source, *own_bias = bias + s.rows;
  const bool gru = s.mode == kGru;
  for (int64_t j = 0; j < s.rows; ++j) buffers.bias[j] = bias[j] + (gru ? 0 : own_bias[j]);
  parallel_for(threads, s.points(), 1 + 4096 / s.rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      memcpy(gates + i * s.rows, buffers.bias, s.rows * sizeof(T));
  });
  if (product<T>(threads, false, true, s.points(), s.rows, source, data, source, weight, source, 1,
                 gates, s.rows) != 0)
    return -1;
  Panels<T> panels = {buffers.panels, s.rows, s.out};
  if (s.steps > 1) panels.pack(threads, {own_weight, s.out, false});
  Panels<T> projection = {buffers.projection, s.out, s.hidden};
  if (s.projected) projection.pack(threads, {own_weight + s.rows * s.out, s.hidden, false});
  States<T> start = {state, cell, s.out};
  if (lengths.given()) {
    memcpy(buffers.hidden, state, s.batch * s.out * sizeof(T));
    if (cell) memcpy(buffers.cell, cell, s.batch * s.hidden * sizeof(T));
    start = {buffers.hidden, cell ? buffers.cell : nullptr, s.out};
  }
  const auto states_before = [&](int64_t i) -> States<T> {
    if (i == 0 || lengths.given()) return start;
    const int64_t first = s.step(direction, i - 1) * s.batch;
    return {out + first * s.wide, cell ? extra + first * s.hidden : nullptr, s.wide};
  };
  const auto keep_states = [&](int64_t step, int64_t n) {
    T* row = out + (step * s.batch + n) * s.wide;
    if (lengths.end_before(n, step)) {
      memset(row, 0, s.out * sizeof(T));
      return;
    }
    memcpy(buffers.hidden + n * s.out, row, s.out * sizeof(T));
    const T* cells = extra + (step * s.batch + n) * s.hidden;
    if (cell) memcpy(buffers.cell + n * s.hidden, cells, s.hidden * sizeof(T));
  };
  if (s.steps == 1) {
    T* sums = gates;
    if (gru) {
      sums = buffers.own;
      for (int64_t n = 0; n < s.batch; ++n) memcpy(sums + n * s.rows, own_bias, s.rows * sizeof(T));
    }
    if (product<T>(threads, false, true, s.batch, s.rows, s.out, start.hidden, start.apart,
                   own_weight, s.out, 1, sums, s.rows) != 0)
      return -1;
  }
  const CellBounds<T> bounds(s);
  const StepDivision division(s, threads, sizeof(T));
  parallel_team(division.threads, [&](const TeamMember& member) {
    const StepShare share(member, division, s.batch);
    for (int64_t i = 0; i < s.steps; ++i) {
      const int64_t step = s.step(direction, i), first = step * s.batch;
      const States<T> then = states_before(i);
      T *at = gates + first * s.rows, *result = out + first * s.wide;
      if (s.steps > 1) {
        panels.multiply(share.multiplies, share.count, then.hidden + share.first * then.apart,
                        then.apart, gru ? own_bias : nullptr, gru ? 0 : 1,
                        (gru ? buffers.own : at) + share.first * s.rows, s.rows);
        share.meet();
      }
      for (int64_t n = share.begin; n < share.end; ++n) {
        const Forward<T> row = {at + n * s.rows,
                                extra ? extra + (first + n) * s.hidden : nullptr,
                                s.projected ? buffers.raw + n * s.hidden : result + n * s.wide,
                                gru ? buffers.own + n * s.rows : nullptr,
                                then.hidden + n * then.apart,
                                then.cell ? then.cell + n * s.hidden : nullptr};
        cell_step(s.mode, s.hidden, bounds, row, 0, s.hidden);
      }
      share.meet();
      if (s.projected) {
        projection.multiply(share.multiplies, share.count, buffers.raw + share.first * s.hidden,
                            s.hidden, nullptr, 0, result + share.first * s.wide, s.wide);
        share.meet();
      }
      if (lengths.given()) {
        for (int64_t n = share.begin; n < share.end; ++n) keep_states(step, n);
        share.meet();
      }
    }
  });
  keep_last(s, states_before(s.steps), last_state, last_cell);
  return 0;
}

template <class T>
int rnn(const mx_call* call) {
  const auto& p = *(const mx_rnn_params*)call->params;
  const RnnShape s(p);
  BumpAllocator<T> allocator(call->workspace);
  const ForwardBuffers<T> buffers(s, allocator);
  const bool lstm = s.mode == kLstm;
  const T *below = data<T>(call->in[0]), *parameters = data<T>(call->in[1]);
  const T *states = data<T>(call->in[2]), *cells = lstm ? data<T>(call->in[3]) : nullptr;
  T *last = data<T>(call->out[0]), *last_states = data<T>(call->out[1]);
  T* last_cells = lstm ? data<T>(call->out[2]) : nullptr;
  T* saved = s.saves ? data<T>(call->out[call->nout - 1]) : buffers.saved;
  const Lengths lengths(s, call->in + (lstm ? 4 : 3), buffers.lengths);
  const int64_t state_size = s.batch * s.out, cell_size = s.batch * s.hidden;
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    const bool top = layer == s.layers - 1;
    T* out = top ? last : saved + s.out_at(layer);
    for (int64_t direction = 0; direction < s.directions; ++direction) {
      const int64_t number = layer * s.directions + direction;
      T* gates = saved + s.part_at(layer, direction);
      if (run_part(s, call->threads, direction, s.source(layer), below,
                   parameters + s.weights_at(layer, direction),
                   parameters + s.bias_at(layer, direction), states + number * state_size,
                   cells ? cells + number * cell_size : nullptr, gates,
                   s.extra ? gates + s.points() * s.rows : nullptr, out + direction * s.out,
                   last_states + number * state_size,
                   last_cells ? last_cells + number * cell_size : nullptr, lengths, buffers) != 0)
        return -1;
    }
    below = out;
    if (!top && s.drops) {
      T* mask = saved + s.mask_at(layer);
      draw_dropout(call->rng, call->threads, (float)p.drop, s.points() * s.wide, mask);
      scale_by(call->threads, s.points() * s.wide, out, mask, buffers.below);
      below = buffers.below;
    }
  }
  return 0;
}

// --- gradient --------------------------------------------------------------------------------

// Inputs and outputs of the backward pass of one direction of a layer.
template <class T>
struct PartBack {
  const T *data, *weight, *state, *cell, *gates, *extra, *out, *d_out;
  T *d_weight, *d_bias, *d_data, *d_state, *d_cell;
};

// Sums (n) of the rows of x (m x n).
template <class T>
void sum_rows(int threads, int64_t m, int64_t n, const T* x, T* sums) {
  parallel_for(threads, n, 64, [&](int64_t begin, int64_t end) {
    memset(sums + begin, 0, (end - begin) * sizeof(T));
    for (int64_t i = 0; i < m; ++i) {
      for (int64_t j = begin; j < end; ++j) sums[j] += x[i * n + j];
    }
  });
}

// The gradient of what the projection of sequence n put out at a step; d_hidden becomes zero where
// that counts.
template <class T>
void enter_projection(const RnnShape& s, int64_t step, int64_t n, const T* d_out,
                      const Lengths& lengths, const BackwardBuffers<T>& buffers) {
  const int64_t row = step * s.batch + n;
  T *d = buffers.d_projected + row * s.out, *d_hidden = buffers.d_hidden + n * s.out;
  const bool ended = lengths.end_before(n, step);
  for (int64_t j = 0; j < s.out; ++j) d[j] = ended ? 0 : d_hidden[j] + d_out[row * s.wide + j];
  if (!ended) memset(d_hidden, 0, s.out * sizeof(T));
}

template <class T>
int back_part(const RnnShape& s, int threads, int64_t direction, int64_t source,
              const PartBack<T>& part, const Lengths& lengths, const BackwardBuffers<T>& buffers) {
  const T* own_weight = part.weight + s.rows * source;
  Panels<T> panels = {buffers.panels, s.out, s.rows};
  panels.pack(threads, {own_weight, s.out, true});
  Panels<T> projection = {buffers.projection, s.hidden, s.out};
  if (s.projected) {
    projection.pack(threads, {own_weight + s.rows * s.out, s.hidden, true});
    memset(buffers.zero, 0, s.batch * s.hidden * sizeof(T));
  }
  const CellBounds<T> bounds(s);
  const StepDivision division(s, threads, sizeof(T));
  parallel_team(division.threads, [&](const TeamMember& member) {
    const StepShare share(member, division, s.batch);
    for (int64_t i = s.steps - 1; i >= 0; --i) {
      const int64_t step = s.step(direction, i), first = step * s.batch;
      const int64_t before = i ? s.step(direction, i - 1) : 0;
      if (s.projected) {
        for (int64_t n = share.begin; n < share.end; ++n) {
          enter_projection(s, step, n, part.d_out, lengths, buffers);
        }
        share.meet();
        projection.multiply(share.multiplies, share.count,
                            buffers.d_projected + (first + share.first) * s.out, s.out, nullptr, 0,
                            buffers.d_raw + share.first * s.hidden, s.hidden);
        share.meet();
      }
      for (int64_t n = share.begin; n < share.end; ++n) {
        const bool starts = i == 0 || lengths.end_before(n, before);
        const int64_t then = before * s.batch + n;
        const T* cell_then = starts ? part.cell + n * s.hidden : part.extra + then * s.hidden;
        const Backward<T> row = {
            part.gates + (first + n) * s.rows,
            s.extra ? part.extra + (first + n) * s.hidden : nullptr,
            starts ? part.state + n * s.hidden : part.out + then * s.wide,
            part.cell ? cell_then : nullptr,
            s.projected ? buffers.d_raw + n * s.hidden : part.d_out + (first + n) * s.wide,
            (s.projected ? buffers.zero : buffers.d_hidden) + n * s.hidden,
            buffers.d_cell + n * s.hidden,
            buffers.d_gates + (first + n) * s.rows,
            buffers.d_own + (first + n) * s.rows};
        if (lengths.end_before(n, step)) {
          memset(row.d_gates, 0, s.rows * sizeof(T));
          memset(row.d_own, 0, s.rows * sizeof(T));
        } else {
          cell_back(s.mode, s.hidden, bounds, row);
        }
        if (s.projected)
          cell_out(s.hidden, row.gates, row.extra, buffers.raw + (first + n) * s.hidden);
      }
      share.meet();
      panels.multiply(share.multiplies, share.count, buffers.d_own + (first + share.first) * s.rows,
                      s.rows, nullptr, 1, buffers.d_hidden + share.first * s.out, s.out);
      share.meet();
    }
  });
  memcpy(part.d_state, buffers.d_hidden, s.batch * s.out * sizeof(T));
  if (part.d_cell) memcpy(part.d_cell, buffers.d_cell, s.batch * s.hidden * sizeof(T));
  sum_rows(threads, s.points(), s.rows, buffers.d_gates, part.d_bias);
  sum_rows(threads, s.points(), s.rows, buffers.d_own, part.d_bias + s.rows);
  // Hidden states at the beginning of each step: the outputs of the previous step, and the initial
  // state.
  const int64_t later = (s.steps - 1) * s.batch;
  const T* moved_d = buffers.d_own + (direction ? 0 : s.batch * s.rows);
  const T* moved = part.out + (direction ? s.batch * s.wide : 0);
  const T* first_d = buffers.d_own + (direction ? later * s.rows : 0);
  T* d_own_weight = part.d_weight + s.rows * source;
  bool ok = product<T>(threads, false, false, s.points(), source, s.rows, buffers.d_gates, s.rows,
                       part.weight, source, direction ? 1 : 0, part.d_data, source) == 0 &&
            product<T>(threads, true, false, s.rows, source, s.points(), buffers.d_gates, s.rows,
                       part.data, source, 0, part.d_weight, source) == 0;
  if (lengths.given() && direction) {  // sequences that end early start there
    for (int64_t n = 0; n < s.batch; ++n) {
      const int64_t start = lengths.of(n) > 0 ? lengths.of(n) - 1 : 0;
      T* row = buffers.d_own + (start * s.batch + n) * s.rows;
      memcpy(buffers.first + n * s.rows, row, s.rows * sizeof(T));
      memset(row, 0, s.rows * sizeof(T));
    }
    first_d = buffers.first;
  }
  ok = ok &&
       product<T>(threads, true, false, s.rows, s.out, s.batch, first_d, s.rows, part.state, s.out,
                  0, d_own_weight, s.out) == 0 &&
       (later <= 0 || product<T>(threads, true, false, s.rows, s.out, later, moved_d, s.rows, moved,
                                 s.wide, 1, d_own_weight, s.out) == 0) &&
       (!s.projected ||
        product<T>(threads, true, false, s.out, s.hidden, s.points(), buffers.d_projected, s.out,
                   buffers.raw, s.hidden, 0, d_own_weight + s.rows * s.out, s.hidden) == 0);
  return ok ? 0 : -1;
}

template <class T>
int rnn_grad(const mx_call* call) {
  const RnnShape s(*(const mx_rnn_params*)call->params);
  BumpAllocator<T> allocator(call->workspace);
  const BackwardBuffers<T> buffers(s, allocator);
  const bool lstm = s.mode == kLstm;
  const Lengths lengths(s, call->in + (lstm ? 4 : 3), buffers.lengths);
  // output, saved, and the gradients
  const mx_tensor* in = call->in + (lstm ? 4 : 3) + (s.lengths ? 1 : 0);
  const T *parameters = data<T>(call->in[1]), *states = data<T>(call->in[2]);
  const T *cells = lstm ? data<T>(call->in[3]) : nullptr, *saved = data<T>(in[1]);
  T* d_parameters = data<T>(call->out[1]);
  const int64_t state_size = s.batch * s.out, cell_size = s.batch * s.hidden;
  const T *out = data<T>(in[0]), *d_out = data<T>(in[2]);
  for (int64_t layer = s.layers - 1; layer >= 0; --layer) {
    const T* below = layer ? saved + s.out_at(layer - 1) : data<T>(call->in[0]);
    const T* mask = layer && s.drops ? saved + s.mask_at(layer - 1) : nullptr;
    const T* input = below;
    if (mask) {
      scale_by(call->threads, s.points() * s.wide, below, mask, buffers.below);
      input = buffers.below;
    }
    T* d_data = layer == 0 ? data<T>(call->out[0]) : layer % 2 ? buffers.d_below : buffers.d_above;
    for (int64_t direction = 0; direction < s.directions; ++direction) {
      const int64_t number = layer * s.directions + direction;
      const T* gates = saved + s.part_at(layer, direction);
      memcpy(buffers.d_hidden, data<T>(in[3]) + number * state_size, state_size * sizeof(T));
      if (lstm) memcpy(buffers.d_cell, data<T>(in[4]) + number * cell_size, cell_size * sizeof(T));
      const PartBack<T> part = {input,
                                parameters + s.weights_at(layer, direction),
                                states + number * state_size,
                                cells ? cells + number * cell_size : nullptr,
                                gates,
                                s.extra ? gates + s.points() * s.rows : nullptr,
                                out + direction * s.out,
                                d_out + direction * s.out,
                                d_parameters + s.weights_at(layer, direction),
                                d_parameters + s.bias_at(layer, direction),
                                d_data,
                                data<T>(call->out[2]) + number * state_size,
                                lstm ? data<T>(call->out[3]) + number * cell_size : nullptr};
      if (back_part(s, call->threads, direction, s.source(layer), part, lengths, buffers) != 0)
        return -1;
    }
    if (mask) scale_by(call->threads, s.points() * s.wide, d_data, mask, d_data);
    out = below;
    d_out = d_data;
  }
  return 0;
}

template <template <class> class Wanted>
int64_t query(const mx_call* call, int32_t what) {
  if (what != MX_QUERY_WORKSPACE) return 1;
  const RnnShape s(*(const mx_rnn_params*)call->params);
  // Eight-byte elements need the most.
  BumpAllocator<double> allocator(nullptr);
  Wanted<double> counted(s, allocator);
  (void)counted;
  return allocator.bytes();
}

}  // namespace

void register_rnn() {
  mx_kernel_add("rnn", rnn<float>, MX_BIT(F32), 0);
  add_with_query("rnn", rnn<double>, MX_BIT(F64), query<ForwardBuffers>);
  mx_kernel_add("rnn_grad", rnn_grad<float>, MX_BIT(F32), 0);
  add_with_query("rnn_grad", rnn_grad<double>, MX_BIT(F64), query<BackwardBuffers>);
}
MX_LEAF_END
