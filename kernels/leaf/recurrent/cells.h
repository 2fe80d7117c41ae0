// What recurrent cells do in a step after the products, and its gradient, for one sample's row.
#pragma once
#include "leaf/recurrent/rnn.h"
#include "leaf/simd/math.h"
#include "leaf/simd/special.h"

MX_LEAF_BEGIN

template <class T>
MX_INLINE Vec<T> take(const T* from, int n) {
  return n == kLanes<T> ? load(from) : load_first(from, n);
}
template <class T>
MX_INLINE void put(T* to, Vec<T> x, int n) {
  n == kLanes<T> ? store(to, x) : store_first(to, x, n);
}

// Rows of `hidden` numbers; gates are as many apart. `own` is the hidden state's product (GRU).
template <class T>
struct Forward {
  T *gates, *extra, *out;
  const T *own, *hidden_then, *cell_then;
};

template <class T>
inline void cell_step(int mode, int64_t hidden, const Forward<T>& row) {
  typedef Vec<T> V;
  for (int64_t j = 0; j < hidden; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, hidden - j);
    T* gate = row.gates + j;
    V out;
    if (mode == kLstm) {
      const V in_gate = sigmoid(take(gate, n)), forget_gate = sigmoid(take(gate + hidden, n));
      const V candidate = tanh(take(gate + 2 * hidden, n));
      const V out_gate = sigmoid(take(gate + 3 * hidden, n));
      const V cell = forget_gate * take(row.cell_then + j, n) + in_gate * candidate;
      put(gate, in_gate, n);
      put(gate + hidden, forget_gate, n);
      put(gate + 2 * hidden, candidate, n);
      put(gate + 3 * hidden, out_gate, n);
      put(row.extra + j, cell, n);
      out = out_gate * tanh(cell);
    } else if (mode == kGru) {
      const T* own = row.own + j;
      const V reset = sigmoid(take(gate, n) + take(own, n));
      const V update = sigmoid(take(gate + hidden, n) + take(own + hidden, n));
      const V hidden_part = take(own + 2 * hidden, n);
      const V candidate = tanh(take(gate + 2 * hidden, n) + reset * hidden_part);
      put(gate, reset, n);
      put(gate + hidden, update, n);
      put(gate + 2 * hidden, candidate, n);
      put(row.extra + j, hidden_part, n);
      out = (1 - update) * candidate + update * take(row.hidden_then + j, n);
    } else {
      const V sum = take(gate, n);
      out = mode == kRnnRelu ? relu(sum) : tanh(sum);
      put(gate, out, n);
    }
    put(row.out + j, out, n);
  }
}

// What an LSTM's cell put out before the projection.
template <class T>
inline void cell_out(int64_t hidden, const T* gates, const T* cell, T* out) {
  for (int64_t j = 0; j < hidden; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, hidden - j);
    put(out + j, take(gates + 3 * hidden + j, n) * tanh(take(cell + j, n)), n);
  }
}

// d_hidden and d_cell come as the gradients after the step and leave as those before it, without
// what the product passes on. d_own differs from d_gates for the GRU only.
template <class T>
struct Backward {
  const T *gates, *extra, *hidden_then, *cell_then, *d_out;
  T *d_hidden, *d_cell, *d_gates, *d_own;
};

template <class T>
inline void cell_back(int mode, int64_t hidden, const Backward<T>& row) {
  typedef Vec<T> V;
  for (int64_t j = 0; j < hidden; j += kLanes<T>) {
    const int n = (int)least(kLanes<T>, hidden - j);
    const T* gate = row.gates + j;
    T* d = row.d_gates + j;
    const V d_result = take(row.d_hidden + j, n) + take(row.d_out + j, n);
    if (mode == kLstm) {
      const V in_gate = take(gate, n), forget_gate = take(gate + hidden, n);
      const V candidate = take(gate + 2 * hidden, n), out_gate = take(gate + 3 * hidden, n);
      const V tanh_cell = tanh(take(row.extra + j, n));
      const V d_cell = take(row.d_cell + j, n) + d_result * out_gate * (1 - tanh_cell * tanh_cell);
      put(d, d_cell * candidate * in_gate * (1 - in_gate), n);
      put(d + hidden, d_cell * take(row.cell_then + j, n) * forget_gate * (1 - forget_gate), n);
      put(d + 2 * hidden, d_cell * in_gate * (1 - candidate * candidate), n);
      put(d + 3 * hidden, d_result * tanh_cell * out_gate * (1 - out_gate), n);
      put(row.d_cell + j, d_cell * forget_gate, n);
      put(row.d_hidden + j, V{}, n);
    } else if (mode == kGru) {
      T* d_own = row.d_own + j;
      const V reset = take(gate, n), update = take(gate + hidden, n);
      const V candidate = take(gate + 2 * hidden, n);
      const V d_candidate = d_result * (1 - update) * (1 - candidate * candidate);
      const V d_reset = d_candidate * take(row.extra + j, n) * reset * (1 - reset);
      const V d_update =
          d_result * (take(row.hidden_then + j, n) - candidate) * update * (1 - update);
      put(d, d_reset, n);
      put(d + hidden, d_update, n);
      put(d + 2 * hidden, d_candidate, n);
      put(d_own, d_reset, n);
      put(d_own + hidden, d_update, n);
      put(d_own + 2 * hidden, d_candidate * reset, n);
      put(row.d_hidden + j, d_result * update, n);
    } else {
      const V out = take(gate, n);
      put(d, mode == kRnnRelu ? (out > 0 ? d_result : V{}) : d_result * (1 - out * out), n);
      put(row.d_hidden + j, V{}, n);
    }
  }
}

MX_LEAF_END
