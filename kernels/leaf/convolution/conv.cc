// Convolution as matrix products over image patches: "conv_im2col" (data, weight[, bias]),
// "conv_im2col_data" (output gradient, weight[, bias]: also deconvolution) and "conv_im2col_weight"
// (data, output gradient).
#include "core/parallel_try.h"
#include "leaf/convolution/patches.h"

MX_LEAF_BEGIN
namespace {

// With stride 1 the data gradient is a convolution of the output gradient.
Window backward_window(const mx_conv_params& p) {
  Window w;
  for (int i = 0; i < 3; ++i) {
    w.source[i] = p.target[i];
    w.target[i] = p.source[i];
    w.kernel[i] = p.kernel[i];
    w.stride[i] = 1;
    w.offset[i] = p.pad[i];
    w.step[i] = -p.dilate[i];
  }
  return w;
}

// The weights of one group as A of that convolution: i is a channel, p a (filter, tap).
template <class T, class S>
struct TurnedWeights {
  const S* data;
  int64_t channels, taps;

  void pack(T* dst, int width, int64_t i0, int count, int64_t p0, int64_t depth) const {
    int64_t filter = p0 / taps, tap = p0 % taps;
    for (int64_t p = 0; p < depth; ++p, dst += width) {
      const S* from = data + (filter * channels + i0) * taps + tap;
      for (int i = 0; i < count; ++i) dst[i] = scalar_as<T>(from[i * taps]);
      for (int i = count; i < width; ++i) dst[i] = 0;
      if (++tap == taps) tap = 0, ++filter;
    }
  }
};

template <class S>
void close_rows(S* dst, int64_t stride, const Sum<S>* src, int64_t rows, int64_t cols, bool add) {
  for (int64_t i = 0; i < rows; ++i) close_block(dst + i * stride, src + i * cols, cols, add);
}

// C (m x n of `out`, row stride `stride`) = a b + bias, in the accumulation type.
template <class S, class A, class B>
bool product_to(S* out, int64_t stride, int64_t m, int64_t n, int64_t k, const A& a, const B& b,
                const Sum<S>* bias, bool add) {
  typedef Sum<S> T;
  if constexpr (!is_half<S>) {
    return gemm_serial(m, n, k, (T)1, a, b, (T)add, out, stride, bias);
  } else {
    T* sums = (T*)scratch(kTempSlot, (size_t)(m * n) * sizeof(T));
    if (!sums || !gemm_serial(m, n, k, (T)1, a, b, (T)0, sums, n, bias)) return false;
    close_rows(out, stride, sums, m, n, add);
    return true;
  }
}

// The packed weights of all groups and the bias, shared by the whole team.
template <class T>
struct Shared {
  T *weights, *bias;
  int64_t step;  // distance between the weights of groups
};

template <class T, class S>
bool share(Shared<T>* shared, const mx_call* call, int64_t groups, int64_t m, int64_t k) {
  shared->step = round_up((int64_t)Packed<T>::bytes(m, k) / (int64_t)sizeof(T), kLanes<T>);
  const bool has_bias = call->nin > 2;
  const size_t size = (size_t)(groups * (shared->step + (has_bias ? m : 0))) * sizeof(T);
  shared->weights = (T*)scratch(kSharedSlot, size);
  if (!shared->weights) return false;
  shared->bias = has_bias ? shared->weights + groups * shared->step : nullptr;
  for (int64_t i = 0; has_bias && i < groups * m; ++i) {
    shared->bias[i] = scalar_as<T>(data<S>(call->in[2])[i]);
  }
  return true;
}

// For every image and group: out (m x positions) = packed weights (m x k) * patches.
template <class S>
int convolve(const mx_call* call, const mx_conv_params& p, const Window& window, int64_t m,
             int64_t depth, const Shared<Sum<S>>& shared) {
  typedef Sum<S> T;
  constexpr int64_t kWidth = 2 * kLanes<T>;
  const int64_t positions = window.target_size(), source = window.source_size();
  const int64_t images = p.batch * p.groups, k = depth * window.taps();
  const bool add = call->req[0] == MX_ADD, identity = window.identity();
  // With fewer images than threads, each image is split into strips of positions.
  const int64_t strips =
      images >= call->threads || images == 0 ? 1 : ceil_div(call->threads, images);
  const int64_t cols = round_up(ceil_div(positions, strips), kWidth);
  return parallel_try(call->threads, images * strips, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t at = unit / strips, group = at % p.groups, j = unit % strips * cols;
      const int64_t n = least(cols, positions - j);
      const S* image = data<S>(call->in[0]) + at * depth * source;
      S* out = data<S>(call->out[0]) + at * m * positions + j;
      const Packed<T> weights = {shared.weights + group * shared.step, m};
      const T* bias = shared.bias ? shared.bias + group * m : nullptr;
      if (n <= 0) continue;
      if (!(identity ? product_to(out, positions, m, n, k, weights,
                                  Matrix<T, S>{image + j, positions, true}, bias, add)
                     : product_to(out, positions, m, n, k, weights,
                                  PatchColumns<T, S>{image, &window, j}, bias, add)))
        return false;
    }
    return true;
  });
}

