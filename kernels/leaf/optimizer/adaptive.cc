// Optimizer updates that use signs or adapt the step: "signsgd_update" (weight, grad),
// "signum_update" (.., mom), "rmspropalex_update" (.., n, g, delta), "ftrl_update" (.., z, n),
// "ftml_update" (.., d, v, z), "_sparse_adagrad_update" (.., history), and "_adamw_update" and
// "_adabelief_update" (.., mean, var, rescale_grad) with their mp_ and multi_ forms.
#include "leaf/optimizer/steps.h"

MX_LEAF_BEGIN
namespace {

template <class T>
struct SignSgd {
  static constexpr int states = 0;
  T lr, decay;
  explicit SignSgd(const mx_sgd_params& p) : lr((T)p.lr), decay(1 - (T)p.lr * (T)p.wd) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>*) const { return decay * w - lr * sign(g); }
};

template <class T>
struct Signum {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, momentum, decay;
  explicit Signum(const mx_signum_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        momentum((T)p.momentum),
        decay(1 - (T)p.lr * (T)p.wd_lh) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    const T rest = 1 - momentum;
    state[0] = momentum * state[0] - rest * wd * w - rest * clip(rescale * g, bound);
    return decay * w + lr * sign(state[0]);
  }
};

template <class T>
struct RmsPropAlex {
  static constexpr int states = 3;
  T lr, wd, rescale, bound, gamma1, gamma2, epsilon, bound_weights;
  explicit RmsPropAlex(const mx_rmspropalex_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        gamma1((T)p.gamma1),
        gamma2((T)p.gamma2),
        epsilon((T)p.epsilon),
        bound_weights((T)p.clip_weights) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(g * rescale + wd * w, bound);
    state[0] = (1 - gamma1) * (g * g) + gamma1 * state[0];
    state[1] = (1 - gamma1) * g + gamma1 * state[1];
    const Vec<T> spread = state[0] - state[1] * state[1] + epsilon;
    state[2] = gamma2 * state[2] - lr * (g / sqrt(spread));
    return clip(w + state[2], bound_weights);
  }
};

template <class T>
struct Ftml {
  static constexpr int states = 3;
  T lr, wd, rescale, bound, beta1, beta2, epsilon, first, second;
  explicit Ftml(const mx_ftml_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_grad),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon),
        first((T)(1 - __builtin_pow(p.beta1, p.t))),
        second((T)(1 - __builtin_pow(p.beta2, p.t))) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(g * rescale + wd * w, bound);
    state[1] = beta2 * state[1] + (1 - beta2) * (g * g);
    const Vec<T> scale = first / lr * (sqrt(state[1] / second) + epsilon);
    state[2] = beta1 * state[2] + (1 - beta1) * g - (scale - beta1 * state[0]) * w;
    state[0] = scale;
    return -state[2] / scale;
  }
};

template <class S, bool mixed, template <class> class Step>
int scaled(const mx_call* call) {
  const float rescale = *data<float>(call->in[call->nin - 1]);
  const Step<Sum<S>> step(*(const mx_adamw_params*)call->params, rescale);
  update<S, typename StateOf<S, mixed>::type, mixed>(call->threads, call->in, data<S>(call->out[0]),
                                                     step);
  return 0;
}

// The same for many weights, each with its own rate; the scale comes last.
template <class S, bool mixed, template <class> class Step>
int multi_scaled(const mx_call* call) {
  const auto& p = *(const mx_multi_adamw_params*)call->params;
  const float rescale = *data<float>(call->in[call->nin - 1]);
  update_many<S, typename StateOf<S, mixed>::type, mixed>(call, p.weights, p.per, [&](int i) {
    mx_adamw_params own = {};
    own.lr = p.lrs[i];
    own.beta1 = p.beta1;
    own.beta2 = p.beta2;
    own.epsilon = p.epsilon;
    own.wd = p.wds[i];
    own.eta = p.etas[i];
    own.clip_gradient = p.clip_gradient;
    return Step<Sum<S>>(own, rescale);
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("signsgd_update", single<S, false, SignSgd, mx_sgd_params>, dtype, 0);
  mx_kernel_add("signum_update", single<S, false, Signum, mx_signum_params>, dtype, 0);
  mx_kernel_add("rmspropalex_update", single<S, false, RmsPropAlex, mx_rmspropalex_params>, dtype,
                0);
  mx_kernel_add("ftrl_update", single<S, false, Ftrl, mx_ftrl_params>, dtype, 0);
  mx_kernel_add("ftml_update", single<S, false, Ftml, mx_ftml_params>, dtype, 0);
  mx_kernel_add("_sparse_adagrad_update", single<S, false, AdaGrad, mx_adagrad_params>, dtype, 0);
  mx_kernel_add("_adamw_update", scaled<S, false, AdamW>, dtype, 0);
  mx_kernel_add("_adabelief_update", scaled<S, false, AdaBelief>, dtype, 0);
  mx_kernel_add("_multi_adamw_update", multi_scaled<S, false, AdamW>, dtype, 0);
  mx_kernel_add("_multi_adabelief_update", multi_scaled<S, false, AdaBelief>, dtype, 0);
  if constexpr (sizeof(S) < 8) {
    mx_kernel_add("_mp_adamw_update", scaled<S, true, AdamW>, dtype, 0);
    mx_kernel_add("_mp_adabelief_update", scaled<S, true, AdaBelief>, dtype, 0);
    mx_kernel_add("_multi_mp_adamw_update", multi_scaled<S, true, AdamW>, dtype, 0);
    mx_kernel_add("_multi_mp_adabelief_update", multi_scaled<S, true, AdaBelief>, dtype, 0);
  }
}

}  // namespace

void register_optimizer_adaptive() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
