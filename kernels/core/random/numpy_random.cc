// Kernels of `mx.np.random`, which draw from the serial engine. A float32 number of the engine is
// made for each element, in order, and then becomes a sample; so numbers do not depend on the
// shapes or types of parameters.
#include <algorithm>
#include <cmath>
#include <numeric>
#include <unordered_map>
#include <vector>

#include "core/random/half.h"
#include "core/random/rng.h"
#include "core/random/samplers.h"
#include "core/tensor.h"
#include "params.gen.h"

using namespace mx;

namespace {

// --- what samples are made of --------------------------------------------------------------------

// n <= kBlock uniform numbers on [0, 1).
void units_below_one(Mt19937& e, float* out, int n) {
  units(e, out, n);
  for (int i = 0; i < n; ++i) out[i] = std::min(out[i], 0x1.fffffep-1f);
}

// Both numbers of each pair of Marsaglia's polar method, as std::normal_distribution gives them.
template <class F>
struct NormalPairs {
  F kept = 0;
  bool has = false;

  F next(Mt19937& e) {
    if (has) {
      has = false;
      return kept;
    }
    const F most = std::is_same<F, float>::value ? (F)0x1.fffffep-1f : (F)0x1.fffffffffffffp-1;
    F x, y, square;
    do {
      x = 2 * std::min(unit<F>(e), most) - 1;
      y = 2 * std::min(unit<F>(e), most) - 1;
      square = x * x + y * y;
    } while (square > 1 || square == 0);
    const F factor = std::sqrt(-2 * std::log(square) / square);
    kept = x * factor;
    has = true;
    return y * factor;
  }
};

// The same numbers, n <= kBlock of them and in blocks, which vectors compute. Pairs that are drawn
// are used up, but for the last number of a call of an odd size.
void normals(Mt19937& e, float* out, int n) {
  float u[kBlock + 2], x[kBlock / 2 + 2], y[kBlock / 2 + 2], square[kBlock / 2 + 2];
  for (int have = 0; have < n;) {
    const int pairs = (n - have + 1) / 2;
    units_below_one(e, u, std::min(2 * pairs, kBlock));
    int good = 0;
    for (int i = 0; i < pairs; ++i) {
      x[good] = 2 * u[2 * i] - 1;
      y[good] = 2 * u[2 * i + 1] - 1;
      square[good] = x[good] * x[good] + y[good] * y[good];
      good += square[good] <= 1 && square[good] != 0;
    }
    for (int i = 0; i < good; ++i) square[i] = std::sqrt(-2 * std::log(square[i]) / square[i]);
    for (int i = 0; i < good; ++i, have += 2) {
      out[have] = y[i] * square[i];
      if (have + 1 < n) out[have + 1] = x[i] * square[i];
    }
  }
}

// --- parameters ----------------------------------------------------------------------------------

// Call body(T{}) with the C++ type of an element type; false if it is none of these.
template <class Body>
bool with_type(int32_t dtype, const Body& body) {
  switch (dtype) {
    case MX_F32:
      return body(float{}), true;
    case MX_F64:
      return body(double{}), true;
    case MX_F16:
      return body(Half{}), true;
    case MX_U8:
    case MX_BOOL:
      return body(uint8_t{}), true;
    case MX_I8:
      return body(int8_t{}), true;
    case MX_I32:
      return body(int32_t{}), true;
    case MX_I64:
      return body(int64_t{}), true;
    default:
      return false;
  }
}

// A parameter of all samples: a number, or an array that is broadcast to the output.
template <class C>
struct Parameter {
  std::vector<C> values;
  std::vector<int64_t> extents, steps;  // of the output's dimensions
  bool whole = false;                   // as many values as samples

  explicit Parameter(double number) : values{(C)number} {}

  Parameter(const mx_tensor& t, const mx_tensor& out) : values((size_t)count(t)) {
    with_type(t.dtype, [&](auto zero) {
      const auto* from = static_cast<const decltype(zero)*>(t.data);
      for (size_t i = 0; i < values.size(); ++i) values[i] = (C)from[i];
    });
    whole = count(t) == count(out);
    extents.assign(out.shape, out.shape + out.ndim);
    steps.assign((size_t)out.ndim, 0);
    int64_t step = 1;
    for (int i = t.ndim - 1, o = out.ndim - 1; i >= 0; --i, --o) {
      steps[o] = t.shape[i] == 1 ? 0 : step;
      step *= t.shape[i];
    }
  }

