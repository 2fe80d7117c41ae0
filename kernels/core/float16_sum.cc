// Sums accumulated in float16, one element at a time, for MXNET_SAFE_ACCUMULATION=0: 2-norms,
// softmax, layer normalisation and the gradient of take. Every step is rounded, so large sums stop
// growing, exactly as MXNet's do; that is the only purpose of these kernels.
#include <cmath>

#include "core/random/half.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "params/activation.gen.h"
#include "params/indexing.gen.h"
#include "params/norm.gen.h"
#include "params/reduce.gen.h"

using namespace mx;

namespace {

Half* data(const mx_tensor& t) { return static_cast<Half*>(t.data); }
Half rounded(double x) { return Half(x); }

// --- the 2-norm --------------------------------------------------------------------------------
int norm2(const mx_call* call) {
  const auto& p = *static_cast<const mx_reduce_params*>(call->params);
  const Half* in = data(call->in[0]);
  Half* out = data(call->out[0]);
  const int64_t n = count(call->in[0]), results = count(call->out[0]);
  for (int64_t i = 0; i < results; ++i) out[i] = rounded(0);
  int64_t stride[MX_MAX_DIM];  // of the output's dimensions, 0 for reduced ones
  int64_t step = 1;
  for (int d = p.ndim - 1; d >= 0; --d) {
    const bool reduced = (d % 2 == 0) == (p.first_reduced != 0);
    stride[d] = reduced ? 0 : step;
    if (!reduced) step *= p.shape[d];
  }
  int64_t at[MX_MAX_DIM] = {};
  int64_t to = 0;
  for (int64_t i = 0; i < n; ++i) {
    const float x = (float)in[i];
    out[to] = out[to] + Half(x * x);
    for (int d = p.ndim - 1; d >= 0; --d) {
      to += stride[d];
      if (++at[d] < p.shape[d]) break;
      to -= stride[d] * p.shape[d];
      at[d] = 0;
    }
  }
  for (int64_t i = 0; i < results; ++i) out[i] = rounded(std::sqrt((double)out[i]));
  return 0;
}

// --- softmax -----------------------------------------------------------------------------------
template <bool log>
int softmax(const mx_call* call) {
  const auto& p = *static_cast<const mx_softmax_params*>(call->params);
  parallel_for(call->threads, p.outer * p.inner, 1, [&](int64_t begin, int64_t end) {
    for (int64_t line = begin; line < end; ++line) {
      const int64_t first = line / p.inner * p.extent * p.inner + line % p.inner;
      const Half* in = data(call->in[0]) + first;
      Half* out = data(call->out[0]) + first;
      const auto x = [&](int64_t i) { return (float)in[i * p.inner] * p.scale; };
      double top = -INFINITY;
      for (int64_t i = 0; i < p.extent; ++i) top = x(i) > top ? x(i) : top;
      Half sum = rounded(0);
      for (int64_t i = 0; i < p.extent; ++i) sum = sum + rounded(std::exp(x(i) - top));
      const double total = (double)sum;
      for (int64_t i = 0; i < p.extent; ++i)
        out[i * p.inner] =
            rounded(log ? x(i) - top - std::log(total) : std::exp(x(i) - top) / total);
    }
  });
  return 0;
}

// --- normalisation of rows ---------------------------------------------------------------------
// Kahan's compensated sum, as in MXNet's reductions.
struct Compensated {
  Half sum = rounded(0), lost = rounded(0);
  void add(Half x) {
    const Half y = x - lost, next = sum + y;
    lost = (next - sum) - y;
    sum = next;
  }
};

int row_norm(const mx_call* call) {
  const auto& p = *static_cast<const mx_row_norm_params*>(call->params);
  const Half *gamma = data(call->in[1]), *beta = data(call->in[2]);
  parallel_for(call->threads, p.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const Half* in = data(call->in[0]) + r * p.length;
      Half* out = data(call->out[0]) + r * p.length;
      Compensated sum, squares;
      for (int64_t i = 0; i < p.length; ++i) sum.add(in[i]);
      const Half mean = rounded((double)sum.sum / (double)p.length);
      for (int64_t i = 0; i < p.length; ++i) {
        const Half distance = in[i] - mean;
        squares.add(distance * distance);
      }
      const Half std = rounded(std::sqrt((double)squares.sum / (double)p.length + p.eps));
      if (call->out[1].data) data(call->out[1])[r] = mean;
      if (call->out[2].data) data(call->out[2])[r] = std;
      for (int64_t i = 0; i < p.length; ++i) {
        const int64_t number = (r * p.length + i) / p.block % p.count;
        out[i] = (in[i] - mean) / std * gamma[number] + beta[number];
      }
    }
  });
  return 0;
}

// --- the gradient of take ----------------------------------------------------------------------
// Index number i as an integer, whatever its dtype.
int64_t index_at(const mx_tensor& t, int64_t i) {
  switch (t.dtype) {
    case MX_I64:
      return static_cast<const int64_t*>(t.data)[i];
    case MX_I32:
      return static_cast<const int32_t*>(t.data)[i];
    case MX_I8:
      return static_cast<const int8_t*>(t.data)[i];
    case MX_U8:
      return static_cast<const uint8_t*>(t.data)[i];
    case MX_F64:
      return (int64_t)static_cast<const double*>(t.data)[i];
    case MX_F32:
      return (int64_t)static_cast<const float*>(t.data)[i];
    default:
      return (int64_t)(float)data(t)[i];
  }
}

enum { kClip, kWrap, kRaise };  // MODES of mxcy/ops/indexing/indexing.py

int take_grad(const mx_call* call) {
  const auto& p = *static_cast<const mx_take_params*>(call->params);
  const mx_tensor &gradient = call->in[p.data], &index = call->in[p.index];
  Half* out = data(call->out[0]);
  const int64_t taken = count(index), results = count(call->out[0]);
  for (int64_t i = 0; i < results; ++i) out[i] = rounded(0);
  for (int64_t o = 0; o < p.outer; ++o) {
    for (int64_t t = 0; t < taken; ++t) {
      int64_t row = index_at(index, t);
      if (row < 0 || row >= p.extent) {
        if (p.mode == kRaise)
          return mx_fail("indices: out of bounds for a dimension of size %ld", (long)p.extent);
        row =
            p.mode == kWrap ? (row % p.extent + p.extent) % p.extent : (row < 0 ? 0 : p.extent - 1);
      }
      const Half* from = data(gradient) + (o * taken + t) * p.inner;
      Half* to = out + (o * p.extent + row) * p.inner;
      for (int64_t i = 0; i < p.inner; ++i) to[i] = to[i] + from[i];
    }
  }
  return 0;
}

__attribute__((constructor)) void register_narrow() {
  constexpr uint32_t half = 1u << MX_F16;
  mx_kernel_add("norm2_narrow", norm2, half, 0);
  mx_kernel_add("softmax_narrow", softmax<false>, half, 0);
  mx_kernel_add("log_softmax_narrow", softmax<true>, half, 0);
  mx_kernel_add("row_norm_narrow", row_norm, half, 0);
  mx_kernel_add("take_grad_narrow", take_grad, half, 0);
}

}  // namespace
