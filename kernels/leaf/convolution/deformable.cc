// "deformable" (data, offset, [mask,] weight[, bias]) and "deformable_grad" (output gradient, data,
// offset, [mask,] weight): a product of the weights with columns (channel, tap) sampled at the
// positions the offsets point to.
#include "leaf/image/bilinear.h"
#include "leaf/matrix/gemm.h"
#include "params/convolution.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
class Taps {
 public:
  Taps(const mx_deformable_params& params, const T* offset, const T* mask)
      : p(params), offset_(offset), mask_(mask) {}

  int64_t taps() const { return p.kernel[0] * p.kernel[1]; }
  int64_t places() const { return p.target[0] * p.target[1]; }
  int64_t plane() const { return p.source[0] * p.source[1]; }
  int64_t channels() const { return p.channels / p.moved; }  // of a group with common offsets
  int64_t rows() const { return p.channels * taps(); }       // of the column matrix
  // Index of a tap of a group, for the first position of an image, in the mask; twice that in the
  // offsets.
  int64_t number(int64_t image, int64_t group, int64_t tap) const {
    return (image * p.moved + group) * taps() + tap;
  }
  const T* mask(int64_t number) const { return mask_ ? mask_ + number * places() : nullptr; }

  void points(Points<T>* points, int64_t number, int64_t at, int n) const {
    each(number, at, n, [&](int i, const Place<T>& place, T, T) { set_point(points, i, place); });
  }
  void slopes(Slopes<T>* slopes, int64_t number, int64_t at, int n) const {
    each(number, at, n, [&](int i, const Place<T>& place, T row, T column) {
      set_point(slopes, i, place, row, column);
    });
  }

 private:
  template <class Body>
  void each(int64_t number, int64_t at, int n, const Body& body) const {
    const int64_t tap = number % taps();
    const T *down = offset_ + number * 2 * places() + at, *right = down + places();
    const T dy = (T)(tap / p.kernel[1] * p.dilate[0] - p.pad[0]);
    const T dx = (T)(tap % p.kernel[1] * p.dilate[1] - p.pad[1]);
    const T height = (T)p.source[0], width = (T)p.source[1];
    int64_t h = at / p.target[1], w = at % p.target[1];
    for (int i = 0; i < n; ++i) {
      T y = (T)(h * p.stride[0]) + dy + down[i], x = (T)(w * p.stride[1]) + dx + right[i];
      T row = 1, column = 1;
      if (!p.modulated) {
        // Zero outside; the last row and column extend to the edge.
        const bool inside = y >= 0 && y < height && x >= 0 && x < width;
        row = (T)(y < height - 1);
        column = (T)(x < width - 1);
        y = !inside ? -2 : row != 0 ? y : height - 1;
        x = column != 0 ? x : width - 1;
      }
      body(i, Place<T>(y, x, p.source[0], p.source[1]), row, column);
      if (++w == p.target[1]) w = 0, ++h;
    }
  }

  const mx_deformable_params& p;
  const T *offset_, *mask_;
};

template <class T>
inline void multiply(T* values, const T* by, int n) {
  for (int i = 0; i < n; ++i) values[i] *= by[i];
}

// Call body(group, tap, first position, count) for all blocks of positions of all taps.
template <class T, class Body>
void each_block(int threads, const mx_deformable_params& p, const Taps<T>& taps, const Body& body) {
  const int64_t blocks = ceil_div(taps.places(), kPoints);
  parallel_for(threads, p.moved * taps.taps() * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t at = unit % blocks * kPoints, tap = unit / blocks;
      body(tap / taps.taps(), tap % taps.taps(), at, (int)least(kPoints, taps.places() - at));
    }
  });
}

// Columns (channel, tap) x positions of an image.
template <class T>
void fill_columns(int threads, const mx_deformable_params& p, const Taps<T>& taps, const T* images,
                  int64_t image, T* columns) {
  const int64_t places = taps.places(), channels = taps.channels();
  each_block(threads, p, taps, [&](int64_t group, int64_t tap, int64_t at, int n) {
    const int64_t number = taps.number(image, group, tap);
    const T* mask = taps.mask(number);
    Points<T> points;
    taps.points(&points, number, at, n);
    for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
      T* to = columns + (c * taps.taps() + tap) * places + at;
      points.read(images + (image * p.channels + c) * taps.plane(), to, n);
      if (mask) multiply(to, mask + at, n);
    }
  });
}

template <class T>
void add_bias(int threads, const mx_deformable_params& p, int64_t places, const T* bias, T* out) {
  parallel_for(threads, p.filters, 1, [&](int64_t begin, int64_t end) {
    for (int64_t f = begin; f < end; ++f) {
      for (int64_t i = 0; i < places; ++i) out[f * places + i] += bias[f];
    }
  });
}

template <class T>
int deformable(const mx_call* call) {
  const auto& p = *(const mx_deformable_params*)call->params;
  const mx_tensor* in = call->in + (p.modulated ? 3 : 2);  // weight, bias
  const Taps<T> taps(p, data<T>(call->in[1]), p.modulated ? data<T>(call->in[2]) : nullptr);
  const int64_t places = taps.places(), k = taps.rows() / p.groups, m = p.filters / p.groups;
  const bool has_bias = call->nin > (p.modulated ? 4 : 3);
  T* columns = (T*)call->workspace;
  for (int64_t image = 0; image < p.batch; ++image) {
    fill_columns(call->threads, p, taps, data<T>(call->in[0]), image, columns);
    T* out = data<T>(call->out[0]) + image * p.filters * places;
    for (int64_t g = 0; g < p.groups; ++g) {
      const Matrix<T> weight = {data<T>(in[0]) + g * m * k, k, false};
      const Matrix<T> part = {columns + g * k * places, places, true};
      if (!gemm(call->threads, m, places, k, (T)1, weight, part, (T)0, out + g * m * places,
                places)) {
        return -1;
      }
    }
    if (has_bias) add_bias(call->threads, p, places, data<T>(in[1]), out);
  }
  return 0;
}