  // The values for samples [begin, begin + n).
  void read(int64_t begin, int n, C* to) const {
    if (values.size() == 1) {
      std::fill_n(to, n, values[0]);
      return;
    }
    if (whole) {
      std::copy_n(values.data() + begin, n, to);
      return;
    }
    for (int i = 0; i < n; ++i) {
      int64_t left = begin + i, at = 0;
      for (size_t d = extents.size(); d-- > 0; left /= extents[d])
        at += left % extents[d] * steps[d];
      to[i] = values[(size_t)at];
    }
  }
};

// --- distributions -------------------------------------------------------------------------------
// sample(noise, a, b) and slope(noise, a, b), its derivative by the last parameter; kNeeds says
// what takes(a, b) wants. C is the type of parameters.

struct OfUnits {
  static constexpr bool kWordMore = false;  // whether a call takes one that it does not use
  static constexpr auto draw = units_below_one;
};
struct PositiveScale : OfUnits {
  static constexpr const char* kNeeds = "scale >= 0";
  template <class C>
  static bool takes(C, C scale) {
    return scale >= 0;
  }
};
struct PositiveShape : OfUnits {
  static constexpr const char* kNeeds = "a > 0";
  template <class C>
  static bool takes(C, C a) {
    return a > 0;
  }
};

struct NpUniform : OfUnits {
  static constexpr const char* kNeeds = "";
  template <class C>
  static bool takes(C, C) {
    return true;
  }
  template <class C>
  static C sample(float u, C low, C high) {
    return low + (high - low) * u;
  }
  template <class C>
  static C slope(float u, C, C) {
    return u;
  }
};

// Distributions that are a standard one, moved and stretched.
template <class D, class Base = PositiveScale>
struct LocationScale : Base {
  template <class C>
  static C sample(float noise, C loc, C scale) {
    return loc + D::standard(noise) * scale;
  }
  template <class C>
  static C slope(float noise, C, C) {
    return D::standard(noise);
  }
};

struct NpNormal : LocationScale<NpNormal> {
  static constexpr auto draw = normals;
  static float standard(float z) { return z; }
};
struct NpLaplace : LocationScale<NpLaplace> {
  static float standard(float u) { return u < 0.5f ? std::log(2 * u) : -std::log(2 - 2 * u); }
};
struct NpGumbel : LocationScale<NpGumbel> {
  static float standard(float u) { return -std::log(-std::log(u)); }
};
struct NpLogistic : LocationScale<NpLogistic> {
  static float standard(float u) { return std::log(u) - std::log(1 - u); }
};
struct NpExponential : LocationScale<NpExponential> {
  static float standard(float u) { return -std::log(u); }
};
struct NpRayleigh : LocationScale<NpRayleigh> {
  static float standard(float u) { return std::sqrt(-2 * std::log(u)); }
};

struct NpWeibull : PositiveShape {
  template <class C>
  static C sample(float u, C, C a) {
    return std::pow((C)-std::log(u), 1 / a);
  }
  template <class C>
  static C slope(float u, C, C a) {
    const C rate = -std::log(u);
    return rate > 0 ? -std::pow(rate, 1 / a) * std::log(rate) / (a * a) : 0;
  }
};
struct NpPareto : PositiveShape {
  template <class C>
  static C sample(float u, C, C a) {
    return std::exp((C)-std::log(u) / a) - 1;
  }
  template <class C>
  static C slope(float u, C, C a) {
    const C rate = -std::log(u);
    return -std::exp(rate / a) * rate / (a * a);
  }
};
struct NpPower : PositiveShape {
  static constexpr bool kWordMore = true;
  template <class C>
  static C sample(float u, C, C a) {
    return std::pow((C)(1 - u), 1 / a);
  }
  template <class C>
  static C slope(float u, C, C a) {
    const C rest = 1 - u;
    return -std::pow(rest, 1 / a) * std::log(rest) / (a * a);
  }
};

struct NpBernoulli : OfUnits {
  static constexpr const char* kNeeds = "0 <= prob <= 1";
  template <class C>
  static bool takes(C, C prob) {
    return prob >= 0 && prob <= 1;
  }
  template <class C>
  static float sample(float u, C, C prob) {
    return prob > u;
  }
  template <class C>
  static float slope(float, C, C) {
    return 0;
  }
};
struct NpBernoulliLogit : NpBernoulli {
  template <class C>
  static bool takes(C, C) {
    return true;
  }
  template <class C>
  static float sample(float u, C, C logit) {
    return logit > std::log(u) - std::log(1 - u);
  }
};

// --- kernels -------------------------------------------------------------------------------------

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

// fill(zero, out, slope): out[0] has samples; out[1], if it is there, their derivative.
template <class Fill>
int into(const mx_call* call, const Fill& fill) {
  const bool known = with_type(call->out[0].dtype, [&](auto zero) {
    using O = decltype(zero);
    fill(static_cast<O*>(call->out[0].data),
         call->nout > 1 ? static_cast<O*>(call->out[1].data) : (O*)nullptr);
  });
  return known ? 0 : mx_fail("np.random makes no elements of type %d", call->out[0].dtype);
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
// then all normal ones, and elements that it refuses wait for the next.
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

// --- integers ------------------------------------------------------------------------------------

std::vector<double> cumulated(const mx_tensor& t) {
  std::vector<double> sums = Parameter<double>(t, t).values;
  for (size_t i = 1; i < sums.size(); ++i) sums[i] += sums[i - 1];
  return sums;
}

// How many of n draws fall to each probability of in[0], for each row of the output.
int multinomial(const mx_call* call) {
  const auto* p = static_cast<const mx_numpy_choice_params*>(call->params);
  const int64_t draws = p->n;
  const std::vector<double> sums = cumulated(call->in[0]);
  const int64_t choices = (int64_t)sums.size(), n = count(call->out[0]);
  auto* out = static_cast<int64_t*>(call->out[0].data);
  std::fill_n(out, n, 0);
  if (n == 0) return 0;
  if (choices > 1 && !(sums[choices - 2] <= 1.0 + 1e-5))
    return mx_fail("ValueError: np.random.multinomial: sum(pvals[:-1]) <= 1 is required");
  call->rng->serial_draw([&](Mt19937& e) {
    for (int64_t* row = out; row < out + n; row += choices) {
      for (int64_t i = 0; i < draws; ++i) {
        const auto found = std::upper_bound(sums.begin(), sums.end() - 1, unit<double>(e));
        ++row[found - sums.begin()];
      }
    }
    for (int64_t i = 0; i < p->spare; ++i) e.next();
  });
  return 0;
}

// k of n numbers, each at most once: places of a list of all change their numbers. at(place) is
// one.
template <class Places>
void sample_places(Mt19937& e, int64_t n, int64_t k, int64_t* out, const Places& at) {
  const int64_t words = std::min(k, n - k), start = n - words;
  for (int64_t i = 0; i < words; ++i) {
    const int64_t z = e.next() % (i + start + 1);
    if (z < start) std::swap(at(z), at(i + start));
  }
  const int64_t first = 2 * k < n ? n - k : 0;
  for (int64_t i = 0; i < k; ++i) out[i] = at(first + i);
}

// A list much longer than the result keeps only the places that are looked at.
void sample_once(Mt19937& e, int64_t n, int64_t k, int64_t* out) {
  if (n / 64 <= k + 64) {
    std::vector<int64_t> all((size_t)n);
    std::iota(all.begin(), all.end(), 0);
    sample_places(e, n, k, out, [&](int64_t place) -> int64_t& { return all[place]; });
  } else {
    std::unordered_map<int64_t, int64_t> some;
    sample_places(e, n, k, out, [&](int64_t place) -> int64_t& {
      return some.try_emplace(place, place).first->second;
    });
  }
}

// The same by keys whose order follows the weights.
void sample_once_weighted(Mt19937& e, const std::vector<float>& weights, int64_t k, int64_t* out) {
  std::vector<float> keys(weights.size());
  for (size_t i = 0; i < keys.size(); ++i) {
    float u;
    units_below_one(e, &u, 1);
    keys[i] = -std::log(-std::log(u)) + std::log(weights[i]);
  }
  std::vector<int64_t> order(keys.size());
  for (size_t i = 0; i < order.size(); ++i) order[i] = (int64_t)i;
  std::stable_sort(order.begin(), order.end(),
                   [&](int64_t a, int64_t b) { return keys[a] > keys[b]; });
  std::copy_n(order.begin(), k, out);
}

int choice(const mx_call* call) {
  const auto* p = static_cast<const mx_numpy_choice_params*>(call->params);
  auto* out = static_cast<int64_t*>(call->out[0].data);
  const int64_t k = count(call->out[0]);
  if (k == 0) return 0;
  std::vector<float> weights;
  if (call->nin) weights = Parameter<float>(call->in[0], call->in[0]).values;
  call->rng->serial_draw([&](Mt19937& e) {
    if (!p->replace) {
      call->nin ? sample_once_weighted(e, weights, k, out) : sample_once(e, p->n, k, out);
    } else if (!call->nin) {
      for (int64_t i = 0; i < k; ++i) out[i] = e.next() % p->n;
    } else {
      for (size_t i = 1; i < weights.size(); ++i) weights[i] += weights[i - 1];
      for (int64_t i = 0; i < k; ++i) {
        float u;
        units_below_one(e, &u, 1);
        const auto found = std::lower_bound(weights.begin(), weights.end() - 1, u);
        out[i] = found - weights.begin();
      }
    }
  });
  return 0;
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
  add("np_multinomial", multinomial);
  add("np_choice", choice);
}

}  // namespace
