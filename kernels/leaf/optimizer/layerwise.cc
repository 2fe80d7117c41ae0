// Optimizer updates with a trust ratio per weight: "_multi_lamb_update" and "_multi_lans_update"
// (interleaved weight, grad, mean, var) with their mp_ forms, which have a float32 master weight
// after the states; and the halves of LAMB, "lamb_update_phase1" (weight, grad, mean, var ->
// direction) and "lamb_update_phase2" (weight, direction, two norms), with theirs.
//
// For many weights a first pass updates the averages and computes norms; a second one recomputes
// the direction from the averages and updates the weight. Norms are sums over blocks of a fixed
// size, independent of the number of threads.
#include "core/memory/scratch.h"
#include "leaf/optimizer/updates.h"
#include "params/optimizer.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_multi_lamb_params P;

constexpr int64_t kBlock = 4096;
constexpr int kNorms = 3;

// The arrays of one weight.
template <class S, class M>
struct Arrays {
  const S* gradient;
  M *mean, *var;
  const M* weight;  // the master weight in mixed precision
  M* next;          // updated weight; may be the same memory
  S* rounded;       // the low-precision output in mixed precision, else NULL
  int64_t n;
};

template <class T>
struct Numbers {
  T lr, wd, beta1, beta2, epsilon, rescale, bound, first, second;
  Numbers(const P& p, int i)
      : lr((T)p.learning_rates[i]),
        wd((T)p.wds[i]),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        first((T)(p.bias_correction ? 1 - __builtin_pow(p.beta1, p.step_count[i]) : 1)),
        second((T)(p.bias_correction ? 1 - __builtin_pow(p.beta2, p.step_count[i]) : 1)) {}
  explicit Numbers(const mx_lamb_params& p)
      : lr(0),
        wd((T)p.wd),
        beta1((T)p.beta1),
        beta2((T)p.beta2),
        epsilon((T)p.epsilon),
        rescale((T)p.rescale_grad),
        bound((T)p.clip_gradient),
        first((T)(p.bias_correction ? 1 - __builtin_pow(p.beta1, p.t) : 1)),
        second((T)(p.bias_correction ? 1 - __builtin_pow(p.beta2, p.t) : 1)) {}
};

template <class V>
MX_INLINE double total(V x, int n) {
  double sum = 0;
  for (int i = 0; i < n; ++i) sum += x[i];
  return sum;
}

// Sum over all elements of what body(i, lanes, sums) accumulates, block by block.
template <class T, class Body>
bool sums_of(int threads, int64_t n, double* sums, const Body& body) {
  constexpr int L = kLanes<T>;
  const int64_t blocks = ceil_div(n, kBlock);
  auto* parts =
      static_cast<double*>(scratch(kSharedSlot, (size_t)blocks * kNorms * sizeof(double)));
  if (!parts) return false;
  parallel_for(threads, blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t b = begin; b < end; ++b) {
      double* part = parts + b * kNorms;
      for (int k = 0; k < kNorms; ++k) part[k] = 0;
      const int64_t last = least((b + 1) * kBlock, n);
      for (int64_t i = b * kBlock; i < last; i += L)
        body(i, last - i < L ? (int)(last - i) : L, part);
    }
  });
  for (int k = 0; k < kNorms; ++k) sums[k] = 0;
  for (int64_t b = 0; b < blocks; ++b)
    for (int k = 0; k < kNorms; ++k) sums[k] += parts[b * kNorms + k];
  return true;
}

// The bounded norm of the weight divided by that of a direction; 1 if either is 0.
template <class Bounds>
double trust(const Bounds& p, double norm, double length) {
  if (p.lower_bound >= 0 && norm < p.lower_bound) norm = p.lower_bound;
  if (p.upper_bound >= 0 && norm > p.upper_bound) norm = p.upper_bound;
  return norm == 0 || length == 0 ? 1 : norm / length;
}

template <bool lans, class S, class M>
bool step(const P& p, int number, int threads, const Arrays<S, M>& a) {
  typedef Sum<S> T;
  typedef Vec<T> V;
  const Numbers<T> c(p, number);
  T length = 1;
  if (lans) {
    double squares[kNorms];
    const bool done = sums_of<T>(threads, a.n, squares, [&](int64_t i, int n, double* part) {
      const V g = load_lanes(a.gradient + i, n);
      part[0] += total(g * g, n);
    });
    if (!done) return false;
    if (squares[0] > 0) length = (T)__builtin_sqrt(squares[0]);
  }
  const auto gradient = [&](int64_t i, int n) {
    const V g = load_lanes(a.gradient + i, n);
    return clip(lans ? g / length : g * c.rescale, c.bound);
  };
  const auto bottom = [&](V var) { return sqrt(var / c.second) + c.epsilon; };
  double sums[kNorms];
  const bool done = sums_of<T>(threads, a.n, sums, [&](int64_t i, int n, double* part) {
    const V w = load_lanes(a.weight + i, n), g = gradient(i, n);
    const V mean = c.beta1 * load_lanes(a.mean + i, n) + (1 - c.beta1) * g;
    const V var = c.beta2 * load_lanes(a.var + i, n) + (1 - c.beta2) * g * g;
    store_lanes(a.mean + i, mean, n);
    store_lanes(a.var + i, var, n);
    const V root = bottom(var), along = mean / c.first / root + c.wd * w;
    part[0] += total(w * w, n);
    part[1] += total(along * along, n);
    if (lans) {
      const V other = g / root + c.wd * w;
      part[2] += total(other * other, n);
    }
  });
  if (!done) return false;
  const double weight = __builtin_sqrt(sums[0]);
  const T share = lans ? c.beta1 : 1;
  const T slow = (T)trust(p, weight, __builtin_sqrt(sums[1])) * share;
  const T fast = lans ? (T)trust(p, weight, __builtin_sqrt(sums[2])) * (1 - share) : 0;
  constexpr int L = kLanes<T>;
  parallel_for(threads, a.n, kBlock, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += L) {
      const int n = end - i < L ? (int)(end - i) : L;
      const V w = load_lanes(a.weight + i, n), root = bottom(load_lanes(a.var + i, n));
      V move = (load_lanes(a.mean + i, n) / c.first / root + c.wd * w) * slow;
      if (lans) move += (gradient(i, n) / root + c.wd * w) * fast;
      const V next = w - c.lr * move;
      store_lanes(a.next + i, next, n);
      if (a.rounded) store_lanes(a.rounded + i, next, n);
    }
  });
  return true;
}

