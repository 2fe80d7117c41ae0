// Normalisation without learned parameters: "l2_normalize" (data -> output, norm) along the middle
// of (outer, extent, inner) arrays; "lrn" (data -> output, norm) and "lrn_grad" (gradient, data,
// norm) over neighbouring channels of (outer, channels, inner) arrays.
#include "core/scratch.h"
#include "math.h"
#include "runs.h"

MX_LEAF_BEGIN
namespace {

template <class S>
MX_INLINE Vec<Sum<S>> read(const S* src, int n) {
  typedef Sum<S> T;
  return n == kLanes<T> ? load_as<T>(src) : load_first_as<T>(src, n);
}
template <class S>
MX_INLINE void write(S* dst, Vec<Sum<S>> x, int n) {
  n == kLanes<Sum<S>> ? store_as(dst, x) : store_first_as(dst, x, n);
}

// body(offset of a vector in the array, its offset among the inner elements, lanes) for the first
// vectors of every line; false if a body returned false.
template <class T, class Body>
bool each_column(int threads, int64_t outer, int64_t extent, int64_t inner, const Body& body) {
  constexpr int L = kLanes<T>;
  const int64_t vectors = (inner + L - 1) / L;
  bool ok = true;
  parallel_for(threads, outer * vectors, 256 / (extent + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t column = i % vectors * L, o = i / vectors;
      if (!body(o * extent * inner + column, o * inner + column, (int)least(inner - column, L))) {
        ok = false;
      }
    }
  });
  return ok;
}

template <class S>
int l2_normalize(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_l2_normalize_params*)call->params;
  const S* in = data<S>(call->in[0]);
  S *out = data<S>(call->out[0]), *norm = data<S>(call->out[1]);
  if (p.inner == 1) {
    parallel_for(call->threads, p.outer, 1, [&](int64_t begin, int64_t end) {
      for (int64_t r = begin; r < end; ++r) {
        const S* row = in + r * p.extent;
        const double squares = sum_run<T>(p.extent, [](auto x) { return x * x; }, row);
        const T root = (T)__builtin_sqrt(squares + p.eps);
        if (norm) store_scalar(norm + r, root);
        map_run(p.extent, out + r * p.extent, [=](auto x) { return x / root; }, row);
      }
    });
    return 0;
  }
  each_column<T>(call->threads, p.outer, p.extent, p.inner, [&](int64_t at, int64_t line, int n) {
    Vec<T> squares = splat<Vec<T>>((T)p.eps);
    for (int64_t k = 0; k < p.extent; ++k) {
      const Vec<T> x = read(in + at + k * p.inner, n);
      squares += x * x;
    }
    const Vec<T> root = sqrt(squares);
    if (norm) write(norm + line, root, n);
    for (int64_t k = 0; k < p.extent; ++k) {
      write(out + at + k * p.inner, read(in + at + k * p.inner, n) / root, n);
    }
    return true;
  });
  return 0;
}

// The sum of term(c) over the channels within `half` of channel c.
template <class V, class Term>
MX_INLINE V window_sum(int64_t channel, int64_t half, int64_t channels, const Term& term) {
  const int64_t first = channel > half ? channel - half : 0;
  const int64_t last = least(channel + half, channels - 1);
  V sum = {};
  for (int64_t c = first; c <= last; ++c) sum += term(c);
  return sum;
}

template <class S>
int lrn(const mx_call* call) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  const auto& p = *(const mx_lrn_params*)call->params;
  const T share = (T)(p.alpha / (double)p.nsize), knorm = (T)p.knorm, beta = (T)p.beta;
  const S* in = data<S>(call->in[0]);
  S *out = data<S>(call->out[0]), *norms = data<S>(call->out[1]);
  each_column<T>(call->threads, p.outer, p.channels, p.inner, [&](int64_t at, int64_t, int n) {
    for (int64_t c = 0; c < p.channels; ++c) {
      const V sum = window_sum<V>(c, (p.nsize - 1) / 2, p.channels, [&](int64_t k) MX_ALWAYS {
        const V x = read(in + at + k * p.inner, n);
        return x * x;
      });
      const V norm = knorm + share * sum;
      const int64_t here = at + c * p.inner;
      if (norms) write(norms + here, norm, n);
      write(out + here, read(in + here, n) * exp(-beta * log(norm)), n);
    }
    return true;
  });
  return 0;
}

template <class S>
int lrn_grad(const mx_call* call) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  const auto& p = *(const mx_lrn_params*)call->params;
  const T factor = (T)(2 * p.alpha * p.beta / (double)p.nsize), beta = (T)p.beta;
  const S *gradient = data<S>(call->in[0]), *in = data<S>(call->in[1]);
  const S* norms = data<S>(call->in[2]);
  S* out = data<S>(call->out[0]);
  constexpr int L = kLanes<T>;
  const bool ok =
      each_column<T>(call->threads, p.outer, p.channels, p.inner, [&](int64_t at, int64_t, int n) {
        // For each channel norm ** -beta, and what its output owes to each neighbour's square.
        T* powers = (T*)scratch(kTempSlot, (size_t)(2 * p.channels * L) * sizeof(T));
        if (!powers) return false;
        T* owed = powers + p.channels * L;
        for (int64_t c = 0; c < p.channels; ++c) {
          const int64_t here = at + c * p.inner;
          const V norm = read(norms + here, n);
          const V power = exp(-beta * log(norm));
          store(powers + c * L, power);
          store(owed + c * L, read(gradient + here, n) * read(in + here, n) * power / norm);
        }
        for (int64_t c = 0; c < p.channels; ++c) {
          const int64_t here = at + c * p.inner;
          const V sum = window_sum<V>(c, (p.nsize - 1) / 2, p.channels,
                                      [&](int64_t k) MX_ALWAYS { return load(owed + k * L); });
          const V direct = read(gradient + here, n) * load(powers + c * L);
          write(out + here, direct - factor * read(in + here, n) * sum, n);
        }
        return true;
      });
  return ok ? 0 : -1;
}

}  // namespace

void register_norm_scale(){
#define MX_NORM_SCALE(S, bits)                             \
  mx_kernel_add("l2_normalize", l2_normalize<S>, bits, 0); \
  mx_kernel_add("lrn", lrn<S>, bits, 0);                   \
  mx_kernel_add("lrn_grad", lrn_grad<S>, bits, 0);
    MX_NORM_SCALE(float, MX_BIT(F32)) MX_NORM_SCALE(double, MX_BIT(F64))
        MX_NORM_SCALE(f16, MX_BIT(F16)) MX_NORM_SCALE(bf16, MX_BIT(BF16))} MX_LEAF_END
