// Position-sensitive regions: each part reads its own channels, numbered (output channel, group
// row, group column).
#pragma once
#include "leaf/image/bilinear.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN

// Computed in the dtype of the data, because rounding decides which pixels belong to a part.
template <class T>
class PartedRegion {
 public:
  PartedRegion(const mx_parts_params& params, const T* numbers, T shift)
      : p(params), image((int64_t)numbers[0]) {
    if (image < 0) image += p.images;
    for (int d = 0; d < 2; ++d) {
      first[d] = round_away(numbers[1 + d]) * (T)p.scale - shift;
      const T length = (round_away(numbers[3 + d]) + 1) * (T)p.scale - shift - first[d];
      size[d] = length > (T)0.1 ? length : (T)0.1;
      step[d] = size[d] / (T)p.pooled;
    }
  }
  bool counts() const { return image >= 0 && image < p.images; }

  // The channel read for a part of output channel `c`.
  static int64_t channel(const mx_parts_params& p, int64_t c, int64_t row, int64_t column) {
    return (c * p.groups + row * p.groups / p.pooled) * p.groups + column * p.groups / p.pooled;
  }

  const mx_parts_params& p;
  int64_t image;
  T first[2], size[2], step[2];  // x, y

 private:
  static T round_away(T x) {
    const T whole = (T)__builtin_floor((x < 0 ? -x : x) + (T)0.5);
    return x < 0 ? -whole : whole;
  }
};

// Check that all regions refer to an existing image; sets an error text if not.
template <class T>
inline bool name_images(const mx_parts_params& p, const T* rois) {
  for (int64_t r = 0; r < p.regions; ++r) {
    if (!PartedRegion<T>(p, rois + 5 * r, 0).counts()) {
      mx_fail("rois: image index out of range");
      return false;
    }
  }
  return true;
}

// The data gradient at one image and output channel.
template <class T>
inline T* group_of(const mx_parts_params& p, T* images, int64_t image, int64_t c) {
  const int64_t size = p.groups * p.groups * p.source[0] * p.source[1];
  return images + (image * p.channels + c) * size;
}
template <class T>
inline void clear_groups(const mx_parts_params& p, T* images, int64_t begin, int64_t end) {
  const int64_t size = p.groups * p.groups * p.source[0] * p.source[1];
  for (int64_t image = 0; image < p.images; ++image) {
    memset(group_of(p, images, image, begin), 0, (size_t)((end - begin) * size) * sizeof(T));
  }
}

MX_LEAF_END
