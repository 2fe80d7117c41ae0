// Kernels of `mx.np.random`, which draw from the serial engine. One float32 number is drawn per
// element, in order, and then transformed into a sample, so the stream does not depend on the
// shapes or dtypes of parameters.
#include <algorithm>
#include <cmath>
#include <type_traits>
#include <vector>

#include "core/random/numpy_distributions.h"
#include "core/random/numpy_parameters.h"
#include "core/random/rng.h"
#include "core/tensor.h"
#include "params/random.gen.h"

using namespace mx;

namespace {

template <class C>
struct Two {
  Parameter<C> a, b;

  explicit Two(const mx_call* call) : a(0), b(0) {
    const auto* p = static_cast<const mx_numpy_random_params*>(call->params);
    int next = 0;
    a = p->arrays & 1 ? Parameter<C>(call->in[next++], call->out[0]) : Parameter<C>(p->first);
    b = p->arrays & 2 ? Parameter<C>(call->in[next++], call->out[0]) : Parameter<C>(p->second);
  }

  template <class D>
  bool fit() const {
    const auto a_fits = [](C value) { return D::takes(value, (C)0.5); };
    const auto b_fits = [](C value) { return D::takes((C)0.5, value); };
    return std::all_of(a.values.begin(), a.values.end(), a_fits) &&
           std::all_of(b.values.begin(), b.values.end(), b_fits);
  }
};

template <class D, class C, class O>
void fill(Mt19937& e, const Two<C>& p, int64_t n, O* out, O* slope) {
  float noise[kBlock];
  C a[kBlock], b[kBlock];
  for (int64_t done = 0; done < n; done += kBlock) {
    const int m = (int)std::min<int64_t>(n - done, kBlock);
    D::draw(e, noise, m);
    if (done == 0 || p.a.values.size() > 1) p.a.read(done, m, a);
    if (done == 0 || p.b.values.size() > 1) p.b.read(done, m, b);
    for (int i = 0; i < m; ++i) out[done + i] = (O)D::sample(noise[i], a[i], b[i]);
    if (slope) {
      for (int i = 0; i < m; ++i) slope[done + i] = (O)D::slope(noise[i], a[i], b[i]);
    }
  }
  if (D::kWordMore) e.next();
}

// fill(zero, out, slope): out[0] receives samples; out[1], if present, their derivatives.
template <class Fill>
int into(const mx_call* call, const Fill& fill) {
  const bool known = with_type(call->out[0].dtype, [&](auto zero) {
    using O = decltype(zero);
    fill(static_cast<O*>(call->out[0].data),
         call->nout > 1 ? static_cast<O*>(call->out[1].data) : (O*)nullptr);
  });
  return known ? 0 : mx_fail("np.random: dtype %d is not supported", call->out[0].dtype);
}

bool has_doubles(const mx_call* call) {
  return std::any_of(call->in, call->in + call->nin,
                     [](const mx_tensor& t) { return t.dtype == MX_F64; });
}

template <class D, class C>
int draw_as(const mx_call* call) {
  const Two<C> p(call);
  if (!p.template fit<D>()) return mx_fail("ValueError: np.random: %s is required", D::kNeeds);
  return into(call, [&](auto* out, auto* slope) {
    using O = std::remove_pointer_t<decltype(out)>;
    call->rng->serial_draw(
        [&](Mt19937& e) { fill<D, C, O>(e, p, count(call->out[0]), out, slope); });
  });
}

template <class D>
int draw(const mx_call* call) {
  return has_doubles(call) ? draw_as<D, double>(call) : draw_as<D, float>(call);
}

// --- gamma ---------------------------------------------------------------------------------------

struct GammaParameters {
  static constexpr const char* kNeeds = "shape > 0 and scale > 0";
  static bool takes(double shape, double scale) { return shape > 0 && scale > 0; }
};

// Marsaglia and Tsang's method in rounds over all elements: each round draws all uniform numbers,
// then all normal ones; rejected elements wait for the next round.
template <class O>
void gammas(Mt19937& e, const Two<double>& p, int64_t n, O* out, O* slope) {
  std::vector<double> u((size_t)(2 * n)), standard((size_t)n);
  std::vector<uint8_t> done((size_t)n);
  for (int64_t left = n; left > 0;) {
    for (double& value : u) value = std::min(unit<double>(e), 0x1.fffffffffffffp-1);
    NormalPairs<double> pairs;
    for (int64_t i = 0; i < n; ++i) {
      const double z = pairs.next(e);
      pairs.next(e);
      if (done[i]) continue;
      double shape;
      p.a.read(i, 1, &shape);
      const double d = shape < 1 ? shape + 2.0 / 3.0 : shape - 1.0 / 3.0;
      const double c = 1 / std::sqrt(9 * d), x = 1 + c * z, v = x * x * x, w = u[2 * i];
      if (!std::isfinite(d)) {
        standard[i] = NAN;
      } else {
        const bool taken = v > 0 && (w <= 1 - 0.0331 * (z * z) * (z * z) ||
                                     std::log(w) < 0.5 * (z * z) + d * (1 - v + std::log(v)));
        if (!taken) continue;
        standard[i] = shape < 1 ? d * v * std::pow(u[2 * i + 1], 1 / shape) : d * v;
      }
      done[i] = 1;
      --left;
    }
  }
  for (int64_t i = 0; i < n; ++i) {
    double scale;
    p.b.read(i, 1, &scale);
    out[i] = (O)(standard[i] * scale);
    if (slope) slope[i] = (O)standard[i];
  }
}

int draw_gamma(const mx_call* call) {
  const Two<double> p(call);
  if (!p.fit<GammaParameters>())
    return mx_fail("ValueError: np.random.gamma: %s is required", GammaParameters::kNeeds);
  return into(call, [&](auto* out, auto* slope) {
    call->rng->serial_draw([&](Mt19937& e) { gammas(e, p, count(call->out[0]), out, slope); });
  });
}

// --- registration --------------------------------------------------------------------------------

__attribute__((constructor)) void register_numpy_random() {
  constexpr uint32_t kAll = MX_REAL_DTYPES;
  auto add = [](const char* name, mx_kernel kernel) { mx_kernel_add(name, kernel, kAll, 0); };
  add("np_uniform", draw<NpUniform>);
  add("np_normal", draw<NpNormal>);
  add("np_laplace", draw<NpLaplace>);
  add("np_gumbel", draw<NpGumbel>);
  add("np_logistic", draw<NpLogistic>);
  add("np_exponential", draw<NpExponential>);
  add("np_rayleigh", draw<NpRayleigh>);
  add("np_weibull", draw<NpWeibull>);
  add("np_pareto", draw<NpPareto>);
  add("np_powerd", draw<NpPower>);
  add("np_bernoulli", draw<NpBernoulli>);
  add("np_bernoulli_logit", draw<NpBernoulliLogit>);
  add("np_gamma", draw_gamma);
}

}  // namespace
