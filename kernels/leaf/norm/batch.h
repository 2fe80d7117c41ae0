// Batch normalisation of (outer, channels, inner) arrays: statistics, and gradients of channels.
#pragma once
#include <type_traits>

#include "leaf/norm/limits.h"
#include "leaf/simd/runs.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN

template <class S>
struct Batch {
  typedef Sum<S> T;
  const mx_batch_norm_params& p;
  const mx_call* call;
  double count;  // elements per channel

  Batch(const mx_call* c, const mx_batch_norm_params& p)
      : p(p), call(c), count((double)(p.outer * p.inner > 0 ? p.outer * p.inner : 1)) {}
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
  Backward(const mx_call* c, const mx_batch_norm_params& params, T* own)
      : Batch<S>(c, params),
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

MX_LEAF_END
