// Normalisation without learned parameters: "l2_normalize" (data -> output, norm) along the middle
// of (outer, extent, inner) arrays; "lrn" (data -> output, norm) and "lrn_grad" (gradient, data,
// norm) over neighbouring channels of (outer, channels, inner) arrays.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/math.h"
#include "leaf/simd/runs.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kStripe = 32;  // vectors

// Call body(offset of a stripe in the array, its offset among the inner elements, its width) for
// the first stripe of every line: several vectors wide, so that consecutive cache lines are read
// although the elements of a column are far apart. -1 if a body returned false.
template <class T, class Body>
int each_stripe(int threads, int64_t outer, int64_t extent, int64_t inner, const Body& body) {
  constexpr int64_t kWidth = kStripe * kLanes<T>;
  const int64_t stripes = ceil_div(inner, kWidth);
  return parallel_try(
      threads, outer * stripes, 16 / (extent + 1) + 1, [&](int64_t begin, int64_t end) {
        for (int64_t i = begin; i < end; ++i) {
          const int64_t column = i % stripes * kWidth, o = i / stripes;
          if (!body(o * extent * inner + column, o * inner + column, least(inner - column, kWidth)))
            return false;
        }
        return true;
      });
}

template <class S>
int l2_normalize(const mx_call* call) {
  typedef Sum<S> T;
  constexpr int64_t L = kLanes<T>;
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
  const auto stripe = [&](int64_t at, int64_t line, int64_t width) {
    Vec<T> roots[kStripe];
    for (Vec<T>& squares : roots) squares = splat<Vec<T>>((T)p.eps);
    for (int64_t k = 0; k < p.extent; ++k) {
      for (int64_t j = 0, v = 0; j < width; j += L, ++v) {
        const Vec<T> x = load_lanes(in + at + k * p.inner + j, (int)least(width - j, L));
        roots[v] += x * x;
      }
    }
    for (int64_t j = 0, v = 0; j < width; j += L, ++v) {
      roots[v] = sqrt(roots[v]);
      if (norm) store_lanes(norm + line + j, roots[v], (int)least(width - j, L));
    }
    for (int64_t k = 0; k < p.extent; ++k) {
      for (int64_t j = 0, v = 0; j < width; j += L, ++v) {
        const int64_t here = at + k * p.inner + j;
        const int n = (int)least(width - j, L);
        store_lanes(out + here, load_lanes(in + here, n) / roots[v], n);
      }
    }
    return true;
  };
  return each_stripe<T>(call->threads, p.outer, p.extent, p.inner, stripe);
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
  each_stripe<T>(
      call->threads, p.outer, p.channels, p.inner, [&](int64_t at, int64_t, int64_t width) {
        for (int64_t c = 0; c < p.channels; ++c) {
          for (int64_t j = 0; j < width; j += kLanes<T>) {
            const int n = (int)least(width - j, kLanes<T>);
            const V sum = window_sum<V>(c, (p.nsize - 1) / 2, p.channels, [&](int64_t k) MX_ALWAYS {
              const V x = load_lanes(in + at + k * p.inner + j, n);
              return x * x;
            });
            const V norm = knorm + share * sum;
            const int64_t here = at + c * p.inner + j;
            if (norms) store_lanes(norms + here, norm, n);
            store_lanes(out + here, load_lanes(in + here, n) * exp(-beta * log(norm)), n);
          }
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
  constexpr int64_t L = kLanes<T>, kWidth = kStripe * L;
  const auto stripe = [&](int64_t at, int64_t, int64_t width) {
    // Per channel norm ** -beta, and the output's derivative with respect to each neighbour's
    // square.
    T* powers = (T*)scratch(kTempSlot, (size_t)(2 * p.channels * kWidth) * sizeof(T));
    if (!powers) return false;
    T* owed = powers + p.channels * kWidth;
    for (int64_t c = 0; c < p.channels; ++c) {
      for (int64_t j = 0; j < width; j += L) {
        const int64_t here = at + c * p.inner + j;
        const int n = (int)least(width - j, L);
        const V norm = load_lanes(norms + here, n);
        const V power = exp(-beta * log(norm));
        store(powers + c * kWidth + j, power);
        store(owed + c * kWidth + j,
              load_lanes(gradient + here, n) * load_lanes(in + here, n) * power / norm);
      }
    }
    for (int64_t c = 0; c < p.channels; ++c) {
      for (int64_t j = 0; j < width; j += L) {
        const int64_t here = at + c * p.inner + j;
        const int n = (int)least(width - j, L);
        const V sum = window_sum<V>(c, (p.nsize - 1) / 2, p.channels, [&](int64_t k) MX_ALWAYS {
          return load(owed + k * kWidth + j);
        });
        const V direct = load_lanes(gradient + here, n) * load(powers + c * kWidth + j);
        store_lanes(out + here, direct - factor * load_lanes(in + here, n) * sum, n);
      }
    }
    return true;
  };
  return each_stripe<T>(call->threads, p.outer, p.channels, p.inner, stripe);
}

}  // namespace

void register_norm_scale(){
#define MX_NORM_SCALE(S, bits)                             \
  mx_kernel_add("l2_normalize", l2_normalize<S>, bits, 0); \
  mx_kernel_add("lrn", lrn<S>, bits, 0);                   \
  mx_kernel_add("lrn_grad", lrn_grad<S>, bits, 0);
    MX_NORM_SCALE(float, MX_BIT(F32)) MX_NORM_SCALE(double, MX_BIT(F64))
        MX_NORM_SCALE(f16, MX_BIT(F16)) MX_NORM_SCALE(bf16, MX_BIT(BF16))} MX_LEAF_END
