// Normalisation of contiguous rows (layer, group and instance normalisation): "row_norm" (data,
// gamma, beta -> output, mean, std) and "row_norm_grad" (gradient, data, gamma, mean, std -> data,
// gamma, beta). "row_norm_mixed" has float gamma and beta, and the first output only.
//
// Element i of the array has gamma[i / block % count]: for layers, block is 1 and count the row
// length; for groups and instances a block is a whole channel.
#include "core/memory/scratch.h"
#include "core/parallel_try.h"
#include "leaf/simd/runs.h"
#include "params/norm.gen.h"

MX_LEAF_BEGIN
namespace {

// Whether each element of a row has its own gamma, the same for all rows.
bool is_layer(const mx_row_norm_params& p) { return p.block == 1 && p.count == p.length; }

// Call body(offset, size, gamma index) for the pieces of a row that share a gamma; for layers, a
// row is one piece.
template <class Body>
void each_piece(const mx_row_norm_params& p, int64_t row, const Body& body) {
  if (is_layer(p)) return body((int64_t)0, p.length, (int64_t)0);
  for (int64_t at = 0; at < p.length;) {
    const int64_t flat = row * p.length + at;
    const int64_t n = least(p.block - flat % p.block, p.length - at);
    body(at, n, flat / p.block % p.count);
    at += n;
  }
}

template <class S, class G = S>
int row_norm(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_row_norm_params*)call->params;
  const bool layer = is_layer(p);
  const G *gamma = data<G>(call->in[1]), *beta = data<G>(call->in[2]);
  const auto output = [call](int i) { return i < call->nout ? data<S>(call->out[i]) : nullptr; };
  S *means = output(1), *deviations = output(2);
  const double count = (double)(p.length ? p.length : 1);
  parallel_for(call->threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const S* in = data<S>(call->in[0]) + r * p.length;
      S* out = data<S>(call->out[0]) + r * p.length;
      const T m = (T)(sum_run<T>(p.length, [](auto x) { return x; }, in) / count);
      const double squares = sum_run<T>(p.length, [m](auto x) { return (x - m) * (x - m); }, in);
      const double std = __builtin_sqrt(squares / count + p.eps);
      const T inverse = (T)(1 / std);
      if (means) store_scalar(means + r, m);
      if (deviations) store_scalar(deviations + r, (T)std);
      each_piece(p, r, [&](int64_t at, int64_t n, int64_t number) {
        if (layer) {
          return map_run(
              n, out, [=](auto x, auto g, auto b) { return (x - m) * inverse * g + b; }, in, gamma,
              beta);
        }
        const T g = scalar_as<T>(gamma[number]) * inverse, b = scalar_as<T>(beta[number]);
        map_run(n, out + at, [=](auto x) { return (x - m) * g + b; }, in + at);
      });
    }
  });
  return 0;
}

// The data gradient, row by row.
template <class S>
void data_gradient(const mx_call* call, const mx_row_norm_params& p) {
  typedef Sum<S> T;
  const bool layer = is_layer(p);
  const S* gamma = data<S>(call->in[2]);
  const double count = (double)(p.length ? p.length : 1);
  parallel_for(call->threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const S* gradient = data<S>(call->in[0]) + r * p.length;
      const S* in = data<S>(call->in[1]) + r * p.length;
      S* out = data<S>(call->out[0]) + r * p.length;
      const T m = scalar_as<T>(data<S>(call->in[3])[r]);
      const T inverse = 1 / scalar_as<T>(data<S>(call->in[4])[r]);
      double sum = 0, product = 0;
      each_piece(p, r, [&](int64_t at, int64_t n, int64_t number) {
        if (layer) {
          sum = sum_run<T>(n, [](auto g, auto w) { return g * w; }, gradient, gamma);
          product = sum_run<T>(
              n, [m](auto g, auto w, auto x) { return g * w * (x - m); }, gradient, gamma, in);
          return;
        }
        const double w = scalar_as<T>(gamma[number]);
        sum += w * sum_run<T>(n, [](auto g) { return g; }, gradient + at);
        product +=
            w * sum_run<T>(n, [m](auto g, auto x) { return g * (x - m); }, gradient + at, in + at);
      });
      const T shift = (T)(sum / count), slope = (T)(product * inverse * inverse / count);
      each_piece(p, r, [&](int64_t at, int64_t n, int64_t number) {
        if (layer) {
          return map_run(
              n, out,
              [=](auto g, auto x, auto w) { return (g * w - shift - (x - m) * slope) * inverse; },
              gradient, in, gamma);
        }
        const T w = scalar_as<T>(gamma[number]);
        map_run(
            n, out + at,
            [=](auto g, auto x) { return (g * w - shift - (x - m) * slope) * inverse; },
            gradient + at, in + at);
      });
    }
  });
}

