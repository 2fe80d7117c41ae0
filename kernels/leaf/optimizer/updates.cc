// Optimizer updates of one weight: "sgd_update" (weight, grad), "sgd_mom_update" (.., mom),
// "nag_mom_update", "adam_update" (.., mean, var), "rmsprop_update" (.., n), and the mp_ forms,
// whose last input is a float32 copy of the weight; "multi_sgd_update" and its relatives for many
// weights.
//
// Every formula rounds exactly where MXNet 1.9.1 does, so that float results agree bit for bit.
#include "leaf/optimizer/steps.h"

MX_LEAF_BEGIN
namespace {

// --- single updates ----------------------------------------------------------------------------

template <class T>
struct RmsProp {
  static constexpr int states = 1;
  T lr, wd, rescale, bound, gamma, epsilon, bound_weights;
  explicit RmsProp(const mx_rmsprop_params& p)
      : lr((T)p.lr),
        wd((T)p.wd),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        gamma((T)p.gamma1),
        epsilon((T)p.epsilon),
        bound_weights((T)p.clip_weights) {}
  Vec<T> operator()(Vec<T> w, Vec<T> g, Vec<T>* state) const {
    g = clip(g * rescale + wd * w, bound);
    state[0] = (1 - gamma) * (g * g) + gamma * state[0];
    return clip(w - lr * (g / sqrt(state[0] + epsilon)), bound_weights);
  }
};

// --- many weights ------------------------------------------------------------------------------

template <class S, bool mixed, bool momentum>
int multi(const mx_call* call) {
  typedef Sum<S> T;
  typedef typename StateOf<S, mixed>::type M;
  const auto& p = *(const mx_multi_sgd_params*)call->params;
  const T rescale = (T)p.rescale_grad, bound = (T)p.clip_gradient;
  update_many<S, M, mixed>(call, p.weights, p.per, [&](int i) {
    const T lr = (T)(p.preloaded ? data<float>(call->in[call->nin - 2])[i] : p.lrs[i]);
    const T wd = (T)(p.preloaded ? data<float>(call->in[call->nin - 1])[i] : p.wds[i]);
    if constexpr (momentum) {
      return SgdMom<T>(lr, wd, rescale, bound, (T)p.momentum);
    } else {
      return Sgd<T>(lr, wd, rescale, bound);
    }
  });
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
