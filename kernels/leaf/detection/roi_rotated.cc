// Rotated regions pooled to a fixed size: "rroi_align" (data, regions) and "rroi_align_grad"
// (output gradient, regions, data).
#include "leaf/detection/roi.h"

MX_LEAF_BEGIN
namespace {

template <class T>
class TurnedRegion {
 public:
  static constexpr int kNumbers = 6;  // image, centre x and y, width, height, degrees

  TurnedRegion(const mx_roi_params& params, const T* numbers)
      : p(params), image_((int64_t)numbers[0]), counts_(numbers[0] >= 0 && image_ < p.images) {
    const double turn = (double)numbers[5] * 3.14159265358979323846 / 180;
    cosine_ = __builtin_cos(turn);
    sine_ = __builtin_sin(turn);
    double to_middle[2], reach = 2;  // from the region's centre to the image's; half its diagonal
    for (int d = 0; d < 2; ++d) {
      center_[d] = (double)numbers[2 - d] * p.scale;
      to_middle[d] = (double)(p.source[d] - 1) / 2 - center_[d];
      reach += (double)p.source[d] / 2;
    }
    const double along[2] = {to_middle[0] * cosine_ + to_middle[1] * sine_,
                             to_middle[1] * cosine_ - to_middle[0] * sine_};
    for (int d = 0; d < 2; ++d) {
      const double size = (double)numbers[4 - d] * p.scale, length = size > 1 ? size : 1;
      const double step = length / (double)p.pooled[d];
      line_[d] = {-length / 2, step, points_of(p.samples, step), along[d] - reach,
                  along[d] + reach};
      counts_ = counts_ && line_[d].finite() && along[d] - along[d] == 0;
    }
  }
  bool counts() const { return counts_; }
  int64_t image() const { return image_; }

  template <class Body>
  void each_block(const Body& body) const {
    const int64_t parts = p.pooled[0] * p.pooled[1];
    const T share = (T)(1.0 / (line_[0].each * line_[1].each));
    Points<T> points;
    for (int64_t at = 0; at < parts; at += kPoints) {
      const int n = (int)least(kPoints, parts - at);
      const Visits visits(line_, p.pooled[1], at, n);
      for (int64_t k = 0; k < visits.most[0] * visits.most[1]; ++k) {
        const int64_t y = k / visits.most[1], x = k % visits.most[1];
        for (int i = 0; i < n; ++i) {
          const bool there = visits.has(0, i, y) && visits.has(1, i, x);
          const double down = line_[0].place((at + i) / p.pooled[1], visits.from[0][i] + (double)y);
          const double right =
              line_[1].place((at + i) % p.pooled[1], visits.from[1][i] + (double)x);
          set(&points, i, down, right, there ? share : 0);
        }
        body(points, at, n);
      }
    }
  }

 private:
  void set(Points<T>* points, int i, double down, double right, T share) const {
    const double rows = (double)p.source[0], columns = (double)p.source[1];
    const double y = down * cosine_ - right * sine_ + center_[0];
    const double x = right * cosine_ + down * sine_ + center_[1];
    const bool inside = y >= -1 && y <= rows && x >= -1 && x <= columns;
    const Place<T> place((T)within(y, rows), (T)within(x, columns), p.source[0], p.source[1]);
    set_point(points, i, place);
    for (int c = 0; c < 4; ++c) points->share[c][i] *= inside ? share : 0;
  }
  static double within(double x, double extent) {
    return x < 0 ? 0 : x < extent - 1 ? x : extent - 1;
  }

  const mx_roi_params& p;
  int64_t image_;
  bool counts_;
  double center_[2], cosine_, sine_;
  Line line_[2];
};

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("rroi_align", pool_points<T, TurnedRegion<T>>, dtype, 0);
  mx_kernel_add("rroi_align_grad", spread_points<T, TurnedRegion<T>>, dtype, 0);
}

}  // namespace

void register_roi_rotated() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
