// Common header of all leaf kernels. Leaf files are compiled once per ISA level inside namespace
// mx::MX_ISA (v2, v3, v4), so they must not include anything that instantiates shared templates
// (containers, iostream): such code would leak wide instructions into the whole library.
#pragma once
#include <cstdint>
#include <cstring>

#include "core/threads.h"
#include "mxcy.h"

#define MX_LEAF_BEGIN \
  namespace mx {      \
  namespace MX_ISA {
#define MX_LEAF_END \
  }                 \
  }

#define MX_BIT(name) (1u << MX_##name)

MX_LEAF_BEGIN
inline int64_t count(const mx_tensor& t) {
  int64_t n = 1;
  for (int i = 0; i < t.ndim; ++i) n *= t.shape[i];
  return n;
}
template <class T>
inline T* data(const mx_tensor& t) {
  return static_cast<T*>(t.data);
}
MX_LEAF_END
