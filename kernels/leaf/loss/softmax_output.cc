// "softmax_output_grad" (softmax result, label): gradient of the cross-entropy. "svm_output_grad"
// (scores, label): gradient of the hinge losses.
#include "leaf/simd/runs.h"
#include "params/loss.gen.h"

MX_LEAF_BEGIN
namespace {

// Labels are class numbers as floats; fractions are truncated.
template <class T>
int64_t class_of(T label) {
  return (int64_t)label;
}

template <class S>
double scale_of(const mx_softmax_output_params& p, const S* labels) {
  if (!p.valid) return p.scale;
  int64_t valid = 0;
  for (int64_t i = 0; i < p.labels; ++i) {
    valid += class_of(scalar_as<Sum<S>>(labels[i])) != class_of(p.ignore_label);
  }
  return p.scale / (double)(valid ? valid : 1);
}

// One row with a single label.
template <class S, class T>
void row_gradient(const mx_softmax_output_params& p, const S* result, T label, T scale, S* out) {
  const int64_t hit = class_of(label);
  if (p.use_ignore && hit == class_of(p.ignore_label)) {
    for (int64_t i = 0; i < p.classes; ++i) store_scalar(out + i, (T)0);
    return;
  }
  const T others =
      p.smooth_alpha != 0 ? (T)(p.smooth_alpha / (double)(p.classes > 1 ? p.classes - 1 : 1)) : 0;
  map_run(p.classes, out, [=](auto x) { return (x - others) * scale; }, result);
  if (hit >= 0 && hit < p.classes) {
    store_scalar(out + hit, (scalar_as<T>(result[hit]) - (T)(1 - p.smooth_alpha)) * scale);
  }
}

// One row of planes, each position with its own label.
template <class S, class T>
void plane_gradient(const mx_softmax_output_params& p, const S* result, const S* labels, T scale,
                    S* out) {
  const T ignored = p.use_ignore ? (T)class_of(p.ignore_label) : (T)__builtin_nan("");
  for (int64_t c = 0; c < p.classes; ++c) {
    const T number = (T)c;
    map_run(
        p.inner, out + c * p.inner,
        [=](auto x, auto label) {
          typedef decltype(x) V;
          label = trunc(label);
          const V grad = (x - truth<V>(label == number)) * scale;
          return label == ignored ? V{} : grad;
        },
        result + c * p.inner, labels);
  }
}

template <class S>
int softmax_output_grad(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_softmax_output_params*)call->params;
  const S *result = data<S>(call->in[0]), *labels = data<S>(call->in[1]);
  S* out = data<S>(call->out[0]);
  const int64_t size = p.classes * p.inner;
  const T scale = (T)scale_of(p, labels);
  parallel_for(call->threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const S* row = result + r * size;
      if (p.probabilities) {
        map_run(
            size, out + r * size, [=](auto x, auto label) { return (x - label) * scale; }, row,
            labels + r * size);
      } else if (p.inner == 1) {
        row_gradient(p, row, scalar_as<T>(labels[r]), scale, out + r * size);
      } else {
        plane_gradient(p, row, labels + r * p.inner, scale, out + r * size);
      }
    }
  });
  return 0;
}

template <class S>
int svm_output_grad(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_svm_output_params*)call->params;
  const S *scores = data<S>(call->in[0]), *labels = data<S>(call->in[1]);
  S* out = data<S>(call->out[0]);
  const T margin = (T)p.margin, weight = (T)(p.linear ? p.weight : 2 * p.weight);
  const bool linear = p.linear;
  const auto pushed = [=](auto x) {  // gradient of a class whose score should be at most -margin
    const auto violation = x + margin;
    const auto none = violation - violation;
    return violation > 0 ? (linear ? none + weight : violation * weight) : none;
  };
  parallel_for(call->threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const S* row = scores + r * p.classes;
      map_run(p.classes, out + r * p.classes, pushed, row);
      const int64_t hit = class_of(scalar_as<T>(labels[r]));
      if (hit < 0 || hit >= p.classes) continue;
      store_scalar(out + r * p.classes + hit, -pushed(-scalar_as<T>(row[hit])));
    }
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("softmax_output_grad", softmax_output_grad<S>, dtype, 0);
  mx_kernel_add("svm_output_grad", svm_output_grad<S>, dtype, 0);
}

}  // namespace

void register_loss() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
