// Parameters of the `mx.np.random` kernels, and the uniform numbers they start from.
#pragma once
#include <algorithm>
#include <vector>

#include "core/random/half.h"
#include "core/random/samplers.h"
#include "core/tensor.h"

namespace mx {

// n <= kBlock uniform numbers in [0, 1).
inline void units_below_one(Mt19937& e, float* out, int n) {
  units(e, out, n);
  for (int i = 0; i < n; ++i) out[i] = std::min(out[i], 0x1.fffffep-1f);
}

// Call body(T{}) with the C++ type of a dtype; false if it is not one of these.
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

// A distribution parameter: a scalar, or an array broadcast to the output.
template <class C>
struct Parameter {
  std::vector<C> values;
  std::vector<int64_t> extents, steps;  // per output dimension
  bool whole = false;                   // one value per sample

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

  // Read the values for samples [begin, begin + n).
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

}  // namespace mx