// Gradients of the offsets and the mask, given that of the columns.
template <class T>
void moves_gradient(const mx_call* call, const mx_deformable_params& p, const Taps<T>& taps,
                    int64_t image, const T* by_columns) {
  const int64_t places = taps.places(), channels = taps.channels();
  const T* images = data<T>(call->in[1]);
  each_block(call->threads, p, taps, [&](int64_t group, int64_t tap, int64_t at, int n) {
    const int64_t number = taps.number(image, group, tap);
    const T* mask = taps.mask(number);
    Slopes<T> slopes;
    taps.slopes(&slopes, number, at, n);
    T down[kPoints] = {}, right[kPoints] = {}, weights[kPoints] = {}, read[kPoints];
    for (int64_t c = group * channels; c < (group + 1) * channels; ++c) {
      const T* grad = by_columns + (c * taps.taps() + tap) * places + at;
      const T* plane = images + (image * p.channels + c) * taps.plane();
      slopes.sum(plane, grad, down, right, n);
      if (!mask) continue;
      slopes.points.read(plane, read, n);
      for (int i = 0; i < n; ++i) weights[i] += read[i] * grad[i];
    }
    if (mask) {
      multiply(down, mask + at, n);
      multiply(right, mask + at, n);
      memcpy(data<T>(call->out[2]) + number * places + at, weights, n * sizeof(T));
    }
    T* offsets = data<T>(call->out[1]) + number * 2 * places + at;
    memcpy(offsets, down, n * sizeof(T));
    memcpy(offsets + places, right, n * sizeof(T));
  });
}

// Scatter gradients to the pixels that taps read: one thread per part of a group's channels.
template <class T>
void data_gradient(const mx_call* call, const mx_deformable_params& p, const Taps<T>& taps,
                   int64_t image, const T* by_columns) {
  const int64_t places = taps.places(), channels = taps.channels(), plane = taps.plane();
  const int64_t parts = parts_of(call->threads, p.moved, channels);
  parallel_for(call->threads, p.moved * parts, 1, [&](int64_t begin, int64_t end) {
    Points<T> points;
    T grad[kPoints];
    for (int64_t unit = begin; unit < end; ++unit) {
      const int64_t group = unit / parts, part = unit % parts;
      const int64_t first = group * channels + part * channels / parts;
      const int64_t last = group * channels + (part + 1) * channels / parts;
      T* to = data<T>(call->out[0]) + image * p.channels * plane;
      memset(to + first * plane, 0, (size_t)((last - first) * plane) * sizeof(T));
      for (int64_t tap = 0; tap < taps.taps(); ++tap) {
        const int64_t number = taps.number(image, group, tap);
        const T* mask = taps.mask(number);
        for (int64_t at = 0; at < places; at += kPoints) {
          const int n = (int)least(kPoints, places - at);
          taps.points(&points, number, at, n);
          for (int64_t c = first; c < last; ++c) {
            memcpy(grad, by_columns + (c * taps.taps() + tap) * places + at, n * sizeof(T));
            if (mask) multiply(grad, mask + at, n);
            points.add(to + c * plane, grad, n);
          }
        }
      }
    }
  });
}

template <class T>
int deformable_grad(const mx_call* call) {
  const auto& p = *(const mx_deformable_params*)call->params;
  // The weight's index among the inputs; its gradient is one before.
  const int last = p.modulated ? 4 : 3;
  const Taps<T> taps(p, data<T>(call->in[2]), p.modulated ? data<T>(call->in[3]) : nullptr);
  const int64_t places = taps.places(), k = taps.rows() / p.groups, m = p.filters / p.groups;
  T *columns = (T*)call->workspace, *by_columns = columns + taps.rows() * places;
  T* by_weight = data<T>(call->out[last - 1]);
  if (p.batch == 0) memset(by_weight, 0, (size_t)(p.filters * k) * sizeof(T));
  for (int64_t image = 0; image < p.batch; ++image) {
    fill_columns(call->threads, p, taps, data<T>(call->in[1]), image, columns);
    const T* grads = data<T>(call->in[0]) + image * p.filters * places;
    for (int64_t g = 0; g < p.groups; ++g) {
      const T* grad = grads + g * m * places;
      const Matrix<T> transposed = {data<T>(call->in[last]) + g * m * k, k, true};
      const Matrix<T> part = {columns + g * k * places, places, false};
      if (!gemm(call->threads, k, places, m, (T)1, transposed, Matrix<T>{grad, places, true}, (T)0,
                by_columns + g * k * places, places) ||
          !gemm(call->threads, m, k, places, (T)1, Matrix<T>{grad, places, false}, part,
                (T)(image > 0), by_weight + g * m * k, k)) {
        return -1;
      }
    }
    if (call->out[1].data) moves_gradient(call, p, taps, image, by_columns);
    if (call->out[0].data) data_gradient(call, p, taps, image, by_columns);
  }
  return 0;
}

}  // namespace

void register_deformable() {
  mx_kernel_add("deformable", deformable<float>, MX_BIT(F32), 0);
  mx_kernel_add("deformable", deformable<double>, MX_BIT(F64), 0);
  mx_kernel_add("deformable_grad", deformable_grad<float>, MX_BIT(F32), 0);
  mx_kernel_add("deformable_grad", deformable_grad<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
