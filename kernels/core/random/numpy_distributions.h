// Elementwise distributions of `mx.np.random` and the base random numbers they transform.
#pragma once
#include <algorithm>
#include <cmath>
#include <type_traits>

#include "core/random/numpy_parameters.h"
#include "core/random/samplers.h"

namespace mx {

// Both numbers of each pair of Marsaglia's polar method, in the order of std::normal_distribution.
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

// The same numbers, n <= kBlock of them, generated in vectorised blocks. Drawn pairs are used up,
// except for the last number of a call with odd n.
inline void normals(Mt19937& e, float* out, int n) {
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

// sample(noise, a, b) and slope(noise, a, b), its derivative with respect to the last parameter;
// kNeeds describes what takes(a, b) checks. C is the type of parameters.

struct OfUnits {
  static constexpr bool kWordMore = false;  // whether a call consumes one extra, unused word
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

// Location-scale families of a standard distribution.
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

}  // namespace mx
