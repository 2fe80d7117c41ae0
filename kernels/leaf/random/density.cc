// "pdf_<distribution>" (samples, parameters): probability densities or their logarithms, computed
// in double. There is one set of parameters per run of samples, or per sample if runs have length
// 1.
#include "leaf/simd/runs.h"
#include "leaf/simd/special.h"
#include "params/random.gen.h"

MX_LEAF_BEGIN
namespace {

// Logarithm of the gamma function. Positive arguments below 8 are shifted up by the recurrence
// before Stirling's series is used; other arguments go to the C library.
MX_INLINE VD log_gamma(VD x) {
  if (any(~((x > 0) & (x < Real<VD>::infinity)))) return gammaln(x);
  VD product = splat<VD>(1);
  while (any(x < 8)) {
    product = x < 8 ? product * x : product;
    x = x < 8 ? x + 1 : x;
  }
  static constexpr double series[] = {1. / 12,   -1. / 360,       1. / 1260, -1. / 1680,
                                      1. / 1188, -691. / 360360., 1. / 156};
  const VD inverse = 1 / x, z = inverse * inverse;
  VD correction = splat<VD>(series[6]);
  for (int i = 5; i >= 0; --i) correction = fma(correction, z, splat<VD>(series[i]));
  return (x - 0.5) * log(x) - x + 0.91893853320467274178 + correction * inverse - log(product);
}

// Each is constructed from the parameters and returns the log-density at x.
struct Uniform {
  static constexpr int parameters = 2;
  VD log_density;
  explicit Uniform(const VD* p) : log_density(-log(p[1] - p[0])) {}
  VD operator()(VD) const { return log_density; }
};
struct Normal {
  static constexpr int parameters = 2;
  VD mean, inverse, scale;
  explicit Normal(const VD* p)
      : mean(p[0]), inverse(1 / p[1]), scale(log(p[1]) + 0.91893853320467274178) {}
  VD operator()(VD x) const {
    const VD off = (x - mean) * inverse;
    return -0.5 * off * off - scale;
  }
};
struct Exponential {
  static constexpr int parameters = 1;
  VD rate, log_rate;
  explicit Exponential(const VD* p) : rate(p[0]), log_rate(log(p[0])) {}
  VD operator()(VD x) const { return log_rate - rate * x; }
};
struct Gamma {
  static constexpr int parameters = 2;
  VD shape, rate, scale;
  explicit Gamma(const VD* p)
      : shape(p[0]), rate(p[1]), scale(p[0] * log(p[1]) - log_gamma(p[0])) {}
  VD operator()(VD x) const { return scale + (shape - 1) * log(x) - rate * x; }
};
struct Poisson {
  static constexpr int parameters = 1;
  VD rate, log_rate;
  explicit Poisson(const VD* p) : rate(p[0]), log_rate(log(p[0])) {}
  VD operator()(VD x) const { return x * log_rate - log_gamma(x + 1) - rate; }
};
struct NegativeBinomial {
  static constexpr int parameters = 2;
  VD count, log_other, scale;
  explicit NegativeBinomial(const VD* p) : NegativeBinomial(p[0], p[1]) {}
  NegativeBinomial(VD count, VD p)
      : count(count), log_other(log1p(-p)), scale(count * log(p) - log_gamma(count)) {}
  VD operator()(VD x) const {
    return log_gamma(x + count) - log_gamma(x + 1) + scale + x * log_other;
  }
};
struct GeneralizedNegativeBinomial : NegativeBinomial {
  explicit GeneralizedNegativeBinomial(const VD* p)
      : NegativeBinomial(1 / p[1], 1 / (p[0] * p[1] + 1)) {}
};

template <class T>
struct Half {  // of a vector: as many elements as a vector has doubles
  typedef T type __attribute__((vector_size(kLanes<double> * sizeof(T))));
};
// Missing lanes are ones, which are in the domain of every function.
template <class T>
MX_INLINE VD read(const T* from, int n) {
  typename Half<T>::type value = (T)1 - typename Half<T>::type{};
  n == kLanes<double> ? __builtin_memcpy(&value, from, sizeof value)
                      : __builtin_memcpy(&value, from, (size_t)n * sizeof(T));
  return __builtin_convertvector(value, VD);
}
template <class T>
MX_INLINE void write(T* to, VD x, int n) {
  const auto value = __builtin_convertvector(x, typename Half<T>::type);
  n == kLanes<double> ? __builtin_memcpy(to, &value, sizeof value)
                      : __builtin_memcpy(to, &value, (size_t)n * sizeof(T));
}

template <class Density, class T>
int density(const mx_call* call) {
  const auto& p = *(const mx_density_params*)call->params;
  constexpr int L = kLanes<double>, N = Density::parameters;
  const T* samples = data<T>(call->in[0]);
  T* out = data<T>(call->out[0]);
  const auto each = [&](const Density& at, int64_t i, int n) MX_ALWAYS {
    const VD value = at(read(samples + i, n));
    write(out + i, p.is_log ? value : exp(value), n);
  };
  if (p.length == 1) {
    parallel_for(call->threads, p.distributions, 16 * L, [&](int64_t begin, int64_t end) {
      VD own[N];
      for (int64_t i = begin; i < end; i += L) {
        const int n = (int)least(L, end - i);
        for (int k = 0; k < N; ++k) own[k] = read(data<T>(call->in[1 + k]) + i, n);
        each(Density(own), i, n);
      }
    });
    return 0;
  }
  parallel_for(call->threads, p.distributions, 1, [&](int64_t begin, int64_t end) {
    VD own[N];
    for (int64_t r = begin; r < end; ++r) {
      for (int k = 0; k < N; ++k) own[k] = splat<VD>((double)data<T>(call->in[1 + k])[r]);
      const Density at(own);
      for (int64_t i = 0; i < p.length; i += L)
        each(at, r * p.length + i, (int)least(L, p.length - i));
    }
  });
  return 0;
}

inline double total(VD x) {
  double sum = 0;
  for (int e = 0; e < kLanes<double>; ++e) sum += x[e];
  return sum;
}

template <class T>
int dirichlet(const mx_call* call) {
  const auto& p = *(const mx_density_params*)call->params;
  constexpr int L = kLanes<double>;
  const mx_tensor& samples = call->in[0];
  const int64_t size = samples.shape[samples.ndim - 1];
  parallel_for(call->threads, p.distributions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t d = begin; d < end; ++d) {
      const T* alpha = data<T>(call->in[1]) + d * size;
      VD gammas = {};
      double sum = 0;
      for (int64_t i = 0; i < size; i += L)
        gammas += log_gamma(read(alpha + i, (int)least(L, size - i)));
      for (int64_t i = 0; i < size; ++i) sum += alpha[i];
      const double scale = log_gamma(splat<VD>(sum))[0] - total(gammas);
      for (int64_t r = d * p.length; r < (d + 1) * p.length; ++r) {
        const T* row = data<T>(samples) + r * size;
        VD logs = {};
        for (int64_t i = 0; i < size; i += L) {
          const int n = (int)least(L, size - i);
          logs += (read(alpha + i, n) - 1) * log(read(row + i, n));
        }
        const double value = total(logs) + scale;
        data<T>(call->out[0])[r] = (T)(p.is_log ? value : exp(splat<VD>(value))[0]);
      }
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("pdf_dirichlet", dirichlet<T>, dtype, 0);
  mx_kernel_add("pdf_uniform", density<Uniform, T>, dtype, 0);
  mx_kernel_add("pdf_normal", density<Normal, T>, dtype, 0);
  mx_kernel_add("pdf_exponential", density<Exponential, T>, dtype, 0);
  mx_kernel_add("pdf_gamma", density<Gamma, T>, dtype, 0);
  mx_kernel_add("pdf_poisson", density<Poisson, T>, dtype, 0);
  mx_kernel_add("pdf_negative_binomial", density<NegativeBinomial, T>, dtype, 0);
  mx_kernel_add("pdf_generalized_negative_binomial", density<GeneralizedNegativeBinomial, T>, dtype,
                0);
}

}  // namespace

void register_density() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
