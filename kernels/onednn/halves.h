// Element types of 16 bits: float16 and bfloat16.
#pragma once
#include "onednn/job.h"

namespace mx {
namespace onednn {

// The element types of kernels that take narrow ones, too.
constexpr uint32_t kFloats = 1u << MX_F32 | 1u << MX_F16 | 1u << MX_BF16;

// Whether an implementation has this CPU multiply numbers of a type and sum up in float32, instead
// of converting each. False with an error text.
bool in_hardware(const Primitive& primitive, int type);

}  // namespace onednn
}  // namespace mx
