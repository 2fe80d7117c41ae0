// 16-bit dtypes: float16 and bfloat16.
#pragma once
#include "onednn/job.h"

namespace mx {
namespace onednn {

// Dtypes of kernels that also support 16-bit floats.
constexpr uint32_t kFloats = 1u << MX_F32 | 1u << MX_F16 | 1u << MX_BF16;

// Whether an implementation multiplies elements of a dtype in hardware, accumulating in float32,
// instead of converting them. False with an error text.
bool in_hardware(const Primitive& primitive, int type);

}  // namespace onednn
}  // namespace mx
