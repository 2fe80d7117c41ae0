// "rnn_grad": the gradient of "rnn" (rnn.cc) from what it saved in training. Steps give the
// gradients of all gates; those of the data and the weights are one matrix product each.
#include "leaf/recurrent/cells.h"
#include "leaf/recurrent/lengths.h"

MX_LEAF_BEGIN
namespace {

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

// From the last step to the first: the gradients of all gates, and those of the initial states.
template <class T>
void back_steps(const RnnShape& s, int threads, int64_t direction, const T* own_weight,
                const PartBack<T>& part, const Lengths& lengths,
                const BackwardBuffers<T>& buffers) {
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
}

template <class T>
int back_part(const RnnShape& s, int threads, int64_t direction, int64_t source,
              const PartBack<T>& part, const Lengths& lengths, const BackwardBuffers<T>& buffers) {
  back_steps(s, threads, direction, part.weight + s.rows * source, part, lengths, buffers);
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

}  // namespace

void register_rnn_grad() {
  mx_kernel_add("rnn_grad", rnn_grad<float>, MX_BIT(F32), 0);
  add_with_query("rnn_grad", rnn_grad<double>, MX_BIT(F64), rnn_workspace<BackwardBuffers>);
}
MX_LEAF_END
