// The elementwise part of recurrent cells, after the products, and its gradient, for one sample's
// row.
#pragma once
#include "leaf/recurrent/rnn.h"
#include "leaf/simd/math.h"
#include "leaf/simd/plane.h"
#include "leaf/simd/special.h"

MX_LEAF_BEGIN

// The bounds of an LSTM's cell states.
template <class T>
struct CellBounds {
  typedef Vec<T> V;
  bool given, of_nan;
  T low, high;
  explicit CellBounds(const RnnShape& s)
      : given(s.clips), of_nan(s.clips_nan), low((T)s.low), high((T)s.high) {}

  V clipped(V cell) const {
    if (!given) return cell;
    if (of_nan) cell = cell == cell ? cell : V{} + low;
    cell = cell < low ? V{} + low : cell;
    return cell > high ? V{} + high : cell;
  }
  // The gradient of a cell state before clipping; a state at a bound was clipped.
  V before(V cell, V gradient) const {
    if (!given) return gradient;
    gradient = cell > low ? gradient : V{};
    return cell < high ? gradient : V{};
  }
};

// Rows of `hidden` elements; gates are as far apart. `own` is the hidden state's product (GRU).
template <class T>
struct Forward {
  T *gates, *extra, *out;
  const T *own, *hidden_then, *cell_then;
};

// The units from `begin` to `end`, of which the former is a multiple of the vector's width.
template <class T>
inline void cell_step(int mode, int64_t hidden, const CellBounds<T>& bounds, const Forward<T>& row,
                      int64_t begin, int64_t end) {
  typedef Vec<T> V;
  for (int64_t j = begin; j < end; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, end - j);
    T* gate = row.gates + j;
    V out;
    if (mode == kLstm) {
      const V in_gate = sigmoid(load_lanes(gate, n)),
              forget_gate = sigmoid(load_lanes(gate + hidden, n));
      const V candidate = tanh(load_lanes(gate + 2 * hidden, n));
      const V out_gate = sigmoid(load_lanes(gate + 3 * hidden, n));
      const V cell =
          bounds.clipped(forget_gate * load_lanes(row.cell_then + j, n) + in_gate * candidate);
      store_lanes(gate, in_gate, n);
      store_lanes(gate + hidden, forget_gate, n);
      store_lanes(gate + 2 * hidden, candidate, n);
      store_lanes(gate + 3 * hidden, out_gate, n);
      store_lanes(row.extra + j, cell, n);
      out = out_gate * tanh(cell);
    } else if (mode == kGru) {
      const T* own = row.own + j;
      const V reset = sigmoid(load_lanes(gate, n) + load_lanes(own, n));
      const V update = sigmoid(load_lanes(gate + hidden, n) + load_lanes(own + hidden, n));
      const V hidden_part = load_lanes(own + 2 * hidden, n);
      const V candidate = tanh(load_lanes(gate + 2 * hidden, n) + reset * hidden_part);
      store_lanes(gate, reset, n);
      store_lanes(gate + hidden, update, n);
      store_lanes(gate + 2 * hidden, candidate, n);
      store_lanes(row.extra + j, hidden_part, n);
      out = (1 - update) * candidate + update * load_lanes(row.hidden_then + j, n);
    } else {
      const V sum = load_lanes(gate, n);
      out = mode == kRnnRelu ? relu(sum) : tanh(sum);
      store_lanes(gate, out, n);
    }
    store_lanes(row.out + j, out, n);
  }
}

// The output of an LSTM's cell before the projection.
template <class T>
inline void cell_out(int64_t hidden, const T* gates, const T* cell, T* out) {
  for (int64_t j = 0; j < hidden; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, hidden - j);
    const Vec<T> out_gate = load_lanes(gates + 3 * hidden + j, n);
    store_lanes(out + j, out_gate * tanh(load_lanes(cell + j, n)), n);
  }
}

// On entry d_hidden and d_cell are gradients of the states after the step, on return those of the
// states before it, without the contribution of the product. d_own differs from d_gates only for
// the GRU.
template <class T>
struct Backward {
  const T *gates, *extra, *hidden_then, *cell_then, *d_out;
  T *d_hidden, *d_cell, *d_gates, *d_own;
};

template <class T>
inline void cell_back(int mode, int64_t hidden, const CellBounds<T>& bounds,
                      const Backward<T>& row) {
  typedef Vec<T> V;
  for (int64_t j = 0; j < hidden; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, hidden - j);
    const T* gate = row.gates + j;
    T* d = row.d_gates + j;
    const V d_result = load_lanes(row.d_hidden + j, n) + load_lanes(row.d_out + j, n);
    if (mode == kLstm) {
      const V in_gate = load_lanes(gate, n), forget_gate = load_lanes(gate + hidden, n);
      const V candidate = load_lanes(gate + 2 * hidden, n),
              out_gate = load_lanes(gate + 3 * hidden, n);
      const V cell = load_lanes(row.extra + j, n), tanh_cell = tanh(cell);
      const V d_cell = bounds.before(
          cell, load_lanes(row.d_cell + j, n) + d_result * out_gate * (1 - tanh_cell * tanh_cell));
      store_lanes(d, d_cell * candidate * in_gate * (1 - in_gate), n);
      store_lanes(d + hidden,
                  d_cell * load_lanes(row.cell_then + j, n) * forget_gate * (1 - forget_gate), n);
      store_lanes(d + 2 * hidden, d_cell * in_gate * (1 - candidate * candidate), n);
      store_lanes(d + 3 * hidden, d_result * tanh_cell * out_gate * (1 - out_gate), n);
      store_lanes(row.d_cell + j, d_cell * forget_gate, n);
      store_lanes(row.d_hidden + j, V{}, n);
    } else if (mode == kGru) {
      T* d_own = row.d_own + j;
      const V reset = load_lanes(gate, n), update = load_lanes(gate + hidden, n);
      const V candidate = load_lanes(gate + 2 * hidden, n);
      const V d_candidate = d_result * (1 - update) * (1 - candidate * candidate);
      const V d_reset = d_candidate * load_lanes(row.extra + j, n) * reset * (1 - reset);
      const V d_update =
          d_result * (load_lanes(row.hidden_then + j, n) - candidate) * update * (1 - update);
      store_lanes(d, d_reset, n);
      store_lanes(d + hidden, d_update, n);
      store_lanes(d + 2 * hidden, d_candidate, n);
      store_lanes(d_own, d_reset, n);
      store_lanes(d_own + hidden, d_update, n);
      store_lanes(d_own + 2 * hidden, d_candidate * reset, n);
      store_lanes(row.d_hidden + j, d_result * update, n);
    } else {
      const V out = load_lanes(gate, n);
      store_lanes(d, mode == kRnnRelu ? (out > 0 ? d_result : V{}) : d_result * (1 - out * out), n);
      store_lanes(row.d_hidden + j, V{}, n);
    }
  }
}

MX_LEAF_END
