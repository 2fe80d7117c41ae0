// The unary kernels of elemwise.def.
#include "leaf/elementwise/functor.h"
#include "leaf/simd/special.h"

MX_LEAF_BEGIN
namespace {

#define MX_UNARY(name, types, ...) \
  struct name##_op {               \
    template <class V>             \
    static MX_INLINE V f(V x) {    \
      return __VA_ARGS__;          \
    }                              \
  };
#define MX_UNARY_TEST(name, types, ...)   \
  struct name##_op : Test {               \
    template <class V>                    \
    static MX_INLINE Mask<V> holds(V x) { \
      return __VA_ARGS__;                 \
    }                                     \
    template <class V>                    \
    static MX_INLINE V f(V x) {           \
      return truth<V>(holds(x));          \
    }                                     \
  };
#define MX_UNARY_BITS(name, ...) MX_UNARY(name, BITS, __VA_ARGS__)
#define MX_UNARY2(name, types, ...)                        \
  struct name##_op {                                       \
    template <class V>                                     \
    static MX_INLINE V f(V x, V p, [[maybe_unused]] V q) { \
      return __VA_ARGS__;                                  \
    }                                                      \
  };
#include "elemwise.def"

template <class Op, class T>
int unary(const mx_call* call) {
  return run_unary(call, {unary_row<Op, T>, unary_test<Op, T>(), dtype_of<T>});
}
template <class Op, class T>
int unary2(const mx_call* call) {
  return run_with_scalars(call, {unary2_row<Op, T>, nullptr, dtype_of<T>}, 2, false);
}

template <class T>
constexpr Instruction kInstructions[] = {
#define MX_UNARY(id, types, ...) {name_code(#id), kUnary, unary_row<id##_op, T>, nullptr, nullptr},
#define MX_UNARY2(id, types, ...) \
  {name_code(#id), kNumbers, unary2_row<id##_op, T>, nullptr, nullptr},
#include "elemwise.def"
};

}  // namespace

const Instruction* unary_instruction(uint32_t code, int32_t dtype) {
  return dtype == MX_F32 ? find_instruction(kInstructions<float>, code)
                         : find_instruction(kInstructions<double>, code);
}

void register_elemwise_unary() {
#define MX_ADD_UNARY(T, bits) mx_kernel_add(name, unary<Op, T>, bits, 0);
#define MX_ADD_UNARY2(T, bits) mx_kernel_add(name, unary2<Op, T>, bits, 0);
#define MX_UNARY(id, types, ...)   \
  {                                \
    using Op = id##_op;            \
    const char* name = #id;        \
    MX_BUILD_##types(MX_ADD_UNARY) \
  }
#define MX_UNARY_BITS(id, ...) MX_UNARY(id, BITS)
#define MX_UNARY2(id, types, ...)   \
  {                                 \
    using Op = id##_op;             \
    const char* name = #id;         \
    MX_BUILD_##types(MX_ADD_UNARY2) \
  }
#include "elemwise.def"
}
MX_LEAF_END
