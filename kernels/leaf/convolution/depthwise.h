// depthwise.h: conditions of the kernels for 3 x 3 filters on channels-last data.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

// The reason these kernels reject a convolution, or NULL.
template <class P>
const char* depthwise_3x3_refusal(const P& p) {
  if (p.channels != 1 || p.filters != 1 || p.groups < 1)
    return "only one filter per channel is supported";
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "three spatial dimensions are not supported";
  for (int i = 1; i < 3; ++i) {
    if (p.kernel[i] != 3) return "the kernel is not 3 x 3";
    if (p.dilate[i] != 1) return "the kernel is dilated";
  }
  return nullptr;
}

MX_LEAF_END
