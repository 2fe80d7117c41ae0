// Optimizer updates of one weight: "sgd_update" (weight, grad), "sgd_mom_update" (.., mom),
// "nag_mom_update", "adam_update" (.., mean, var), "rmsprop_update" (.., n), and the mp_ forms,
// whose last input is a float copy of the weight; "multi_sgd_update" and its kin for many weights.
//
// Each formula rounds where MXNet 1.9.1 rounds, so that float results agree bit for bit.
#include "plane.h"

MX_LEAF_BEGIN
namespace {

template <class V>
MX_INLINE V clip(V x, Element<V> bound) {
  if (bound < 0) return x;
  const V high = splat<V>(bound), low = splat<V>(-bound);
  return x > high ? high : x < low ? low : x;
}

// --- one step of each: step(weight, gradient, states) returns the new weight -------------------

template <class T>
struct Sgd {
  static constexpr int states = 0;
  T lr, decay, rescale, bound;
  explicit Sgd(const mx_sgd_params &p)
      : Sgd((T)p.lr, (T)p.wd, (T)p.rescale_grad, (T)p.clip_gradient) {}
  Sgd(T lr, T wd, T rescale, T bound) : lr(lr), decay(1 - lr * wd), rescale(rescale), bound(bound) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T> *) const {
    return decay * w - lr * clip(rescale * g, bound);
  }
};

template <class T>
struct SgdMom {
  static constexpr int states = 1;
  T lr, decay, rescale, bound, momentum;
  explicit SgdMom(const mx_sgd_mom_params &p)
      : SgdMom((T)p.lr, (T)p.wd, (T)p.rescale_grad, (T)p.clip_gradient, (T)p.momentum) {}
  SgdMom(T lr, T wd, T rescale, T bound, T momentum)
      : lr(lr), decay(lr * wd), rescale(rescale), bound(bound), momentum(momentum) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T> *state) const {
    state[0] = momentum * state[0] - decay * w - lr * clip(rescale * g, bound);
    return w + state[0];
  }
};

template <class T>
struct NagMom {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, momentum;
  explicit NagMom(const mx_sgd_mom_params &p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        momentum((T)p.momentum) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T> *state) const {
    const Vec<T> old = momentum * state[0];
    g = clip(rescale * g, bound);
    w = w - old + (momentum + 1) * (old - lr * (g + wd * w));
    state[0] = old - lr * (g + wd * w);  // of the new weight, as in MXNet
    return w;
  }
};

template <class T>
struct Adam {
  static constexpr int states = 2;
  T lr, wd, rescale, bound, beta1, beta2, epsilon;
  explicit Adam(const mx_adam_params &p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T> *state) const {
    g = clip(g * rescale + wd * w, bound);
    state[0] = beta1 * state[0] + (1 - beta1) * g;
    state[1] = beta2 * state[1] + (1 - beta2) * g * g;
    return w - lr * state[0] / (sqrt(state[1]) + epsilon);
  }
};

template <class T>
struct RmsProp {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, gamma, epsilon, bound_weights;
  explicit RmsProp(const mx_rmsprop_params &p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        gamma((T)p.gamma1),
        epsilon((T)p.epsilon),
        bound_weights((T)p.clip_weights) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T> *state) const {
    g = clip(g * rescale + wd * w, bound);
    state[0] = (1 - gamma) * (g * g) + gamma * state[0];
    return clip(w - lr * (g / sqrt(state[0] + epsilon)), bound_weights);
  }
};

// --- over arrays -----------------------------------------------------------------------------

template <class T, class S>
MX_INLINE Vec<T> read(const S *src, int n) {
  return n == kLanes<T> ? load_as<T>(src) : load_first_as<T>(src, n);
}
template <class S>
MX_INLINE void write(S *dst, Vec<Sum<S>> x, int n) {
  if (n == kLanes<Sum<S>>) return store_as(dst, x);
  store_first_as(dst, x, n);
}

