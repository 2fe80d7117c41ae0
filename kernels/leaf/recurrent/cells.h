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
      const V enter = sigmoid(take(gate, n)), forget = sigmoid(take(gate + hidden, n));
      const V fresh = tanh(take(gate + 2 * hidden, n));
      const V leave = sigmoid(take(gate + 3 * hidden, n));
      const V cell = forget * take(row.cell_then + j, n) + enter * fresh;
      put(gate, enter, n);
      put(gate + hidden, forget, n);
      put(gate + 2 * hidden, fresh, n);
      put(gate + 3 * hidden, leave, n);
      put(row.extra + j, cell, n);
      out = leave * tanh(cell);
    } else if (mode == kGru) {
      const T* own = row.own + j;
      const V reset = sigmoid(take(gate, n) + take(own, n));
      const V update = sigmoid(take(gate + hidden, n) + take(own + hidden, n));
      const V scaled = take(own + 2 * hidden, n);
      const V fresh = tanh(take(gate + 2 * hidden, n) + reset * scaled);
      put(gate, reset, n);
      put(gate + hidden, update, n);
      put(gate + 2 * hidden, fresh, n);
      put(row.extra + j, scaled, n);
      out = (1 - update) * fresh + update * take(row.hidden_then + j, n);
    } else {
      const V sum = take(gate, n);
      out = mode == kRnnRelu ? relu(sum) : tanh(sum);
      put(gate, out, n);
    }
    put(row.out + j, out, n);
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
    const V seen = take(row.d_hidden + j, n) + take(row.d_out + j, n);
    if (mode == kLstm) {
      const V enter = take(gate, n), forget = take(gate + hidden, n);
      const V fresh = take(gate + 2 * hidden, n), leave = take(gate + 3 * hidden, n);
      const V bent = tanh(take(row.extra + j, n));
      const V d_cell = take(row.d_cell + j, n) + seen * leave * (1 - bent * bent);
      put(d, d_cell * fresh * enter * (1 - enter), n);
      put(d + hidden, d_cell * take(row.cell_then + j, n) * forget * (1 - forget), n);
      put(d + 2 * hidden, d_cell * enter * (1 - fresh * fresh), n);
      put(d + 3 * hidden, seen * bent * leave * (1 - leave), n);
      put(row.d_cell + j, d_cell * forget, n);
      put(row.d_hidden + j, V{}, n);
    } else if (mode == kGru) {
      T* d_own = row.d_own + j;
      const V reset = take(gate, n), update = take(gate + hidden, n);
      const V fresh = take(gate + 2 * hidden, n);
      const V d_fresh = seen * (1 - update) * (1 - fresh * fresh);
      const V d_reset = d_fresh * take(row.extra + j, n) * reset * (1 - reset);
      const V d_update = seen * (take(row.hidden_then + j, n) - fresh) * update * (1 - update);
      put(d, d_reset, n);
      put(d + hidden, d_update, n);
      put(d + 2 * hidden, d_fresh, n);
      put(d_own, d_reset, n);
      put(d_own + hidden, d_update, n);
      put(d_own + 2 * hidden, d_fresh * reset, n);
      put(row.d_hidden + j, seen * update, n);
    } else {
      const V out = take(gate, n);
      put(d, mode == kRnnRelu ? (out > 0 ? seen : V{}) : seen * (1 - out * out), n);
      put(row.d_hidden + j, V{}, n);
    }
  }
}

MX_LEAF_END
