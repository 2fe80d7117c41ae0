// sum_types.h: the types in which values of several processes are summed.
#ifndef MXCY_CORE_SUM_TYPES_H_
#define MXCY_CORE_SUM_TYPES_H_

#include "mxcy.h"

namespace mx {

// Calls a function with a value of a dtype, or of an unsigned integer type that adds up alike:
// signed integers wrap around, too. Returns false for other dtypes.
template <class F>
bool with_sum_type(int32_t dtype, F function) {
  switch (dtype) {
#define MX_CASE(name, type) \
  case MX_##name:           \
    function(type{});       \
    return true;
    MX_CASE(F32, float)
    MX_CASE(F64, double)
    MX_CASE(U8, uint8_t)
    MX_CASE(I8, uint8_t)
    MX_CASE(I16, uint16_t)
    MX_CASE(U16, uint16_t)
    MX_CASE(I32, uint32_t)
    MX_CASE(U32, uint32_t)
    MX_CASE(I64, uint64_t)
    MX_CASE(U64, uint64_t)
#undef MX_CASE
    default:
      return false;
  }
}

}  // namespace mx
#endif  // MXCY_CORE_SUM_TYPES_H_