// Whether images are single pixels, so that all of them together are one matrix.
bool is_dense(const mx_conv_params& p, const Window& window) {
  return p.groups == 1 && window.identity() && window.target_size() == 1;
}

// out (images x m) = in (images x k) * weights + bias.
template <class S>
int multiply_pixels(const mx_call* call, int64_t images, int64_t m, int64_t k,
                    const Matrix<Sum<S>, S>& weights) {
  typedef Sum<S> T;
  const bool add = call->req[0] == MX_ADD, has_bias = call->nin > 2;
  const int64_t sums_size = is_half<S> ? images * m : 0;
  T* bias = (T*)scratch(kSharedSlot, (size_t)(m + sums_size + 1) * sizeof(T));
  if (!bias) return -1;
  for (int64_t i = 0; has_bias && i < m; ++i) bias[i] = scalar_as<T>(data<S>(call->in[2])[i]);
  S* out = data<S>(call->out[0]);
  T* sums = bias + m;
  if constexpr (!is_half<S>) sums = out;
  const Matrix<T, S> rows = {data<S>(call->in[0]), k, false};
  if (!gemm(call->threads, images, m, k, (T)1, rows, weights, (T)(add && !is_half<S>), sums, m,
            has_bias ? bias : nullptr))
    return -1;
  close_rows(out, m, sums, images, m, add);
  return 0;
}

template <class S>
int conv_im2col(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_conv_params*)call->params;
  const Window window = forward_window(p);
  const int64_t k = p.channels * window.taps();
  if (is_dense(p, window)) {
    return multiply_pixels<S>(call, p.batch, p.filters, k, {data<S>(call->in[1]), k, false});
  }
  Shared<T> shared;
  if (!share<T, S>(&shared, call, p.groups, p.filters, k)) return -1;
  for (int64_t g = 0; g < p.groups; ++g) {
    const Matrix<T, S> weights = {data<S>(call->in[1]) + g * p.filters * k, k, false};
    pack_all<T>(shared.weights + g * shared.step, weights, p.filters, k);
  }
  return convolve<S>(call, p, window, p.filters, p.channels, shared);
}

// The data gradient for any stride: columns = weights^T * gradient, added to the image.
template <class S>
int scatter(const mx_call* call, const mx_conv_params& p) {
  typedef Sum<S> T;
  const Window window = forward_window(p);
  const int64_t positions = window.target_size(), k = p.channels * window.taps();
  const int64_t images = p.batch * p.groups, size = p.channels * window.source_size();
  const bool add = call->req[0] == MX_ADD;
  const int outer = images >= call->threads ? call->threads : 1;
  const int inner = outer > 1 ? 1 : call->threads;
  return parallel_try(outer, images, 1, [&](int64_t begin, int64_t end) {
    T* columns =
        (T*)scratch(kTempSlot, (size_t)(k * positions + (is_half<S> ? size : 0)) * sizeof(T));
    if (!columns) return false;
    for (int64_t at = begin; at < end; ++at) {
      const int64_t group = at % p.groups;
      const Matrix<T, S> weights = {data<S>(call->in[1]) + group * p.filters * k, k, true};
      const Matrix<T, S> gradient = {data<S>(call->in[0]) + at * p.filters * positions, positions,
                                     true};
      if (!gemm(inner, k, positions, p.filters, (T)1, weights, gradient, (T)0, columns, positions))
        return false;
      S* out = data<S>(call->out[0]) + at * size;
      const S* bias = call->nin > 2 ? data<S>(call->in[2]) + group * p.channels : nullptr;
      T* image = columns + k * positions;
      if constexpr (!is_half<S>) image = out;
      parallel_for(inner, p.channels, 1, [&](int64_t first, int64_t last) {
        const int64_t plane = window.source_size();
        for (int64_t c = first; c < last; ++c) {
          const T start = bias ? scalar_as<T>(bias[c]) : 0;
          const bool keep = add && !is_half<S>;
          T* row = image + c * plane;
          for (int64_t i = 0; i < plane; ++i) row[i] = keep ? row[i] + start : start;
        }
        add_patches(image, columns, window, first, last);
      });
      close_block(out, image, size, add);
    }
    return true;
  });
}

