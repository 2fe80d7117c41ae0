// Batch normalisation of (outer, channels, inner) arrays: "batch_norm" (data, gamma, beta,
// moving_mean, moving_var -> output, mean, inverse) and "batch_norm_grad" (gradient, data, gamma,
// mean, inverse, moving_mean, moving_var -> data, gamma, beta). Vectors have the accumulation type.
//
// "batch_norm_relu", "batch_norm_relu6" and their "_grad" (.., beta) clip the output; the backward
// pass recomputes where it was within the limits.
//
// If inner > 1, a channel consists of a few long runs and is processed by one thread while it is in
// the cache. If inner is 1, a row holds all channels, and each thread sums a range of columns.
#include <type_traits>

#include "core/memory/scratch.h"
#include "leaf/norm/limits.h"
#include "leaf/simd/runs.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

template <class S>
struct Batch {
  typedef Sum<S> T;
  const mx_batch_norm_params& p;
  const mx_call* call;
  double count;  // elements per channel

  explicit Batch(const mx_call* c)
      : p(*(const mx_batch_norm_params*)c->params),
        call(c),
        count((double)(p.outer * p.inner > 0 ? p.outer * p.inner : 1)) {}
  // Channels of a thread are a multiple of this. Rows of all channels are divided at whole lines.
  int64_t grain() const { return p.inner == 1 ? 4 * kLanes<T> : 1; }
  // Call body(first element) for every run of a channel.
  template <class Body>
  void each_run(int64_t channel, const Body& body) const {
    for (int64_t n = 0; n < p.outer; ++n) body((n * p.channels + channel) * p.inner);
  }
};

// Column sums: sums[i] = sum over rows of f(src[row][i]...), flushed to double at intervals.
template <class T, class F, class... P>
void sum_columns(double* sums, T* partial, int64_t rows, int64_t n, int64_t stride, const F& f,
                 const P*... src) {
  constexpr int64_t kFlush = 64;
  for (int64_t i = 0; i < n; ++i) sums[i] = 0;
  for (int64_t r0 = 0; r0 < rows; r0 += kFlush) {
    for (int64_t i = 0; i < n; ++i) partial[i] = 0;
    for (int64_t r = r0; r < least(rows, r0 + kFlush); ++r) f(partial, (src + r * stride)...);
    for (int64_t i = 0; i < n; ++i) sums[i] += partial[i];
  }
}

// Mean and 1 / sqrt(var + eps) of channels [begin, end).
template <class S, class T>
void batch_statistics(const Batch<S>& b, int64_t begin, int64_t end, T* mean, T* inverse,
                      double* sums, T* partial) {
  const S* in = data<S>(b.call->in[0]);
  if (b.p.inner == 1) {
    const int64_t n = end - begin, stride = b.p.channels;
    sum_columns(
        sums, partial, b.p.outer, n, stride,
        [&](T* sum, const S* x) { map_run(n, sum, [](auto s, auto v) { return s + v; }, sum, x); },
        in + begin);
    for (int64_t i = 0; i < n; ++i) mean[begin + i] = (T)(sums[i] / b.count);
    sum_columns(
        sums, partial, b.p.outer, n, stride,
        [&](T* sum, const S* x) {
          map_run(
              n, sum, [](auto s, auto v, auto m) { return s + (v - m) * (v - m); }, sum, x,
              mean + begin);
        },
        in + begin);
    for (int64_t i = 0; i < n; ++i) {
      inverse[begin + i] = (T)(1 / __builtin_sqrt(sums[i] / b.count + b.p.eps));
    }
    return;
  }
  for (int64_t c = begin; c < end; ++c) {
    double sum = 0, squares = 0;
    b.each_run(
        c, [&](int64_t at) { sum += sum_run<T>(b.p.inner, [](auto x) { return x; }, in + at); });
    const T m = mean[c] = (T)(sum / b.count);
    b.each_run(c, [&](int64_t at) {
      squares += sum_run<T>(b.p.inner, [m](auto x) { return (x - m) * (x - m); }, in + at);
    });
    inverse[c] = (T)(1 / __builtin_sqrt(squares / b.count + b.p.eps));
  }
}

