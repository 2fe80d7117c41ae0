// Batch normalisation of (outer, channels, inner) arrays: "batch_norm" (data, gamma, beta,
// moving_mean, moving_var -> output, mean, inverse) and "batch_norm_grad" (gradient, data, gamma,
// mean, inverse, moving_mean, moving_var -> data, gamma, beta). Vectors have the accumulation type.
//
// "batch_norm_relu", "batch_norm_relu6" and their "_grad" (.., beta) clip the output; the backward
// pass recomputes where it was within the limits.
//
// If inner > 1, a channel consists of a few long runs and is processed by one thread while it is in
// the cache. If inner is 1, a row holds all channels, and each thread sums a range of columns.
#include "leaf/norm/batch.h"

#include "core/memory/scratch.h"
#include "core/parallel_try.h"

MX_LEAF_BEGIN
namespace {

template <class S, class Act>
int batch_norm(const mx_call* call) {
  typedef Sum<S> T;
  const Batch<S> b(call, *(const mx_batch_norm_params*)call->params);
  const auto& p = b.p;
  T *gamma = data<T>(call->in[1]), *mean = data<T>(call->out[1]), *inverse = data<T>(call->out[2]);
  const T* beta = data<T>(call->in[2]);
  const S* in = data<S>(call->in[0]);
  S* out = data<S>(call->out[0]);
  const bool rows = p.inner == 1;
  // Statistics that the caller does not want have no memory of their own.
  T* own = (T*)scratch(kSharedSlot, (size_t)(3 * p.channels) * sizeof(T));
  if (!own && p.channels) return -1;
  if (!mean) mean = own;
  if (!inverse) inverse = own + p.channels;
  T* scale = own + 2 * p.channels;
  const int status =
      parallel_try(call->threads, p.channels, b.grain(), [&](int64_t begin, int64_t end) {
        const int64_t n = end - begin;
        double* sums = (double*)scratch(kTempSlot, (size_t)n * (sizeof(double) + sizeof(T)));
        if (!sums) return false;
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
                p.inner, out + at, [=](auto x) { return Act::value((x - m) * s + shift); },
                in + at);
          });
        }
        return true;
      });
  if (status) return status;
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

template <class S, class Act>
int batch_norm_grad(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_batch_norm_params*)call->params;
  const int64_t channels = p.channels;
  T* own = (T*)scratch(kSharedSlot, (size_t)(4 * channels) * sizeof(T));
  if (!own && channels) return -1;
  const Backward<S, Act> b(call, p, own);
  const bool rows = b.rows();
  const int status =
      parallel_try(call->threads, channels, b.grain(), [&](int64_t begin, int64_t end) {
        const int64_t columns = end - begin;
        double* sums =
            (double*)scratch(kTempSlot, (size_t)columns * (2 * sizeof(double) + sizeof(T)));
        if (!sums) return false;
        double* products = sums + columns;
        if (rows) b.sum_rows(begin, end, sums, products, (T*)(products + columns));
        for (int64_t c = begin; c < end; ++c) {
          double *sum = sums + c - begin, *product = products + c - begin;
          if (!rows) b.sum_runs(c, sum, product);
          b.finish(c, *sum, *product);
          if (!rows && b.out) b.write_runs(c);
        }
        return true;
      });
  if (status) return status;
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