template <class S, bool mixed, bool lans>
int update_many(const mx_call* call) {
  typedef typename StateOf<S, mixed>::type M;
  const auto& p = *static_cast<const P*>(call->params);
  for (int i = 0; i < p.weights; ++i) {
    const mx_tensor* in = call->in + i * p.per;
    S* out = data<S>(call->out[i]);
    Arrays<S, M> a = {data<S>(in[1]), data<M>(in[2]), data<M>(in[3]), nullptr,
                      nullptr,        nullptr,        count(in[0])};
    if constexpr (mixed) {
      a.weight = a.next = data<M>(in[4]);
      a.rounded = out;
    } else {
      a.weight = data<S>(in[0]);
      a.next = out;
      if (!out) continue;
    }
    if (!step<lans>(p, i, a.n < 65536 ? 1 : call->threads, a)) return -1;
  }
  return 0;
}

template <class S, bool mixed>
int lamb_direction(const mx_call* call) {
  typedef typename StateOf<S, mixed>::type M;
  typedef Sum<S> T;
  typedef Vec<T> V;
  constexpr int L = kLanes<T>;
  const Numbers<T> c(*(const mx_lamb_params*)call->params);
  const mx_tensor* in = call->in;
  const M* weight = data<M>(in[mixed ? 4 : 0]);
  const S* gradient = data<S>(in[1]);
  M *mean = data<M>(in[2]), *var = data<M>(in[3]), *out = data<M>(call->out[0]);
  parallel_for(call->threads, count(in[0]), 16 * L, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += L) {
      const int n = end - i < L ? (int)(end - i) : L;
      const V g = clip(load_lanes(gradient + i, n) * c.rescale, c.bound);
      const V along = c.beta1 * load_lanes(mean + i, n) + (1 - c.beta1) * g;
      const V squares = c.beta2 * load_lanes(var + i, n) + (1 - c.beta2) * g * g;
      const V w = load_lanes(weight + i, n), root = sqrt(squares / c.second) + c.epsilon;
      store_lanes(mean + i, along, n);
      store_lanes(var + i, squares, n);
      if (out) store_lanes(out + i, V(along / c.first / root + c.wd * w), n);
    }
  });
  return 0;
}

template <class S, bool mixed>
int lamb_step(const mx_call* call) {
  typedef typename StateOf<S, mixed>::type M;
  typedef Sum<S> T;
  constexpr int L = kLanes<T>;
  const auto& p = *(const mx_lamb_step_params*)call->params;
  const mx_tensor* in = call->in;
  const M *weight = data<M>(in[mixed ? 4 : 0]), *direction = data<M>(in[1]);
  M* next = mixed ? data<M>(in[4]) : nullptr;
  S* out = data<S>(call->out[0]);
  const T norm = scalar_as<T>(*data<M>(in[2])), length = scalar_as<T>(*data<M>(in[3]));
  const T step = (T)(p.lr * trust(p, norm, length));
  parallel_for(call->threads, count(in[0]), 16 * L, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += L) {
      const int n = end - i < L ? (int)(end - i) : L;
      const Vec<T> w = load_lanes(weight + i, n) - step * load_lanes(direction + i, n);
      if constexpr (mixed) store_lanes(next + i, w, n);
      if (out) store_lanes(out + i, w, n);
    }
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("lamb_update_phase1", lamb_direction<S, false>, dtype, 0);
  mx_kernel_add("lamb_update_phase2", lamb_step<S, false>, dtype, 0);
  if constexpr (sizeof(S) < 8) {
    mx_kernel_add("mp_lamb_update_phase1", lamb_direction<S, true>, dtype, 0);
    mx_kernel_add("mp_lamb_update_phase2", lamb_step<S, true>, dtype, 0);
  }
  if constexpr (is_half<S>) {
    mx_kernel_add("_multi_mp_lamb_update", update_many<S, true, false>, dtype, 0);
    mx_kernel_add("_multi_mp_lans_update", update_many<S, true, true>, dtype, 0);
  } else {
    mx_kernel_add("_multi_lamb_update", update_many<S, false, false>, dtype, 0);
    mx_kernel_add("_multi_lans_update", update_many<S, false, true>, dtype, 0);
  }
}

}  // namespace

void register_optimizer_layer() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
