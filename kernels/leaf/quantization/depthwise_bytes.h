// What the depthwise convolutions of 8-bit data share: 3 x 3 filters over channels-last images.
#pragma once
#include "leaf/convolution/depthwise.h"
#include "leaf/quantization/bytes.h"
#include "leaf/queries.h"
#include "params/int8.gen.h"

#if MX_ISA_LEVEL >= 3
MX_LEAF_BEGIN

constexpr int kTaps = 3;  // along each axis

// Columns under the windows of a row, and output rows that four input rows suffice for.
inline int64_t columns_of(const mx_int8_conv_params& p) {
  return (p.target[2] - 1) * p.stride[2] + kTaps;
}
inline int64_t rows_at_once(const mx_int8_conv_params& p) { return p.stride[1] == 1 ? 2 : 1; }

// The upper bound of results.
inline float highest(const mx_int8_conv_params& p) {
  const float high = p.target_type == MX_I8 ? 127.f : 255.f;
  return p.act == 2 && (float)p.limit < high ? (float)p.limit : high;
}

inline const char* depthwise_refusal(const mx_int8_conv_params& p) {
  if (const char* reason = depthwise_3x3_refusal(p)) return reason;
  if (p.sum) return "residuals are not supported";
  if (p.target_type != MX_I8 && p.target_type != MX_U8) return "float outputs are not supported";
  return nullptr;
}

MX_LEAF_END
#endif
