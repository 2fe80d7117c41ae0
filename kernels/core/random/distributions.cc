// Kernels that draw from a distribution, with scalar parameters or one set of parameters per row.
// The values are those of MXNet 1.9.1.
#include <vector>

#include "core/random/half.h"
#include "core/random/rng.h"
#include "core/random/samplers.h"
#include "core/tensor.h"
#include "params/random.gen.h"

using namespace mx;

namespace {

// Call body(T{}) with the C++ type of a floating-point dtype.
template <class Body>
int with_real(int32_t dtype, const Body& body) {
  switch (dtype) {
    case MX_F32:
      return body(float{});
    case MX_F64:
      return body(double{});
    case MX_F16:
      return body(Half{});
    default:
      return mx_fail("random kernels generate float16, float32 or float64, not dtype %d", dtype);
  }
}

template <class D>
int scalar_form(const mx_call* call) {
  // Every mx_random_*_params is one double per parameter.
  const double* p = static_cast<const double*>(call->params);
  const float a = (float)p[0], b = (float)p[D::kParameters - 1];
  if (!D::accepts(a, b)) return mx_fail("%s is required, got %g and %g", D::kNeeds, a, b);
  const mx_tensor& out = call->out[0];
  return with_real(out.dtype, [&](auto zero) {
    auto* to = static_cast<decltype(zero)*>(out.data);
    call->rng->parallel_draw(
        count(out), call->threads,
        [=](Mt19937& e, int64_t begin, int64_t end) { D::fill(e, to + begin, end - begin, a, b); });
    return 0;
  });
}

// out[r, :] from parameters a[r] and b[r].
template <class D, class I>
int draw_rows(const mx_call* call, const I* a, const I* b) {
  const mx_tensor& out = call->out[0];
  const int64_t n = count(out), row = n / count(call->in[0]);
  return with_real(out.dtype, [&](auto zero) {
    auto* to = static_cast<decltype(zero)*>(out.data);
    call->rng->parallel_draw(n, call->threads, [=](Mt19937& e, int64_t begin, int64_t end) {
      for (int64_t i = begin, r = begin / row; i < end; ++r) {
        const int64_t next = (r + 1) * row < end ? (r + 1) * row : end;
        D::fill(e, to + i, next - i, a[r], b[r]);
        i = next;
      }
    });
    return 0;
  });
}

template <class T>
void widen(const mx_tensor& t, std::vector<float>& to) {
  const T* from = static_cast<const T*>(t.data);
  to.assign(from, from + count(t));
}

// Integer parameters as float32.
std::vector<float> as_floats(const mx_tensor& t) {
  std::vector<float> values;
  switch (t.dtype) {
    case MX_U8:
      widen<uint8_t>(t, values);
      break;
    case MX_I8:
      widen<int8_t>(t, values);
      break;
    case MX_I32:
      widen<int32_t>(t, values);
      break;
    case MX_I64:
      widen<int64_t>(t, values);
      break;
  }
  return values;
}

template <class D>
int row_form(const mx_call* call) {
  const mx_tensor &first = call->in[0], &second = call->in[D::kParameters - 1];
  if (count(call->out[0]) == 0) return 0;
  if (first.dtype == MX_F32 || first.dtype == MX_F64 || first.dtype == MX_F16) {
    return with_real(first.dtype, [&](auto zero) {
      using I = decltype(zero);
      return draw_rows<D>(call, static_cast<const I*>(first.data),
                          static_cast<const I*>(second.data));
    });
  }
  const std::vector<float> a = as_floats(first), b = as_floats(second);
  return draw_rows<D>(call, a.data(), b.data());
}

// Uniform integers: 63 bits from two engine outputs, modulo the range.
int randint(const mx_call* call) {
  const auto* p = static_cast<const mx_randint_params*>(call->params);
  const uint64_t low = (uint64_t)p->low, range = (uint64_t)p->high - low;
  if (p->low >= p->high) return mx_fail("randint: low must be less than high");
  const mx_tensor& out = call->out[0];
  call->rng->parallel_draw(count(out), call->threads, [&](Mt19937& e, int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const uint64_t high_bits = (uint64_t)e.next() << 31;
      const uint64_t value = low + (high_bits + e.next()) % range;
      if (out.dtype == MX_I64)
        static_cast<int64_t*>(out.data)[i] = (int64_t)value;
      else
        static_cast<int32_t*>(out.data)[i] = (int32_t)value;
    }
  });
  return 0;
}

constexpr uint32_t kReal = 1u << MX_F32 | 1u << MX_F64 | 1u << MX_F16;
constexpr uint32_t kInteger = 1u << MX_U8 | 1u << MX_I8 | 1u << MX_I32 | 1u << MX_I64;

template <class D>
void add(const char* scalar_name, const char* row_name) {
  mx_kernel_add(scalar_name, scalar_form<D>, kReal, 0);
  mx_kernel_add(row_name, row_form<D>, kReal | kInteger, 0);
}

__attribute__((constructor)) void register_random_kernels() {
  add<Uniform>("random_uniform", "sample_uniform");
  add<Normal>("random_normal", "sample_normal");
  add<Exponential>("random_exponential", "sample_exponential");
  add<Gamma>("random_gamma", "sample_gamma");
  add<Poisson>("random_poisson", "sample_poisson");
  add<Binomial>("random_binomial", "sample_binomial");
  add<NegativeBinomial>("random_negative_binomial", "sample_negative_binomial");
  add<GeneralizedNegativeBinomial>("random_generalized_negative_binomial",
                                   "sample_generalized_negative_binomial");
  mx_kernel_add("random_randint", randint, 1u << MX_I32 | 1u << MX_I64, 0);
}

}  // namespace
