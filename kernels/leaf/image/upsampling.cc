// Nearest-neighbour upsampling: "enlarge" (images of several sizes, concatenated along the channels
// or summed) and "shrink" (an image), the sums over squares.
#include "leaf/simd/plane.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

// `fixed` is the factor if known at compile time, or 0.
template <class T, int fixed, bool add>
void enlarge_row(const T* __restrict from, T* __restrict to, int64_t width, int64_t factor) {
  const int64_t f = fixed ? fixed : factor;
  for (int64_t x = 0; x < width; ++x) {
    for (int64_t k = 0; k < f; ++k) to[x * f + k] = add ? to[x * f + k] + from[x] : from[x];
  }
}

template <class T, int fixed>
void enlarge_plane(const T* from, T* to, const int64_t* extents, int64_t factor, bool add) {
  const int64_t wide = extents[1] * factor;
  for (int64_t y = 0; y < extents[0]; ++y, from += extents[1]) {
    T* first = to;
    for (int64_t k = 0; k < factor; ++k, to += wide) {
      if (add) {
        enlarge_row<T, fixed, true>(from, to, extents[1], factor);
      } else if (k == 0) {
        enlarge_row<T, fixed, false>(from, to, extents[1], factor);
      } else {
        memcpy(to, first, (size_t)wide * sizeof(T));
      }
    }
  }
}

template <class T, int fixed>
void shrink_plane(const T* __restrict from, T* __restrict to, const int64_t* extents,
                  int64_t factor) {
  const int64_t f = fixed ? fixed : factor, width = extents[1];
  for (int64_t y = 0; y < extents[0]; ++y, to += width) {
    memset(to, 0, (size_t)width * sizeof(T));
    for (int64_t k = 0; k < f; ++k, from += width * f) {
      for (int64_t x = 0; x < width; ++x) {
        T sum = from[x * f];
        for (int64_t i = 1; i < f; ++i) sum += from[x * f + i];
        to[x] += sum;
      }
    }
  }
}

template <class T>
int enlarge(const mx_call* call) {
  const auto& p = *(const mx_upsampling_params*)call->params;
  const mx_tensor& out = call->out[0];
  const int64_t area = out.shape[2] * out.shape[3];
  int64_t channel = 0;  // of the result, where an image's channels begin
  for (int i = 0; i < call->nin; ++i) {
    const mx_tensor& image = call->in[i];
    const int64_t channels = image.shape[1], *extents = image.shape + 2;
    const int64_t factor = extents[0] > 0 ? out.shape[2] / extents[0] : 1;
    const auto plane = factor == 2   ? enlarge_plane<T, 2>
                       : factor == 4 ? enlarge_plane<T, 4>
                                     : enlarge_plane<T, 0>;
    parallel_for(call->threads, image.shape[0] * channels, 1, [&](int64_t begin, int64_t end) {
      for (int64_t c = begin; c < end; ++c) {
        const int64_t to = c / channels * out.shape[1] + channel + c % channels;
        plane(data<T>(image) + c * extents[0] * extents[1], data<T>(out) + to * area, extents,
              factor, p.sum && i > 0);
      }
    });
    if (!p.sum) channel += channels;
  }
  return 0;
}

template <class T>
int shrink(const mx_call* call) {
  const mx_tensor &image = call->in[0], &out = call->out[0];
  const int64_t* extents = out.shape + 2;
  const int64_t small = extents[0] * extents[1], large = image.shape[2] * image.shape[3];
  const int64_t factor = extents[0] > 0 ? image.shape[2] / extents[0] : 1;
  const auto plane = factor == 2   ? shrink_plane<T, 2>
                     : factor == 4 ? shrink_plane<T, 4>
                                   : shrink_plane<T, 0>;
  parallel_for(call->threads, out.shape[0] * out.shape[1], 1, [&](int64_t begin, int64_t end) {
    for (int64_t c = begin; c < end; ++c) {
      plane(data<T>(image) + c * large, data<T>(out) + c * small, extents, factor);
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("enlarge", enlarge<T>, dtype, 0);
  mx_kernel_add("shrink", shrink<T>, dtype, 0);
}

}  // namespace

void register_upsampling() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
