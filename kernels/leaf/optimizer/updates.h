// Kernels from optimizer steps, which are functors of vectors. A step is a template over its
// computation type, constructed from a parameter struct; it has `states` states, and step(weight,
// gradient, states) returns the new weight and updates the states.
#pragma once
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

template <class V>
MX_INLINE V clip(V x, Element<V> bound) {
  if (bound < 0) return x;
  const V high = splat<V>(bound), low = splat<V>(-bound);
  return x > high ? high : x < low ? low : x;
}

// One weight of storage type S with states of type M. In mixed precision M is float, and the master
// weight follows the states.
template <class S, class M, bool mixed, class Step>
MX_INLINE void update_part(int64_t begin, int64_t end, const mx_tensor* in, S* out,
                           const Step& step) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>, N = Step::states;
  const S *weight = data<S>(in[0]), *gradient = data<S>(in[1]);
  M* state[N + 1];
  for (int s = 0; s < N + mixed; ++s) state[s] = data<M>(in[2 + s]);
  for (int64_t i = begin; i < end; i += L) {
    const int n = end - i < L ? (int)(end - i) : L;
    Vec<T> states[N + 1], w;
    for (int s = 0; s < N; ++s) states[s] = load_lanes(state[s] + i, n);
    if constexpr (mixed) {
      w = load_lanes(state[N] + i, n);
    } else {
      w = load_lanes(weight + i, n);
    }
    w = step(w, load_lanes(gradient + i, n), states);
    for (int s = 0; s < N; ++s) store_lanes(state[s] + i, states[s], n);
    if constexpr (mixed) store_lanes(state[N] + i, w, n);
    if (out) store_lanes(out + i, w, n);
  }
}
template <class S, class M, bool mixed, class Step>
void update(int threads, const mx_tensor* in, S* out, const Step& step) {
  parallel_for(threads, count(in[0]), 16 * kLanes<Sum<S>>, [&](int64_t begin, int64_t end) {
    update_part<S, M, mixed>(begin, end, in, out, step);
  });
}

// Many weights, whose inputs are interleaved in groups of `per`, as one array: threads get parts of
// equal size regardless of the weights' borders. step_of(i) makes the step of weight i.
template <class S, class M, bool mixed, class StepOf>
void update_many(const mx_call* call, int weights, int per, const StepOf& step_of) {
  constexpr int64_t kPart = 16 * kLanes<Sum<S>>;
  const auto parts_of = [&](int i) { return ceil_div(count(call->in[i * per]), kPart); };
  int64_t parts = 0;
  for (int i = 0; i < weights; ++i) parts += parts_of(i);
  parallel_for(call->threads, parts, 1, [&](int64_t begin, int64_t end) {
    int64_t first = 0;
    for (int i = 0; i < weights && first < end; ++i) {
      const mx_tensor* in = call->in + i * per;
      const int64_t next = first + parts_of(i);
      if (next > begin) {
        const int64_t from = begin > first ? begin - first : 0;
        const int64_t to = least(end - first, next - first) * kPart;
        update_part<S, M, mixed>(from * kPart, least(to, count(in[0])), in, data<S>(call->out[i]),
                                 step_of(i));
      }
      first = next;
    }
  });
}

template <class S, bool mixed>
struct StateOf {
  typedef S type;
};
template <class S>
struct StateOf<S, true> {
  typedef float type;
};

template <class S, bool mixed, template <class> class Step, class Params>
int single(const mx_call* call) {
  const Step<Sum<S>> step(*(const Params*)call->params);
  update<S, typename StateOf<S, mixed>::type, mixed>(call->threads, call->in, data<S>(call->out[0]),
                                                     step);
  return 0;
}

MX_LEAF_END