// One weight of storage type S, its states of type M. In multiple precision M is float, and after
// the states comes the weight that counts.
template <class S, class M, bool mixed, class Step>
void update(int threads, const mx_tensor *in, S *out, const Step &step) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>, N = Step::states;
  const S *weight = data<S>(in[0]), *gradient = data<S>(in[1]);
  M *state[N + 1];
  for (int s = 0; s < N + mixed; ++s) state[s] = data<M>(in[2 + s]);
  parallel_for(threads, count(in[0]), 16 * L, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += L) {
      const int n = end - i < L ? (int)(end - i) : L;
      Vec<T> states[N + 1], w;
      for (int s = 0; s < N; ++s) states[s] = read<T>(state[s] + i, n);
      if constexpr (mixed) {
        w = read<T>(state[N] + i, n);
      } else {
        w = read<T>(weight + i, n);
      }
      w = step(w, read<T>(gradient + i, n), states);
      for (int s = 0; s < N; ++s) write(state[s] + i, states[s], n);
      if constexpr (mixed) write(state[N] + i, w, n);
      if (out) write(out + i, w, n);
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
int single(const mx_call *call) {
  const Step<Sum<S>> step(*(const Params *)call->params);
  update<S, typename StateOf<S, mixed>::type, mixed>(call->threads, call->in, data<S>(call->out[0]),
                                                     step);
  return 0;
}

template <class S, bool mixed, bool momentum>
int multi(const mx_call *call) {
  typedef Sum<S> T;
  typedef typename StateOf<S, mixed>::type M;
  const auto &p = *(const mx_multi_sgd_params *)call->params;
  const T rescale = (T)p.rescale_grad, bound = (T)p.clip_gradient;
  for (int i = 0; i < p.weights; ++i) {
    const mx_tensor *in = call->in + i * p.per;
    S *out = data<S>(call->out[i]);
    const T lr = (T)(p.preloaded ? data<float>(call->in[call->nin - 2])[i] : p.lrs[i]);
    const T wd = (T)(p.preloaded ? data<float>(call->in[call->nin - 1])[i] : p.wds[i]);
    const int threads = count(in[0]) < 65536 ? 1 : call->threads;
    if constexpr (momentum) {
      update<S, M, mixed>(threads, in, out, SgdMom<T>(lr, wd, rescale, bound, (T)p.momentum));
    } else {
      update<S, M, mixed>(threads, in, out, Sgd<T>(lr, wd, rescale, bound));
    }
  }
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("sgd_update", single<S, false, Sgd, mx_sgd_params>, dtype, 0);
  mx_kernel_add("sgd_mom_update", single<S, false, SgdMom, mx_sgd_mom_params>, dtype, 0);
  mx_kernel_add("nag_mom_update", single<S, false, NagMom, mx_sgd_mom_params>, dtype, 0);
  mx_kernel_add("adam_update", single<S, false, Adam, mx_adam_params>, dtype, 0);
  mx_kernel_add("rmsprop_update", single<S, false, RmsProp, mx_rmsprop_params>, dtype, 0);
  mx_kernel_add("multi_sgd_update", multi<S, false, false>, dtype, 0);
  mx_kernel_add("multi_sgd_mom_update", multi<S, false, true>, dtype, 0);
  if constexpr (sizeof(S) < 8) {
    mx_kernel_add("mp_sgd_update", single<S, true, Sgd, mx_sgd_params>, dtype, 0);
    mx_kernel_add("mp_sgd_mom_update", single<S, true, SgdMom, mx_sgd_mom_params>, dtype, 0);
    mx_kernel_add("mp_nag_mom_update", single<S, true, NagMom, mx_sgd_mom_params>, dtype, 0);
    mx_kernel_add("multi_mp_sgd_update", multi<S, true, false>, dtype, 0);
    mx_kernel_add("multi_mp_sgd_mom_update", multi<S, true, true>, dtype, 0);
  }
}

}  // namespace

void register_optimizer() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