// The gradients of gamma and beta, one range per thread.
template <class S>
int parameter_gradients(const mx_call* call, const mx_row_norm_params& p) {
  typedef Sum<S> T;
  const S *gradient = data<S>(call->in[0]), *in = data<S>(call->in[1]);
  const S *mean = data<S>(call->in[3]), *std = data<S>(call->in[4]);
  const int64_t outer = p.rows * p.length / (p.count * p.block > 0 ? p.count * p.block : 1);
  return parallel_try(call->threads, p.count, 4 * kLanes<T>, [&](int64_t begin, int64_t end) {
    const int64_t n = end - begin;
    double* sums = (double*)scratch(kTempSlot, (size_t)n * (2 * sizeof(double) + 2 * sizeof(T)));
    if (!sums) return false;
    double* products = sums + n;
    T *partial = (T*)(products + n), *weighted = partial + n;
    for (int64_t i = 0; i < n; ++i) sums[i] = products[i] = 0;
    for (int64_t o = 0; o < outer; ++o) {
      if (is_layer(p)) {
        if (o % 64 == 0) {
          for (int64_t i = 0; i < n; ++i) partial[i] = weighted[i] = 0;
        }
        const int64_t at = o * p.count + begin;
        const T m = scalar_as<T>(mean[o]), inverse = 1 / scalar_as<T>(std[o]);
        map_run(n, partial, [](auto s, auto g) { return s + g; }, partial, gradient + at);
        map_run(
            n, weighted, [=](auto s, auto g, auto x) { return s + g * ((x - m) * inverse); },
            weighted, gradient + at, in + at);
        if (o % 64 == 63 || o + 1 == outer) {
          for (int64_t i = 0; i < n; ++i) sums[i] += partial[i], products[i] += weighted[i];
        }
        continue;
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = (o * p.count + begin + i) * p.block;
        for (int64_t done = 0; done < p.block;) {
          const int64_t row = (at + done) / p.length;
          const int64_t size = least(p.block - done, (row + 1) * p.length - at - done);
          const T m = scalar_as<T>(mean[row]);
          const double inverse = 1 / (double)scalar_as<T>(std[row]);
          sums[i] += sum_run<T>(size, [](auto g) { return g; }, gradient + at + done);
          products[i] += inverse * sum_run<T>(
                                       size, [m](auto g, auto x) { return g * (x - m); },
                                       gradient + at + done, in + at + done);
          done += size;
        }
      }
    }
    for (int64_t i = 0; i < n; ++i) {
      if (call->out[1].data) store_scalar(data<S>(call->out[1]) + begin + i, (T)products[i]);
      if (call->out[2].data) store_scalar(data<S>(call->out[2]) + begin + i, (T)sums[i]);
    }
    return true;
  });
}

template <class S>
int row_norm_grad(const mx_call* call) {
  const auto& p = *(const mx_row_norm_params*)call->params;
  if (call->out[0].data) data_gradient<S>(call, p);
  return parameter_gradients<S>(call, p);
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("row_norm", row_norm<S>, dtype, 0);
  mx_kernel_add("row_norm_grad", row_norm_grad<S>, dtype, 0);
}

}  // namespace

void register_norm_row() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
  mx_kernel_add("row_norm_mixed", row_norm<bf16, float>, MX_BIT(BF16), 0);
}
MX_LEAF_END
