// Small helpers of core kernels.
#pragma once
#include "mxcy.h"

namespace mx {

inline int64_t count(const mx_tensor& t) {
  int64_t n = 1;
  for (int i = 0; i < t.ndim; ++i) n *= t.shape[i];
  return n;
}

inline int64_t item_size(int32_t dtype) {
  switch (dtype) {
#define MX_DTYPE(name, code, bytes) \
  case MX_##name:                   \
    return bytes;
#include "dtypes.def"
#undef MX_DTYPE
    default:
      return 0;
  }
}

}  // namespace mx
