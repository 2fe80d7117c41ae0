// One training step for all weights at once: "_sgd_all", "_sgd_mom_all", "_nag_mom_all",
// "_adam_all" and "_adamw_all", with their mp_ forms. The inputs of the weights are interleaved, as
// for the updates of one weight; the last input has a row of doubles each for their rates, decays
// and, for AdamW, etas.
#include <type_traits>

#include "leaf/optimizer/steps.h"

MX_LEAF_BEGIN
namespace {

typedef mx_step_all_params P;

// Parameters of one weight's step.
inline void fill(mx_sgd_params& own, const P& p) { own.rescale_grad = p.rescale_grad; }
inline void fill(mx_sgd_mom_params& own, const P& p) {
  own.rescale_grad = p.rescale_grad, own.momentum = p.momentum;
}
inline void fill(mx_adam_params& own, const P& p) {
  own.rescale_grad = p.rescale_grad;
  own.beta1 = p.beta1, own.beta2 = p.beta2, own.epsilon = p.epsilon;
}
inline void fill(mx_adamw_params& own, const P& p) {
  own.beta1 = p.beta1, own.beta2 = p.beta2, own.epsilon = p.epsilon;
}

template <class S, bool mixed, template <class> class Step, class Params>
int all(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const double* rates = data<double>(call->in[call->nin - 1]);
  const int n = p.weights;
  update_many<S, typename StateOf<S, mixed>::type, mixed>(call, n, p.per, [&](int i) {
    Params own = {};
    fill(own, p);
    own.lr = rates[i];
    own.wd = rates[n + i];
    own.clip_gradient = p.clip_gradient;
    if constexpr (std::is_same_v<Params, mx_adamw_params>) {
      own.eta = rates[2 * n + i];
      return Step<Sum<S>>(own, (float)p.rescale_grad);
    } else {
      return Step<Sum<S>>(own);
    }
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("_sgd_all", all<S, false, Sgd, mx_sgd_params>, dtype, 0);
  mx_kernel_add("_sgd_mom_all", all<S, false, SgdMom, mx_sgd_mom_params>, dtype, 0);
  mx_kernel_add("_nag_mom_all", all<S, false, NagMom, mx_sgd_mom_params>, dtype, 0);
  mx_kernel_add("_adam_all", all<S, false, Adam, mx_adam_params>, dtype, 0);
  mx_kernel_add("_adamw_all", all<S, false, AdamW, mx_adamw_params>, dtype, 0);
  if constexpr (sizeof(S) < 8) {
    mx_kernel_add("_mp_sgd_all", all<S, true, Sgd, mx_sgd_params>, dtype, 0);
    mx_kernel_add("_mp_sgd_mom_all", all<S, true, SgdMom, mx_sgd_mom_params>, dtype, 0);
    mx_kernel_add("_mp_nag_mom_all", all<S, true, NagMom, mx_sgd_mom_params>, dtype, 0);
    mx_kernel_add("_mp_adam_all", all<S, true, Adam, mx_adam_params>, dtype, 0);
    mx_kernel_add("_mp_adamw_all", all<S, true, AdamW, mx_adamw_params>, dtype, 0);
  }
}

}  // namespace

void register_optimizer_all() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
