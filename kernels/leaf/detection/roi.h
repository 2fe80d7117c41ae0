// Regions of images whose parts are means of interpolated sampling points. A region type R
// provides:
//   R(params, numbers)     constructed from R::kNumbers numbers
//   counts(), image()      whether it reads an image, and which
//   each_block(body)       body(points, first part, count) for blocks of parts and each of their
//                          points, weighted as in the mean
#pragma once
#include "leaf/image/bilinear.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN

// The sampling points of a region along one axis: `each` per part, at distances of `step / each`.
// Only points between `low` and `high` are visited, so their number is bounded by that of pixels,
// however large the region is.
struct Line {
  double first, step, each, low, high;

  double place(int64_t part, double k) const {
    return first + ((double)part + (k + 0.5) / each) * step;
  }
  // Compute the first point of a part that has to be visited, and the number of such points.
  void visit(int64_t part, double* from, int64_t* count) const {
    double begin = 0, end = each;
    if (step > 0) {
      begin = within(__builtin_floor(((low - first) / step - (double)part) * each) - 1);
      end = within(__builtin_ceil(((high - first) / step - (double)part) * each) + 1);
    }
    *from = begin;
    *count = end > begin ? (int64_t)(end - begin) : 0;
  }
  bool finite() const { return first - first == 0 && step - step == 0; }

 private:
  double within(double k) const { return k > 0 ? k < each ? k : each : 0; }
};

// The visited points of a block of parts, by rows and columns.
struct Visits {
  double from[2][kPoints];
  int64_t count[2][kPoints], most[2] = {0, 0};

  // Parts `at`, `at + 1`, ... of a region with `columns` columns of parts.
  Visits(const Line* lines, int64_t columns, int64_t at, int n) {
    for (int i = 0; i < n; ++i) {
      const int64_t part[2] = {(at + i) / columns, (at + i) % columns};
      for (int d = 0; d < 2; ++d) {
        lines[d].visit(part[d], &from[d][i], &count[d][i]);
        if (count[d][i] > most[d]) most[d] = count[d][i];
      }
    }
  }
  // Whether part `i` has a point `k` along axis `d`.
  bool has(int d, int i, int64_t k) const { return k < count[d][i]; }
};

// Number of points along an axis for parts that are `step` pixels long.
inline double points_of(int64_t wanted, double step) {
  return wanted > 0 ? (double)wanted : step > 1 ? __builtin_ceil(step) : 1;
}

// Elements of the data that an output channel reads.
inline int64_t channel_size(const mx_roi_params& p) {
  return p.source[0] * p.source[1] * (p.sensitive ? p.pooled[0] * p.pooled[1] : 1);
}

// Check that all regions lie in existing images.
template <class T, class R>
bool in_images(const mx_call* call, const mx_roi_params& p) {
  for (int64_t r = 0; r < p.regions; ++r) {
    if (!(data<T>(call->in[1])[R::kNumbers * r] < (T)p.images)) {
      return mx_fail("rois: image index out of range") == 0;
    }
  }
  return true;
}

// Means of all parts, from (data, regions).
template <class T, class R>
int pool_points(const mx_call* call) {
  const auto& p = *(const mx_roi_params*)call->params;
  const int64_t parts = p.pooled[0] * p.pooled[1], size = channel_size(p);
  if (!in_images<T, R>(call, p)) return -1;
  parallel_for(call->threads, p.regions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* out = data<T>(call->out[0]) + r * p.channels * parts;
      memset(out, 0, (size_t)(p.channels * parts) * sizeof(T));
      const R region(p, data<T>(call->in[1]) + R::kNumbers * r);
      if (!region.counts()) continue;
      const T* image = data<T>(call->in[0]) + region.image() * p.channels * size;
      region.each_block([&](const Points<T>& points, int64_t at, int n) {
        for (int64_t c = 0; c < p.channels; ++c) {
          points.read_more(image + c * size, out + c * parts + at, n);
        }
      });
    }
  });
  return 0;
}

// Zero some channels of all images.
template <class T>
inline void clear_channels(const mx_call* call, const mx_roi_params& p, int64_t begin,
                           int64_t end) {
  const int64_t size = channel_size(p);
  for (int64_t image = 0; image < p.images; ++image) {
    memset(data<T>(call->out[0]) + (image * p.channels + begin) * size, 0,
           (size_t)((end - begin) * size) * sizeof(T));
  }
}

// The data gradient, from (gradient of the means, regions, data).
template <class T, class R>
int spread_points(const mx_call* call) {
  const auto& p = *(const mx_roi_params*)call->params;
  const int64_t parts = p.pooled[0] * p.pooled[1], size = channel_size(p);
  if (!in_images<T, R>(call, p)) return -1;
  parallel_for(call->threads, p.channels, 1, [&](int64_t begin, int64_t end) {
    clear_channels<T>(call, p, begin, end);
    for (int64_t r = 0; r < p.regions; ++r) {
      const R region(p, data<T>(call->in[1]) + R::kNumbers * r);
      if (!region.counts()) continue;
      const T* grads = data<T>(call->in[0]) + r * p.channels * parts;
      T* image = data<T>(call->out[0]) + region.image() * p.channels * size;
      region.each_block([&](const Points<T>& points, int64_t at, int n) {
        for (int64_t c = begin; c < end; ++c) {
          points.add(image + c * size, grads + c * parts + at, n);
        }
      });
    }
  });
  return 0;
}

MX_LEAF_END