template <class S, class Act>
int batch_norm(const mx_call* call) {
  typedef Sum<S> T;
  const Batch<S> b(call);
  const auto& p = b.p;
  T *gamma = data<T>(call->in[1]), *mean = data<T>(call->out[1]), *inverse = data<T>(call->out[2]);
  const T* beta = data<T>(call->in[2]);
  const S* in = data<S>(call->in[0]);
  S* out = data<S>(call->out[0]);
  const bool rows = p.inner == 1;
  bool ok = true;
  // Statistics that the caller does not want have no memory of their own.
  T* own = (T*)scratch(kSharedSlot, (size_t)(3 * p.channels) * sizeof(T));
  if (!own && p.channels) return -1;
  if (!mean) mean = own;
  if (!inverse) inverse = own + p.channels;
  T* scale = own + 2 * p.channels;
  parallel_for(call->threads, p.channels, b.grain(), [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    double* sums = (double*)scratch(kTempSlot, (size_t)n * (sizeof(double) + sizeof(T)));
    if (!sums) {
      ok = false;
      return;
    }
    if (p.batch_stats) batch_statistics(b, begin, end, mean, inverse, sums, (T*)(sums + n));
    for (int64_t c = begin; c < end; ++c) {
      if (!p.batch_stats) {
        mean[c] = data<T>(call->in[3])[c];
        inverse[c] = (T)(1 / __builtin_sqrt((double)data<T>(call->in[4])[c] + p.eps));
      }
      if (p.fix_gamma) gamma[c] = 1;
      scale[c] = gamma[c] * inverse[c];
      if (rows) continue;
      const T m = mean[c], s = scale[c], shift = beta[c];
      b.each_run(c, [&](int64_t at) {
        map_run(
            p.inner, out + at, [=](auto x) { return Act::value((x - m) * s + shift); }, in + at);
      });
    }
  });
  if (!ok) return -1;
  if (!rows) return 0;
  parallel_for(call->threads, p.outer, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) {
      map_run(
          p.channels, out + n * p.channels,
          [](auto x, auto m, auto s, auto shift) { return Act::value((x - m) * s + shift); },
          in + n * p.channels, mean, scale, beta);
    }
  });
  return 0;
}

// dx = scale * (g - shift - (x - mean) * slope), for the gradients g within the limits.
template <class S, class Act>
struct Backward : Batch<S> {
  typedef Sum<S> T;
  using Batch<S>::p;
  using Batch<S>::call;
  static constexpr bool limited = !std::is_same_v<Act, Open>;

  const S *gradient, *in;
  const T *gamma, *mean, *inverse;
  S* out;
  T *scale, *shift, *slope;

  // `own`: memory for 4 values per channel.
  Backward(const mx_call* c, T* own)
      : Batch<S>(c),
        gradient(data<S>(c->in[0])),
        in(data<S>(c->in[1])),
        gamma(data<T>(c->in[2])),
        mean(data<T>(c->in[p.batch_stats ? 3 : 5])),
        inverse(data<T>(c->in[4])),
        out(data<S>(c->out[0])),
        scale(own),
        shift(own + p.channels),
        slope(own + 2 * p.channels) {
    if (p.batch_stats) return;
    const T* variance = data<T>(c->in[6]);
    T* running = own + 3 * p.channels;
    for (int64_t i = 0; i < p.channels; ++i)
      running[i] = (T)(1 / __builtin_sqrt(variance[i] + p.eps));
    inverse = running;
  }
  // Limits are only used with images.
  bool rows() const { return p.inner == 1 && !limited; }
  T beta(int64_t c) const { return limited ? data<T>(call->in[7])[c] : 0; }

  // For each channel in [begin, end), sum the gradients and their products with the deviations from
  // the mean.
  void sum_rows(int64_t begin, int64_t end, double* sums, double* products, T* partial) const {
    const int64_t columns = end - begin;
    sum_columns(
        sums, partial, p.outer, columns, p.channels,
        [&](T* sum, const S* g) {
          map_run(columns, sum, [](auto s, auto v) { return s + v; }, sum, g);
        },
        gradient + begin);
    sum_columns(
        products, partial, p.outer, columns, p.channels,
        [&](T* sum, const S* g, const S* x) {
          map_run(
              columns, sum, [](auto s, auto v, auto u, auto m) { return s + v * (u - m); }, sum, g,
              x, mean + begin);
        },
        gradient + begin, in + begin);
  }
  void sum_runs(int64_t c, double* sum, double* product) const {
    const T m = mean[c], a = gamma[c] * inverse[c], add = beta(c);
    const auto passed = [=](auto g, auto x) { return Act::passed(g, (x - m) * a + add); };
    *sum = *product = 0;
    this->each_run(c, [&](int64_t at) {
      if constexpr (limited) {
        *sum += sum_run<T>(p.inner, passed, gradient + at, in + at);
      } else {
        *sum += sum_run<T>(p.inner, [](auto g) { return g; }, gradient + at);
      }
      *product += sum_run<T>(
          p.inner, [=](auto g, auto x) { return passed(g, x) * (x - m); }, gradient + at, in + at);
    });
  }

