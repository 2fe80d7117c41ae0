// "bilinear_sampler" (data, grid; or affine matrices instead of the grid) and
// "bilinear_sampler_grad" (output gradient, data, grid): images sampled at grid positions, in
// coordinates in which -1 and 1 are the first and the last pixel.
#include "leaf/image/bilinear.h"
#include "params/image.gen.h"

MX_LEAF_BEGIN
namespace {

// The sampling positions of an image.
template <class T>
class Grid {
 public:
  Grid(const mx_sampler_params& params, const T* grid) : p(params), grid_(grid) {
    for (int d = 0; d < 2; ++d) {
      half_[d] = (T)(p.source[d] - 1) / 2;
      step_[d] = (T)(2.0 / (double)(p.target[d] - 1));
    }
  }
  int64_t size() const { return p.target[0] * p.target[1]; }
  Place<T> place(int64_t image, int64_t at) const {
    T x, y;
    if (p.affine) {
      const T* m = grid_ + image * 6;
      const T row = (T)(at / p.target[1]) * step_[0] - 1;
      const T column = (T)(at % p.target[1]) * step_[1] - 1;
      x = m[0] * column + m[1] * row + m[2];
      y = m[3] * column + m[4] * row + m[5];
    } else {
      const T* places = grid_ + image * 2 * size() + at;
      x = places[0];
      y = places[size()];
    }
    return {(y + 1) * half_[0], (x + 1) * half_[1], p.source[0], p.source[1]};
  }
  T half(int d) const { return half_[d]; }

 private:
  const mx_sampler_params& p;
  const T* grid_;
  T half_[2], step_[2];
};

// Call body(image, first point, count) for all blocks of points of all images.
template <class Body>
void each_block(const mx_call* call, int64_t images, int64_t points, const Body& body) {
  const int64_t blocks = ceil_div(points, kPoints);
  parallel_for(call->threads, images * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t at = unit % blocks * kPoints;
      body(unit / blocks, at, (int)least(kPoints, points - at));
    }
  });
}

template <class T>
int bilinear_sampler(const mx_call* call) {
  const auto& p = *(const mx_sampler_params*)call->params;
  const Grid<T> grid(p, data<T>(call->in[1]));
  const int64_t plane = p.source[0] * p.source[1], size = grid.size();
  each_block(call, p.batch, size, [&](int64_t image, int64_t at, int n) {
    Points<T> points;
    for (int i = 0; i < n; ++i) set_point(&points, i, grid.place(image, at + i));
    const T* from = data<T>(call->in[0]) + image * p.channels * plane;
    T* to = data<T>(call->out[0]) + image * p.channels * size + at;
    for (int64_t c = 0; c < p.channels; ++c) points.read(from + c * plane, to + c * size, n);
  });
  return 0;
}

// Scatter gradients to pixels: one thread per part of the channels.
template <class T>
void data_gradient(const mx_call* call, const mx_sampler_params& p, const Grid<T>& grid) {
  const int64_t plane = p.source[0] * p.source[1], size = grid.size();
  const int64_t parts = parts_of(call->threads, p.batch, p.channels);
  parallel_for(call->threads, p.batch * parts, 1, [&](int64_t begin, int64_t end) {
    Points<T> points;
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t image = unit / parts, part = unit % parts;
      const int64_t first = image * p.channels + part * p.channels / parts;
      const int64_t last = image * p.channels + (part + 1) * p.channels / parts;
      T* to = data<T>(call->out[0]) + first * plane;
      const T* grads = data<T>(call->in[0]) + first * size;
      memset(to, 0, (size_t)((last - first) * plane) * sizeof(T));
      for (int64_t at = 0; at < size; at += kPoints) {
        const int n = (int)least(kPoints, size - at);
        for (int i = 0; i < n; ++i) set_point(&points, i, grid.place(image, at + i));
        for (int64_t c = 0; c < last - first; ++c)
          points.add(to + c * plane, grads + c * size + at, n);
      }
    }
  });
}

template <class T>
void grid_gradient(const mx_call* call, const mx_sampler_params& p, const Grid<T>& grid) {
  const int64_t plane = p.source[0] * p.source[1], size = grid.size();
  each_block(call, p.batch, size, [&](int64_t image, int64_t at, int n) {
    Slopes<T> slopes;
    for (int i = 0; i < n; ++i) {
      set_point(&slopes, i, grid.place(image, at + i), grid.half(0), grid.half(1));
    }
    const T* from = data<T>(call->in[1]) + image * p.channels * plane;
    const T* grads = data<T>(call->in[0]) + image * p.channels * size + at;
    T* right = data<T>(call->out[1]) + image * 2 * size + at;
    T* down = right + size;
    for (int i = 0; i < n; ++i) right[i] = down[i] = 0;
    for (int64_t c = 0; c < p.channels; ++c) {
      slopes.sum(from + c * plane, grads + c * size, down, right, n);
    }
  });
}

template <class T>
int bilinear_sampler_grad(const mx_call* call) {
  const auto& p = *(const mx_sampler_params*)call->params;
  const Grid<T> grid(p, data<T>(call->in[2]));
  if (call->out[0].data) data_gradient(call, p, grid);
  if (call->out[1].data) grid_gradient(call, p, grid);
  return 0;
}

}  // namespace

void register_sampler() {
  mx_kernel_add("bilinear_sampler", bilinear_sampler<float>, MX_BIT(F32), 0);
  mx_kernel_add("bilinear_sampler", bilinear_sampler<double>, MX_BIT(F64), 0);
  mx_kernel_add("bilinear_sampler_grad", bilinear_sampler_grad<float>, MX_BIT(F32), 0);
  mx_kernel_add("bilinear_sampler_grad", bilinear_sampler_grad<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
