// "rnn": stacked recurrent layers over sequences; in training it saves what "rnn_grad" needs. The
// input products of all steps are one matrix product; those of the hidden state are computed step
// by step with weights packed once, unless there is a single step.
#include "leaf/recurrent/rnn.h"

#include "core/random/dropout.h"
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

// Inputs and outputs of the forward pass of one direction of a layer; `out` has row stride `wide`.
template <class T>
struct PartForward {
  const T *data, *weight, *bias, *state, *cell;
  T *gates, *extra, *out, *last_state, *last_cell;
};

// The gates of all steps before the products of hidden states: the data's product, and biases.
template <class T>
int begin_gates(const RnnShape& s, int threads, int64_t source, const PartForward<T>& part,
                const ForwardBuffers<T>& buffers) {
  const T* own_bias = part.bias + s.rows;
  const bool gru = s.mode == kGru;
  for (int64_t j = 0; j < s.rows; ++j) buffers.bias[j] = part.bias[j] + (gru ? 0 : own_bias[j]);
  parallel_for(threads, s.points(), 1 + 4096 / s.rows, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      memcpy(part.gates + i * s.rows, buffers.bias, s.rows * sizeof(T));
  });
  return product<T>(threads, false, true, s.points(), s.rows, source, part.data, source,
                    part.weight, source, 1, part.gates, s.rows);
}

// The initial states; with lengths, a copy that steps update.
template <class T>
States<T> initial_states(const RnnShape& s, const PartForward<T>& part, const Lengths& lengths,
                         const ForwardBuffers<T>& buffers) {
  if (!lengths.given()) return {part.state, part.cell, s.out};
  memcpy(buffers.hidden, part.state, s.batch * s.out * sizeof(T));
  if (part.cell) memcpy(buffers.cell, part.cell, s.batch * s.hidden * sizeof(T));
  return {buffers.hidden, part.cell ? buffers.cell : nullptr, s.out};
}

template <class T>
States<T> states_before(const RnnShape& s, int64_t direction, int64_t i, const States<T>& start,
                        const PartForward<T>& part, const Lengths& lengths) {
  if (i == 0 || lengths.given()) return start;
  const int64_t first = s.step(direction, i - 1) * s.batch;
  return {part.out + first * s.wide, part.cell ? part.extra + first * s.hidden : nullptr, s.wide};
}

// Updates the states of sequence n after a step, or clears its output where it has ended.
template <class T>
void update_states(const RnnShape& s, int64_t step, int64_t n, const PartForward<T>& part,
                   const Lengths& lengths, const ForwardBuffers<T>& buffers) {
  T* row = part.out + (step * s.batch + n) * s.wide;
  if (lengths.end_before(n, step)) {
    memset(row, 0, s.out * sizeof(T));
    return;
  }
  memcpy(buffers.hidden + n * s.out, row, s.out * sizeof(T));
  if (!part.cell) return;
  const T* cells = part.extra + (step * s.batch + n) * s.hidden;
  memcpy(buffers.cell + n * s.hidden, cells, s.hidden * sizeof(T));
}

// The product of the hidden state of the only step, which needs no packed weights.
template <class T>
int multiply_once(const RnnShape& s, int threads, const T* own_weight, const T* own_bias,
                  const States<T>& start, T* gates, const ForwardBuffers<T>& buffers) {
  T* sums = gates;
  if (s.mode == kGru) {
    sums = buffers.own;
    for (int64_t n = 0; n < s.batch; ++n) memcpy(sums + n * s.rows, own_bias, s.rows * sizeof(T));
  }
  return product<T>(threads, false, true, s.batch, s.rows, s.out, start.hidden, start.apart,
                    own_weight, s.out, 1, sums, s.rows);
}

template <class T>
void run_steps(const RnnShape& s, int threads, int64_t direction, const T* own_weight,
               const States<T>& start, const PartForward<T>& part, const Lengths& lengths,
               const ForwardBuffers<T>& buffers) {
  const T* own_bias = part.bias + s.rows;
  const bool gru = s.mode == kGru;
  Panels<T> panels = {buffers.panels, s.rows, s.out};
  if (s.steps > 1) panels.pack(threads, {own_weight, s.out, false});
  Panels<T> projection = {buffers.projection, s.out, s.hidden};
  if (s.projected) projection.pack(threads, {own_weight + s.rows * s.out, s.hidden, false});
  const CellBounds<T> bounds(s);
  const StepDivision division(s, threads, sizeof(T));
  parallel_team(division.threads, [&](const TeamMember& member) {
    const StepShare share(member, division, s.batch);
    for (int64_t i = 0; i < s.steps; ++i) {
      const int64_t step = s.step(direction, i), first = step * s.batch;
      const States<T> then = states_before(s, direction, i, start, part, lengths);
      T *at = part.gates + first * s.rows, *result = part.out + first * s.wide;
      if (s.steps > 1) {
        panels.multiply(share.multiplies, share.count, then.hidden + share.first * then.apart,
                        then.apart, gru ? own_bias : nullptr, gru ? 0 : 1,
                        (gru ? buffers.own : at) + share.first * s.rows, s.rows);
        share.meet();
      }
      for (int64_t n = share.begin; n < share.end; ++n) {
        const Forward<T> row = {at + n * s.rows,
                                part.extra ? part.extra + (first + n) * s.hidden : nullptr,
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
        for (int64_t n = share.begin; n < share.end; ++n)
          update_states(s, step, n, part, lengths, buffers);
        share.meet();
      }
    }
  });
}

template <class T>
int run_part(const RnnShape& s, int threads, int64_t direction, int64_t source,
             const PartForward<T>& part, const Lengths& lengths, const ForwardBuffers<T>& buffers) {
  if (is_single_step(s, source)) {
    run_single_step<T>(s, threads,
                       {source, part.data, part.weight, part.bias, part.state, part.cell,
                        part.gates, buffers.own, part.extra, part.out});
    keep_last(s, {part.out, part.extra, s.wide}, part.last_state, part.last_cell);
    return 0;
  }
  if (begin_gates(s, threads, source, part, buffers) != 0) return -1;
  const T *own_weight = part.weight + s.rows * source, *own_bias = part.bias + s.rows;
  const States<T> start = initial_states(s, part, lengths, buffers);
  if (s.steps == 1 &&
      multiply_once(s, threads, own_weight, own_bias, start, part.gates, buffers) != 0)
    return -1;
  run_steps(s, threads, direction, own_weight, start, part, lengths, buffers);
  keep_last(s, states_before(s, direction, s.steps, start, part, lengths), part.last_state,
            part.last_cell);
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
      const PartForward<T> part = {below,
                                   parameters + s.weights_at(layer, direction),
                                   parameters + s.bias_at(layer, direction),
                                   states + number * state_size,
                                   cells ? cells + number * cell_size : nullptr,
                                   gates,
                                   s.extra ? gates + s.points() * s.rows : nullptr,
                                   out + direction * s.out,
                                   last_states + number * state_size,
                                   last_cells ? last_cells + number * cell_size : nullptr};
      if (run_part(s, call->threads, direction, s.source(layer), part, lengths, buffers) != 0)
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

}  // namespace

void register_rnn() {
  mx_kernel_add("rnn", rnn<float>, MX_BIT(F32), 0);
  add_with_query("rnn", rnn<double>, MX_BIT(F64), rnn_workspace<ForwardBuffers>);
}
MX_LEAF_END