// Whether the data gradient is cheaper as a convolution than by `scatter`. In units of a
// multiply-add, packing a patch costs about 24 and adding one to the image about 36.
bool gathers(const mx_conv_params& p, const Window& window) {
  for (int64_t stride : p.stride) {
    if (stride != 1) return false;
  }
  const double positions[2] = {(double)window.target_size(), (double)window.source_size()};
  const double c = (double)p.channels, f = (double)p.filters;
  return positions[0] * f * (c + 24) <= positions[1] * c * (f + 36);
}

template <class S>
int conv_im2col_data(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_conv_params*)call->params;
  const Window window = backward_window(p);
  if (is_dense(p, window)) {
    return multiply_pixels<S>(call, p.batch, p.channels, p.filters,
                              {data<S>(call->in[1]), p.channels, true});
  }
  if (!gathers(p, window)) return scatter<S>(call, p);
  const int64_t taps = window.taps(), k = p.filters * taps;
  Shared<T> shared;
  if (!share<T, S>(&shared, call, p.groups, p.channels, k)) return -1;
  for (int64_t g = 0; g < p.groups; ++g) {
    const TurnedWeights<T, S> weights = {data<S>(call->in[1]) + g * p.channels * k, p.channels,
                                         taps};
    pack_all<T>(shared.weights + g * shared.step, weights, p.channels, k);
  }
  return convolve<S>(call, p, window, p.channels, p.filters, shared);
}

// out (filters x taps of all channels) = gradient * patches^T, over all images at once.
template <class S, class B>
bool weight_product(const mx_call* call, const mx_conv_params& p, int threads, int64_t group,
                    int64_t positions, int64_t k, const B& patches) {
  typedef Sum<S> T;
  const bool add = call->req[0] == MX_ADD;
  const ImageRows<T, S> gradient = {data<S>(call->in[1]) + group * p.filters * positions,
                                    p.groups * p.filters * positions, positions};
  S* out = data<S>(call->out[0]) + group * p.filters * k;
  T* sums;
  if constexpr (is_half<S>) {
    sums = (T*)scratch(kTempSlot, (size_t)(p.filters * k) * sizeof(T));
    if (!sums) return false;
  } else {
    sums = out;
  }
  if (!gemm(threads, p.filters, k, p.batch * positions, (T)1, gradient, patches,
            (T)(add && !is_half<S>), sums, k)) {
    return false;
  }
  close_rows(out, k, sums, p.filters, k, add);
  return true;
}

template <class S>
int conv_im2col_weight(const mx_call* call) {
  typedef Sum<S> T;
  const auto& p = *(const mx_conv_params*)call->params;
  const Window window = forward_window(p);
  const int64_t positions = window.target_size(), source = window.source_size();
  const int64_t k = p.channels * window.taps(), image_step = p.groups * p.channels * source;
  const int outer = p.groups >= call->threads ? call->threads : 1;
  const int inner = outer > 1 ? 1 : call->threads;
  return parallel_try(outer, p.groups, 1, [&](int64_t begin, int64_t end) {
    for (int64_t g = begin; g < end; ++g) {
      const S* images = data<S>(call->in[0]) + g * p.channels * source;
      if (!(window.identity() ? weight_product<S>(call, p, inner, g, positions, k,
                                                  ImageRows<T, S>{images, image_step, positions})
                              : weight_product<S>(call, p, inner, g, positions, k,
                                                  PatchRows<T, S>{images, image_step, &window, 0})))
        return false;
    }
    return true;
  });
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("conv_im2col", conv_im2col<S>, dtype, MX_TAKES_ADD);
  mx_kernel_add("conv_im2col_data", conv_im2col_data<S>, dtype, MX_TAKES_ADD);
  mx_kernel_add("conv_im2col_weight", conv_im2col_weight<S>, dtype, MX_TAKES_ADD);
}

}  // namespace

void register_conv() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
