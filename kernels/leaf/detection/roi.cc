// Regions of images pooled to a fixed size: "roi_align" (data, regions) and "roi_align_grad"
// (output gradient, regions, data): means of interpolated sampling points; "roi_pooling" (data,
// regions) and "roi_pooling_grad" (output gradient, regions, positions of the maxima, data).
#include "leaf/detection/roi.h"
#include "core/parallel_try.h"

MX_LEAF_BEGIN
namespace {

template <class T>
class Region {
 public:
  static constexpr int kNumbers = 5;

  Region(const mx_roi_params& params, const T* numbers) : p(params), image_((int64_t)numbers[0]) {
    const double shift = p.aligned ? 0.5 : 0;
    for (int d = 0; d < 2; ++d) {
      const double first = (double)numbers[2 - d] * p.scale - shift;
      double length = (double)numbers[4 - d] * p.scale - shift - first;
      if (!p.aligned && length < 1) length = 1;
      const double step = length / (double)p.pooled[d];
      line_[d] = {first, step, points_of(p.samples, step), -1, (double)p.source[d]};
    }
  }
  bool counts() const {
    return image_ >= 0 && image_ < p.images && line_[0].finite() && line_[1].finite();
  }
  int64_t image() const { return image_; }

  // Call body(points, first part, count) for blocks of parts and each of their sampling points.
  template <class Body>
  void each_block(const Body& body) const {
    const int64_t parts = p.pooled[0] * p.pooled[1], plane = p.source[0] * p.source[1];
    const T share = (T)(1.0 / (line_[0].each * line_[1].each));
    Points<T> points;
    for (int64_t at = 0; at < parts; at += kPoints) {
      const int n = (int)least(kPoints, parts - at);
      const Visits visits(line_, p.pooled[1], at, n);
      for (int64_t k = 0; k < visits.most[0] * visits.most[1]; ++k) {
        for (int i = 0; i < n; ++i) {
          const double y = place(visits, 0, i, (at + i) / p.pooled[1], k / visits.most[1]);
          const double x = place(visits, 1, i, (at + i) % p.pooled[1], k % visits.most[1]);
          set_point(&points, i, Place<T>((T)y, (T)x, p.source[0], p.source[1]));
          for (int c = 0; c < 4; ++c) {
            points.share[c][i] *= share;
            if (p.sensitive) points.at[c][i] += (int32_t)((at + i) * plane);
          }
        }
        body(points, at, n);
      }
    }
  }

 private:
  // Position of the k-th visited point of a part; -2 if it does not count.
  double place(const Visits& visits, int d, int i, int64_t part, int64_t k) const {
    if (!visits.has(d, i, k)) return -2;
    const double at = line_[d].place(part, visits.from[d][i] + (double)k);
    const double last = line_[d].high - 1;
    if (!(at >= -1 && at <= line_[d].high)) return -2;
    return at < 0 ? 0 : at > last ? last : at;
  }

  const mx_roi_params& p;
  int64_t image_;
  Line line_[2];
};

// --- maxima ------------------------------------------------------------------------------------

// The pixels of a part of a region along one axis.
struct Run {
  int64_t begin, end;
};
inline double round_away(double x) {
  return __builtin_copysign(__builtin_floor(__builtin_fabs(x) + 0.5), x);
}
inline int64_t within(double x, int64_t extent) {
  return !(x > 0) ? 0 : x > (double)extent ? extent : (int64_t)x;  // NaN becomes 0
}
inline Run part_of(double first, double last, int64_t i, int64_t parts, int64_t extent) {
  const double size = (last - first + 1 > 1 ? last - first + 1 : 1) / (double)parts;
  return {within(__builtin_floor((double)i * size) + first, extent),
          within(__builtin_ceil((double)(i + 1) * size) + first, extent)};
}

template <class T>
void pool_region(const mx_roi_params& p, const T* numbers, const T* image, T* out, T* places) {
  const int64_t plane = p.source[0] * p.source[1], parts = p.pooled[0] * p.pooled[1];
  double side[4];
  for (int i = 0; i < 4; ++i) side[i] = round_away((double)numbers[i + 1] * p.scale);
  for (int64_t part = 0; part < parts; ++part) {
    const Run rows = part_of(side[1], side[3], part / p.pooled[1], p.pooled[0], p.source[0]);
    const Run columns = part_of(side[0], side[2], part % p.pooled[1], p.pooled[1], p.source[1]);
    const bool empty = rows.begin >= rows.end || columns.begin >= columns.end;
    for (int64_t c = 0; c < p.channels; ++c) {
      const T* from = image + c * plane;
      int64_t place = empty ? -1 : rows.begin * p.source[1] + columns.begin;
      T best = empty ? 0 : from[place];
      for (int64_t y = rows.begin; !empty && y < rows.end; ++y) {
        for (int64_t x = columns.begin; x < columns.end; ++x) {
          const int64_t at = y * p.source[1] + x;
          if (from[at] > best) best = from[at], place = at;
        }
      }
      out[c * parts + part] = best;
      if (places) places[c * parts + part] = (T)place;
    }
  }
}

template <class T>
int roi_pooling(const mx_call* call) {
  const auto& p = *(const mx_roi_params*)call->params;
  const int64_t size = p.channels * p.pooled[0] * p.pooled[1];
  return parallel_try(call->threads, p.regions, 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const T* numbers = data<T>(call->in[1]) + 5 * r;
      const int64_t image = (int64_t)numbers[0];
      if (!(image >= -p.images && image < p.images))
        return mx_fail("rois: image index out of range: %g in region %lld of %lld images",
                       (double)numbers[0], (long long)r, (long long)p.images) == 0;
      T* places = call->out[1].data ? data<T>(call->out[1]) + r * size : nullptr;
      const int64_t number = image < 0 ? image + p.images : image;
      pool_region(p, numbers,
                  data<T>(call->in[0]) + number * p.channels * p.source[0] * p.source[1],
                  data<T>(call->out[0]) + r * size, places);
    }
    return true;
  });
}

template <class T>
int roi_pooling_grad(const mx_call* call) {
  const auto& p = *(const mx_roi_params*)call->params;
  const int64_t plane = p.source[0] * p.source[1], parts = p.pooled[0] * p.pooled[1];
  parallel_for(call->threads, p.channels, 1, [&](int64_t begin, int64_t end) {
    clear_channels<T>(call, p, begin, end);
    for (int64_t r = 0; r < p.regions; ++r) {
      int64_t image = (int64_t)data<T>(call->in[1])[5 * r];
      if (image < 0) image += p.images;
      if (!(image >= 0 && image < p.images)) continue;
      for (int64_t c = begin; c < end; ++c) {
        const T* grads = data<T>(call->in[0]) + (r * p.channels + c) * parts;
        const T* places = data<T>(call->in[2]) + (r * p.channels + c) * parts;
        T* to = data<T>(call->out[0]) + (image * p.channels + c) * plane;
        for (int64_t i = 0; i < parts; ++i) {
          if (places[i] >= 0 && places[i] < (T)plane) to[(int64_t)places[i]] += grads[i];
        }
      }
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("roi_align", pool_points<T, Region<T>>, dtype, 0);
  mx_kernel_add("roi_align_grad", spread_points<T, Region<T>>, dtype, 0);
  mx_kernel_add("roi_pooling", roi_pooling<T>, dtype, 0);
  mx_kernel_add("roi_pooling_grad", roi_pooling_grad<T>, dtype, 0);
}

}  // namespace

void register_roi() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
