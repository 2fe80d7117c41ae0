// Samplers of the distributions.
//
// The types of intermediate results are part of the stream: engine outputs become Real<O> for
// output type O, parameters have type I, and literals are doubles. Changing the type or the order
// of a step changes the stream.
#pragma once
#include <cmath>
#include <type_traits>

#include "core/random/half.h"
#include "core/random/mt19937.h"

namespace mx {

constexpr int kBlock = 256;

template <class O>
using Real = std::conditional_t<std::is_same<O, float>::value, float, double>;

// --- uniform on [0, 1]: the largest engine outputs round to 1 -----------------------------------

inline void unit(Mt19937& e, float* value) { *value = (float)e.next() * 0x1p-32f; }
inline void unit(Mt19937& e, double* value) {
  const double low = e.next();
  *value = (low + e.next() * 0x1p32) * 0x1p-64;
}
template <class F>
inline F unit(Mt19937& e) {
  F value;
  unit(e, &value);
  return value;
}

// n <= kBlock of them.
inline void units(Mt19937& e, float* out, int n) {
  uint32_t words[kBlock];
  e.next(words, n);
  for (int i = 0; i < n; ++i) out[i] = (float)words[i] * 0x1p-32f;
}
inline void units(Mt19937& e, double* out, int n) {
  uint32_t words[2 * kBlock];
  e.next(words, 2 * n);
  for (int i = 0; i < n; ++i) out[i] = (words[2 * i] + words[2 * i + 1] * 0x1p32) * 0x1p-64;
}

// --- integers on [0, n), n <= 2^32, as std::uniform_int_distribution was before gcc 11 -----------

inline uint32_t below(Mt19937& e, uint64_t n) {
  const uint64_t each = 0xffffffffu / n, past = each * n;
  uint64_t value;
  do value = e.next();
  while (value >= past);
  return (uint32_t)(value / each);
}

// --- standard normal: Marsaglia's polar method, one number of each accepted pair -----------------

template <class F>
inline F standard_normal(Mt19937& e) {
  F x, y, square;
  do {
    x = 2 * unit<F>(e) - 1;
    y = 2 * unit<F>(e) - 1;
    square = x * x + y * y;
  } while (square > 1 || square == 0);
  return y * std::sqrt(-2 * std::log(square) / square);
}

// n <= kBlock of them. A pair gives at most one number, so drawing one pair per missing number
// never draws too many.
template <class F>
inline void standard_normals(Mt19937& e, F* out, int n) {
  constexpr int kPairs = kBlock / 2;
  F u[2 * kPairs], y[kPairs + 1], square[kPairs + 1];
  for (int have = 0; have < n;) {
    const int pairs = n - have < kPairs ? n - have : kPairs;
    units(e, u, 2 * pairs);
    int good = 0;
    for (int i = 0; i < pairs; ++i) {
      const F x = 2 * u[2 * i] - 1;
      y[good] = 2 * u[2 * i + 1] - 1;
      square[good] = x * x + y[good] * y[good];
      good += square[good] <= 1 && square[good] != 0;
    }
    F* to = out + have;
    for (int i = 0; i < good; ++i) to[i] = std::log(square[i]);
    for (int i = 0; i < good; ++i) to[i] = y[i] * std::sqrt(-2 * to[i] / square[i]);
    have += good;
  }
}

// --- derived from these two ----------------------------------------------------------------------

// Marsaglia and Tsang, "A simple method for generating gamma variables" (2000).
template <class F, class I>
inline F gamma_sample(Mt19937& e, I shape, I scale) {
  const bool boost = shape < 1;
  const F d = (F)(boost ? shape + 2.0 / 3.0 : shape - 1.0 / 3.0);
  if (!(d > 0 && d < INFINITY)) return (F)NAN;  // no proposal would be accepted
  const F k = (F)std::sqrt(9.0 * d), c = (F)(1.0 / k);
  for (;;) {
    const F z = standard_normal<F>(e);
    if (!(z > -k)) continue;
    const F x = (F)(1.0 + c * z), v = x * x * x;
    const double bound = 0.5 * z * z + d * (1.0 - v + std::log((double)v));
    if (!(std::log(1.0 - unit<F>(e)) < bound)) continue;
    const F sample = (F)(d * v * scale);
    return boost ? (F)(sample * std::pow((double)unit<F>(e), (double)(F)(1.0 / shape))) : sample;
  }
}

// std::lgamma writes to a global variable.
inline float log_gamma(float x) {
  int sign;
  return lgammaf_r(x, &sign);
}

// Products of uniforms for small rates; rejection from a Cauchy envelope (Numerical Recipes,
// poidev) for large ones. In float for every output type.
inline float poisson_sample(Mt19937& e, float rate) {
  if (rate < 12.0f) {
    const float threshold = std::exp(-rate);
    int count = 0;
    for (float product = unit<float>(e); product > threshold; product *= unit<float>(e)) ++count;
    return (float)count;
  }
  const float pi = 3.1415926f, spread = (float)std::sqrt(2.0 * rate);
  const float log_rate = (float)std::log((double)rate);
  const float peak = rate * log_rate - log_gamma((float)(rate + 1.0));
  float count, accept, y;
  do {
    do {
      y = std::tan(pi * unit<float>(e));
      count = spread * y + rate;
    } while (count < 0.0f);
    count = std::floor(count);
    const float log_mass = count * log_rate - log_gamma((float)(count + 1.0)) - peak;
    accept = (float)(0.9 * (1.0 + y * y) * std::exp(log_mass));
  } while (unit<float>(e) > accept);
  return count;
}

// Bernoulli trials if there are few; otherwise the gaps between rare successes, or rejection from a
// Cauchy envelope (Numerical Recipes, bnldev). In float for every output type; NaN for invalid
// parameters.
inline float binomial_sample(Mt19937& e, float tried, float chance) {
  if (!(tried >= 0 && tried < 0x1p31f && chance >= 0 && chance <= 1)) return NAN;
  const int trials = (int)tried;
  const float n = (float)trials, p = chance > 0.5f ? 1 - chance : chance, mean = n * p;
  float count = 0;
  if (trials < 25) {
    for (int i = 0; i < trials; ++i) count += unit<float>(e) < p;
  } else if (mean < 1.0f) {
    const float log_q = std::log1p(-p);
    for (float place = 0;; ++count) {
      place += 1 + std::floor(std::log(unit<float>(e)) / log_q);
      if (!(place <= n)) break;
    }
  } else {
    const float pi = 3.1415926f, spread = std::sqrt(2 * mean * (1 - p)), whole = log_gamma(n + 1);
    const float log_p = std::log(p), log_q = std::log(1 - p);
    float accept, y;
    do {
      do {
        y = std::tan(pi * unit<float>(e));
        count = spread * y + mean;
      } while (count < 0 || count >= n + 1);
      count = std::floor(count);
      const float log_mass = whole - log_gamma(count + 1) - log_gamma(n - count + 1) +
                             count * log_p + (n - count) * log_q;
      accept = 1.2f * spread * (1 + y * y) * std::exp(log_mass);
    } while (unit<float>(e) > accept);
  }
  return p == chance ? count : n - count;
}

// --- distributions -------------------------------------------------------------------------------
// fill(engine, out, n, a, b) with parameters of type I; kNeeds describes what accepts(a, b) checks.

// Base of distributions that draw one sample at a time.
template <class D>
struct OneByOne {
  template <class O, class I>
  static void fill(Mt19937& e, O* out, int64_t n, I a, I b) {
    for (int64_t i = 0; i < n; ++i) out[i] = D::template sample<O, I>(e, a, b);
  }
};

// draw(engine, values, m), kUnits or kNormals, generates blocks; out[i] = finish(value).
constexpr auto kUnits = [](Mt19937& e, auto* values, int m) { units(e, values, m); };
constexpr auto kNormals = [](Mt19937& e, auto* values, int m) { standard_normals(e, values, m); };
template <class O, class Draw, class Finish>
inline void fill_blocks(Mt19937& e, O* out, int64_t n, const Draw& draw, const Finish& finish) {
  Real<O> values[kBlock];
  for (int64_t done = 0; done < n; done += kBlock) {
    const int m = n - done < kBlock ? (int)(n - done) : kBlock;
    draw(e, values, m);
    for (int i = 0; i < m; ++i) out[done + i] = finish(values[i]);
  }
}

struct Uniform {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "low <= high";
  static bool accepts(float low, float high) { return low <= high; }
  template <class O, class I>
  static void fill(Mt19937& e, O* out, int64_t n, I low, I high) {
    fill_blocks(e, out, n, kUnits, [=](Real<O> u) { return (O)(low + (high - low) * u); });
  }
};

struct Normal {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "scale > 0";
  static bool accepts(float, float scale) { return scale > 0; }
  template <class O, class I>
  static void fill(Mt19937& e, O* out, int64_t n, I mean, I deviation) {
    fill_blocks(e, out, n, kNormals, [=](Real<O> z) { return (O)(z * deviation + mean); });
  }
};

struct Exponential {
  static constexpr int kParameters = 1;
  static constexpr const char* kNeeds = "lam > 0";
  static bool accepts(float lam, float) { return lam > 0; }
  template <class O, class I>
  static void fill(Mt19937& e, O* out, int64_t n, I rate, I) {
    fill_blocks(e, out, n, kUnits, [=](Real<O> u) { return (O)(-std::log(1.0 - u) / rate); });
  }
};

struct Gamma : OneByOne<Gamma> {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "alpha > 0 and beta > 0";
  static bool accepts(float alpha, float beta) { return alpha > 0 && beta > 0; }
  template <class O, class I>
  static O sample(Mt19937& e, I shape, I scale) {
    using F = std::conditional_t<std::is_same<O, double>::value, double, float>;
    return (O)gamma_sample<F>(e, shape, scale);
  }
};

struct Poisson : OneByOne<Poisson> {
  static constexpr int kParameters = 1;
  static constexpr const char* kNeeds = "lam >= 0";
  static bool accepts(float lam, float) { return lam >= 0; }
  template <class O, class I>
  static O sample(Mt19937& e, I rate, I) {
    return (O)poisson_sample(e, (float)rate);
  }
};

struct NegativeBinomial : OneByOne<NegativeBinomial> {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "k >= 0 and 0 < p <= 1";
  static bool accepts(float k, float p) { return k >= 0 && p > 0 && p <= 1; }
  template <class O, class I>
  static O sample(Mt19937& e, I failures, I probability) {
    const float p = (float)probability, odds = (float)((1.0 - p) / p);
    return (O)poisson_sample(e, gamma_sample<float>(e, failures, (I)odds));
  }
};

struct Binomial : OneByOne<Binomial> {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "n >= 0 and 0 <= p <= 1";
  static bool accepts(float n, float p) { return n >= 0 && p >= 0 && p <= 1; }
  template <class O, class I>
  static O sample(Mt19937& e, I trials, I chance) {
    return (O)binomial_sample(e, (float)trials, (float)chance);
  }
};

struct GeneralizedNegativeBinomial : OneByOne<GeneralizedNegativeBinomial> {
  static constexpr int kParameters = 2;
  static constexpr const char* kNeeds = "mu >= 0 and alpha >= 0";
  static bool accepts(float mu, float alpha) { return mu >= 0 && alpha >= 0; }
  template <class O, class I>
  static O sample(Mt19937& e, I mean, I dispersion) {
    const float rate = dispersion == (I)0.0f
                           ? (float)mean
                           : gamma_sample<float>(e, (I)1.0f / dispersion, dispersion * mean);
    return (O)poisson_sample(e, rate);
  }
};

}  // namespace mx
