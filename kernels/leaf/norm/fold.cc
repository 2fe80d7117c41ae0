// Inference-mode batch normalisation folded into other layers: "batch_norm_scale" (gamma, beta,
// mean, var -> scale, shift) and "fold_batch_norm" (weight[, bias], gamma, beta, mean, var ->
// weight, bias).
#include "leaf/leaf.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

// Batch normalisation of channel c as x * scale + shift.
template <class T>
struct Statistics {
  const T *gamma, *beta, *mean, *var;
  const mx_fold_params& p;
  Statistics(const mx_tensor* in, const mx_fold_params& params)
      : gamma(data<T>(in[0])),
        beta(data<T>(in[1])),
        mean(data<T>(in[2])),
        var(data<T>(in[3])),
        p(params) {}
  double scale(int64_t c) const {
    return (p.fix_gamma ? 1.0 : (double)gamma[c]) / __builtin_sqrt((double)var[c] + p.eps);
  }
  double shift(int64_t c) const { return (double)beta[c] - (double)mean[c] * scale(c); }
};

template <class T>
int batch_norm_scale(const mx_call* call) {
  const auto& p = *(const mx_fold_params*)call->params;
  const Statistics<T> s(call->in, p);
  for (int64_t c = 0; c < p.channels; ++c) {
    if (call->out[0].data) data<T>(call->out[0])[c] = (T)s.scale(c);
    if (call->out[1].data) data<T>(call->out[1])[c] = (T)s.shift(c);
  }
  return 0;
}

template <class T>
int fold_batch_norm(const mx_call* call) {
  const auto& p = *(const mx_fold_params*)call->params;
  const bool has_bias = call->nin == 6;
  const Statistics<T> s(call->in + 1 + has_bias, p);
  const T *weight = data<T>(call->in[0]), *bias = has_bias ? data<T>(call->in[1]) : nullptr;
  T *folded = data<T>(call->out[0]), *shifts = data<T>(call->out[1]);
  for (int64_t c = 0; c < p.groups * p.channels; ++c) {
    const double scale = s.scale(c);
    if (shifts) shifts[c] = (T)((has_bias ? (double)bias[c] : 0.0) * scale + s.shift(c));
    for (int64_t o = 0; folded && o < p.outer; ++o) {
      const int64_t row = c / p.channels * p.outer + o;
      const int64_t first = (row * p.channels + c % p.channels) * p.inner;
      for (int64_t i = first; i < first + p.inner; ++i) folded[i] = (T)((double)weight[i] * scale);
    }
  }
  return 0;
}

}  // namespace

void register_norm_fold() {
  mx_kernel_add("batch_norm_scale", batch_norm_scale<float>, MX_BIT(F32), 0);
  mx_kernel_add("batch_norm_scale", batch_norm_scale<double>, MX_BIT(F64), 0);
  mx_kernel_add("fold_batch_norm", fold_batch_norm<float>, MX_BIT(F32), 0);
  mx_kernel_add("fold_batch_norm", fold_batch_norm<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
