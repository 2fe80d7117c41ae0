// depthwise.h: which calls the kernels of 3 x 3 filters over channels-last data take.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

// Why these kernels refuse a convolution, or null.
template <class P>
const char* depthwise_3x3_refusal(const P& p) {
  if (p.channels != 1 || p.filters != 1 || p.groups < 1)
    return "each channel does not have one filter";
  if (p.source[0] != 1 || p.kernel[0] != 1 || p.pad[0] != 0)
    return "the data has three spatial dimensions";
  for (int i = 1; i < 3; ++i) {
    if (p.kernel[i] != 3) return "the kernel is not 3 x 3";
    if (p.dilate[i] != 1) return "the kernel is dilated";
  }
  return nullptr;
}

MX_LEAF_END
