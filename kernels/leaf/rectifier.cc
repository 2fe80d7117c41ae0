// "leaky_grad" and "elu_grad" (gradient of the output, data): what rectifiers with a slope `p` on
// the negative side pass back; elu's sides are also multiplied by `q`.
#include "math.h"
#include "runs.h"

MX_LEAF_BEGIN
namespace {

template <class S, class F>
int map_pair(const mx_call* call, const F& f) {
  parallel_for(call->threads, count(call->out[0]), kLanes<Sum<S>>, [&](int64_t begin, int64_t end) {
    map_run(end - begin, data<S>(call->out[0]) + begin, f, data<S>(call->in[0]) + begin,
            data<S>(call->in[1]) + begin);
  });
  return 0;
}

template <class S>
int leaky_grad(const mx_call* call) {
  const auto slope = (Sum<S>)((const mx_scalar2_params*)call->params)->p;
  return map_pair<S>(call, [=](auto g, auto x) MX_ALWAYS { return x > 0 ? g : g * slope; });
}

template <class S>
int elu_grad(const mx_call* call) {
  const auto& p = *(const mx_scalar2_params*)call->params;
  const auto slope = (Sum<S>)p.p, scale = (Sum<S>)p.q;
  return map_pair<S>(call, [=](auto g, auto x) MX_ALWAYS {
    return g * scale * (x > 0 ? splat<decltype(x)>(1) : slope * exp(x));
  });
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("leaky_grad", leaky_grad<S>, dtype, 0);
  mx_kernel_add("elu_grad", elu_grad<S>, dtype, 0);
}

}  // namespace

void register_rectifier() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
