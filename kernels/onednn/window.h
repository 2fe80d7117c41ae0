// Extents of windowed operators, from the parameters of convolutions.
#pragma once
#include "onednn/layout.h"

namespace mx {
namespace onednn {

// Parameters of a channels-last convolution with the images stacked: if windows are single pixels,
// the batch is one tall image. Kernels that process many pixels at a time then have no remainder at
// the end of each image.
template <class P>
P in_one_image(P p) {
  for (int i = 0; i < 3; ++i)
    if (p.kernel[i] != 1 || p.stride[i] != 1 || p.pad[i] != 0) return p;
  const int tall = p.source[0] == 1 ? 1 : 0;
  p.source[tall] *= p.batch;
  p.target[tall] *= p.batch;
  p.batch = 1;
  return p;
}

// With the minimum number of spatial dimensions. `weights` are (groups,) filters, channels,
// kernel...; those of a transposed convolution are stored as (groups,) channels, filters, kernel...
struct WindowExtents {
  Extents source, weights, weight_strides, target, stride, dilate, pad;
  int first_axis;  // 1 if the first of three spatial dimensions is omitted

  template <class P>
  WindowExtents(const P& p, bool transposed)
      : source{p.batch, p.groups * p.channels},
        target{p.batch, p.groups * p.filters},
        first_axis(p.source[0] == 1 && p.kernel[0] == 1 && p.pad[0] == 0) {
    const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
    if (p.groups > 1) add_weights(p.groups, p.filters * p.channels * taps);
    add_weights(p.filters, transposed ? taps : p.channels * taps);
    add_weights(p.channels, transposed ? p.filters * taps : taps);
    const int64_t steps[3] = {p.kernel[1] * p.kernel[2], p.kernel[2], 1};
    for (int i = first_axis; i < 3; ++i) {
      source.add(p.source[i]);
      target.add(p.target[i]);
      add_weights(p.kernel[i], steps[i]);
      stride.add(p.stride[i]);
      dilate.add(p.dilate[i] - 1);
      pad.add(p.pad[i]);
    }
  }

 private:
  void add_weights(int64_t extent, int64_t step) {
    weights.add(extent);
    weight_strides.add(step);
  }
};

}  // namespace onednn
}  // namespace mx
