// Gradients of rectifiers with slope `p` on the negative side (output gradient, data):
// "leaky_grad", and "elu_grad", whose two sides are also multiplied by `q`. With per-channel
// slopes: "prelu" (data, slopes) and "prelu_grad" (output gradient, data, slopes).
#include "leaf/simd/math.h"
#include "leaf/simd/runs.h"
#include "params/activation.gen.h"
#include "params/elementwise.gen.h"

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

// --- per-channel slopes --------------------------------------------------------------------------

// Call body(first element, count, channel) for runs of elements of one channel; `channel` -1: a run
// with one element per channel.
template <class Body>
void each_run(const mx_prelu_params& p, int64_t begin, int64_t end, const Body& body) {
  for (int64_t i = begin; i < end; ++i) {
    if (p.inner == 1) {
      body(i * p.channels, p.channels, -1);
    } else {
      for (int64_t c = 0; c < p.channels; ++c) body((i * p.channels + c) * p.inner, p.inner, c);
    }
  }
}

// out = f(slope, src...) elementwise.
template <class S, class F, class... P>
void with_slopes(const mx_prelu_params& p, int threads, const S* slopes, S* out, const F& f,
                 const P*... src) {
  parallel_for(threads, p.outer, 1, [&](int64_t begin, int64_t end) {
    each_run(p, begin, end, [&](int64_t at, int64_t n, int64_t channel) {
      if (channel < 0) {
        map_run(n, out + at, f, slopes, (src + at)...);
      } else {
        const auto slope = splat<Vec<Sum<S>>>(scalar_as<Sum<S>>(slopes[channel]));
        map_run(n, out + at, [&](auto... x) MX_ALWAYS { return f(slope, x...); }, (src + at)...);
      }
    });
  });
}

template <class S>
int prelu(const mx_call* call) {
  const auto& p = *(const mx_prelu_params*)call->params;
  with_slopes(
      p, call->threads, data<S>(call->in[1]), data<S>(call->out[0]),
      [](auto slope, auto x) MX_ALWAYS { return x > 0 ? x : x * slope; }, data<S>(call->in[0]));
  return 0;
}

// Gradients of slopes [begin, end) where each element is its own channel.
template <class S>
void sum_columns(const mx_prelu_params& p, const S* grads, const S* images, S* out, int64_t begin,
                 int64_t end) {
  typedef Vec<Sum<S>> V;
  constexpr int L = kLanes<Sum<S>>;
  for (int64_t c = begin; c < end; c += L) {
    const int n = (int)least(L, end - c);
    V sum = {};
    for (int64_t i = 0; i < p.outer; ++i) {
      const V x = load_first_as<Sum<S>>(images + i * p.channels + c, n);
      sum += load_first_as<Sum<S>>(grads + i * p.channels + c, n) * (x > 0 ? V{} : x);
    }
    store_first_as(out + c, sum, n);
  }
}

template <class S>
void sum_channel(const mx_prelu_params& p, const S* grads, const S* images, S* out, int64_t c) {
  typedef Sum<S> T;
  double sum = 0;
  for (int64_t i = 0; i < p.outer; ++i) {
    const int64_t at = (i * p.channels + c) * p.inner;
    sum += sum_run<T>(
        p.inner,
        [](auto g, auto x) MX_ALWAYS {
          const decltype(x) zero = {};
          return g * (x > 0 ? zero : x);
        },
        grads + at, images + at);
  }
  store_scalar(out + c, (T)sum);
}

template <class S>
int prelu_grad(const mx_call* call) {
  const auto& p = *(const mx_prelu_params*)call->params;
  const S *grads = data<S>(call->in[0]), *images = data<S>(call->in[1]);
  if (call->out[0].data) {
    with_slopes(
        p, call->threads, data<S>(call->in[2]), data<S>(call->out[0]),
        [](auto slope, auto g, auto x) MX_ALWAYS { return x > 0 ? g : g * slope; }, grads, images);
  }
  S* out = data<S>(call->out[1]);
  if (!out) return 0;
  const int64_t grain = p.inner == 1 ? kLanes<Sum<S>> : 1;
  parallel_for(call->threads, p.channels, grain, [&](int64_t begin, int64_t end) {
    if (p.inner == 1) return sum_columns(p, grads, images, out, begin, end);
    for (int64_t c = begin; c < end; ++c) sum_channel(p, grads, images, out, c);
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("leaky_grad", leaky_grad<S>, dtype, 0);
  mx_kernel_add("elu_grad", elu_grad<S>, dtype, 0);
  mx_kernel_add("prelu", prelu<S>, dtype, 0);
  mx_kernel_add("prelu_grad", prelu_grad<S>, dtype, 0);
}

}  // namespace

void register_rectifier() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