  // Compute the gradients of gamma and beta, the moving statistics, and the coefficients of the
  // data gradient.
  void finish(int64_t c, double sum, double product) const {
    const double inv = inverse[c];
    if (call->out[1].data) data<T>(call->out[1])[c] = p.fix_gamma ? 0 : (T)(product * inv);
    if (call->out[2].data) data<T>(call->out[2])[c] = (T)sum;
    scale[c] = p.fix_gamma ? (T)inv : (T)(gamma[c] * inv);
    shift[c] = slope[c] = 0;
    if (!p.batch_stats) return;
    shift[c] = (T)(sum / this->count);
    slope[c] = (T)(product * inv * inv / this->count);
    T &moving_mean = data<T>(call->in[5])[c], &moving_var = data<T>(call->in[6])[c];
    moving_mean = (T)(p.momentum * moving_mean + (1 - p.momentum) * mean[c]);
    moving_var = (T)(p.momentum * moving_var + (1 - p.momentum) * (1 / (inv * inv) - p.eps));
  }

  void write_runs(int64_t c) const {
    const T m = mean[c], a = scale[c], s = shift[c], k = slope[c];
    const T wide = gamma[c] * inverse[c], add = beta(c);
    this->each_run(c, [&](int64_t at) {
      map_run(
          p.inner, out + at,
          [=](auto g, auto x) {
            return a * (Act::passed(g, (x - m) * wide + add) - s - (x - m) * k);
          },
          gradient + at, in + at);
    });
  }
  void write_row(int64_t n) const {
    map_run(
        p.channels, out + n * p.channels,
        [](auto g, auto x, auto m, auto a, auto s, auto k) { return a * (g - s - (x - m) * k); },
        gradient + n * p.channels, in + n * p.channels, mean, scale, shift, slope);
  }
};

template <class S, class Act>
int batch_norm_grad(const mx_call* call) {
  typedef Sum<S> T;
  const int64_t channels = ((const mx_batch_norm_params*)call->params)->channels;
  T* own = (T*)scratch(kSharedSlot, (size_t)(4 * channels) * sizeof(T));
  if (!own && channels) return -1;
  const Backward<S, Act> b(call, own);
  const bool rows = b.rows();
  bool ok = true;
  parallel_for(call->threads, channels, b.grain(), [&](int64_t begin, int64_t end) {
    const int64_t columns = end - begin;
    double* sums = (double*)scratch(kTempSlot, (size_t)columns * (2 * sizeof(double) + sizeof(T)));
    if (!sums) {
      ok = false;
      return;
    }
    double* products = sums + columns;
    if (rows) b.sum_rows(begin, end, sums, products, (T*)(products + columns));
    for (int64_t c = begin; c < end; ++c) {
      double *sum = sums + c - begin, *product = products + c - begin;
      if (!rows) b.sum_runs(c, sum, product);
      b.finish(c, *sum, *product);
      if (!rows && b.out) b.write_runs(c);
    }
  });
  if (!ok) return -1;
  if (!rows || !b.out) return 0;
  parallel_for(call->threads, b.p.outer, 1, [&](int64_t begin, int64_t end) {
    for (int64_t n = begin; n < end; ++n) b.write_row(n);
  });
  return 0;
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("batch_norm", batch_norm<S, Open>, dtype, 0);
  mx_kernel_add("batch_norm_grad", batch_norm_grad<S, Open>, dtype, 0);
  if constexpr (!is_half<S>) {
    mx_kernel_add("batch_norm_relu", batch_norm<S, Relu>, dtype, 0);
    mx_kernel_add("batch_norm_relu_grad", batch_norm_grad<S, Relu>, dtype, 0);
    mx_kernel_add("batch_norm_relu6", batch_norm<S, Relu6>, dtype, 0);
    mx_kernel_add("batch_norm_relu6_grad", batch_norm_grad<S, Relu6>, dtype, 0);
  }
}

}  // namespace

void register_norm_batch() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
