// Regions that are turned, pooled to one size: "rroi_align" (data, regions) and "rroi_align_grad"
// (gradient of the output, regions, data).
#include "roi.h"

MX_LEAF_BEGIN
namespace {

template <class T>
class TurnedRegion {
 public:
  static constexpr int kNumbers = 6;  // image, x and y of the centre, width, height, degrees

  TurnedRegion(const mx_roi_params& params, const T* numbers)
      : p(params), image_((int64_t)numbers[0]), counts_(numbers[0] >= 0 && image_ < p.images) {
    for (int d = 0; d < 2; ++d) {
      const double size = (double)numbers[4 - d] * p.scale;
      center_[d] = (double)numbers[2 - d] * p.scale;
      length_[d] = size > 1 ? size : 1;
      const double points = __builtin_ceil(length_[d] / (double)p.pooled[d]);
      each_[d] = p.samples > 0 ? p.samples : (int64_t)points;
    }
    const double turn = (double)numbers[5] * 3.14159265358979323846 / 180;
    cosine_ = __builtin_cos(turn);
    sine_ = __builtin_sin(turn);
  }
  bool counts() const { return counts_; }
  int64_t image() const { return image_; }

  template <class Body>
  void each_block(const Body& body) const {
    const int64_t parts = p.pooled[0] * p.pooled[1], inner = each_[0] * each_[1];
    const T share = (T)(1.0 / (double)inner);
    Points<T> points;
    for (int64_t at = 0; at < parts; at += kPoints) {
      const int n = (int)least(kPoints, parts - at);
      for (int64_t k = 0; k < inner; ++k) {
        for (int i = 0; i < n; ++i) {
          const double down = along(0, (at + i) / p.pooled[1], k / each_[1]);
          const double right = along(1, (at + i) % p.pooled[1], k % each_[1]);
          set(&points, i, down, right, share);
        }
        body(points, at, n);
      }
    }
  }

 private:
  // How far from the centre point `k` of part `i` lies in a direction of the region.
  double along(int d, int64_t i, int64_t k) const {
    const double inner = ((double)k + 0.5) / (double)each_[d];
    return ((double)i + inner) * (length_[d] / (double)p.pooled[d]) - length_[d] / 2;
  }
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
  double center_[2], length_[2], cosine_, sine_;
  int64_t each_[2];
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
