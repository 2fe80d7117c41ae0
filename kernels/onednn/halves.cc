// 16-bit dtypes: the capabilities encoded in the names of oneDNN's implementations.
#include "onednn/halves.h"

#include <cstring>

namespace mx {
namespace onednn {

bool in_hardware(const Primitive& primitive, int type) {
  if (type == kF32) return true;
  const char* implementation = primitive.implementation();
  // Other instruction sets only convert float16, which our own kernels do as fast (measured).
  const bool half = type == kF16;
  if (strstr(implementation, "amx") || (!half && strstr(implementation, "avx512_core_bf16")))
    return true;
  return mx_fail("this CPU has no %s products for oneDNN's %s", half ? "float16" : "bfloat16",
                 implementation) == 0;
}

}  // namespace onednn
}  // namespace mx
