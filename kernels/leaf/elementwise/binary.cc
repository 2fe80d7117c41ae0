// The binary kernels of elemwise.def: array-array, array-scalar, broadcast.
#include "leaf/elementwise/functor.h"
#include "leaf/simd/special.h"

MX_LEAF_BEGIN
namespace {

#define MX_BINARY(name, types, ...)  \
  struct name##_op {                 \
    template <class V>               \
    static MX_INLINE V f(V x, V y) { \
      return __VA_ARGS__;            \
    }                                \
  };
#define MX_BINARY_TEST(name, types, ...)       \
  struct name##_op : Test {                    \
    template <class V>                         \
    static MX_INLINE Mask<V> holds(V x, V y) { \
      return __VA_ARGS__;                      \
    }                                          \
    template <class V>                         \
    static MX_INLINE V f(V x, V y) {           \
      return truth<V>(holds(x, y));            \
    }                                          \
  };
#define MX_GRAD MX_BINARY
#define MX_BINARY_BITS(name, ...) MX_BINARY(name, BITS, __VA_ARGS__)
#include "elemwise.def"

template <class Op, class T>
constexpr Rows kRows = {
    {vv_row<Op, T>, binary_test<Op, T, true, true>(), dtype_of<T>},
    {vs_row<Op, T>, binary_test<Op, T, true, false>(), dtype_of<T>},
    {sv_row<Op, T>, binary_test<Op, T, false, true>(), dtype_of<T>},
};

template <class Op, class T>
int same_shape(const mx_call* call) {
  return run_binary(call, kRows<Op, T>);
}
template <class Op, class T>
int with_scalar(const mx_call* call) {
  return run_with_scalars(call, kRows<Op, T>.vs, 1, false);
}
template <class Op, class T>
int scalar_with(const mx_call* call) {
  return run_with_scalars(call, kRows<Op, T>.sv, 1, true);
}
template <class Op, class T>
int broadcast(const mx_call* call) {
  return run_broadcast(call, kRows<Op, T>);
}

template <class T>
constexpr Instruction kInstructions[] = {
#define MX_GRAD(id, types, ...) \
  {name_code(#id), kPair, vv_row<id##_op, T>, vs_row<id##_op, T>, sv_row<id##_op, T>},
#define MX_BINARY(id, types, ...) \
  MX_GRAD(id, types){name_code(#id "_scalar"), kWithNumber, vs_row<id##_op, T>, nullptr, nullptr},
#define MX_BINARY_R(id, types, ...)                                                             \
  MX_BINARY(id, types){name_code("r" #id "_scalar"), kNumberFirst, sv_row<id##_op, T>, nullptr, \
                       nullptr},
#include "elemwise.def"
};

}  // namespace

const Instruction* binary_instruction(uint32_t code, int32_t dtype) {
  return dtype == MX_F32 ? find_instruction(kInstructions<float>, code)
                         : find_instruction(kInstructions<double>, code);
}

void register_elemwise_binary() {
#define MX_ADD_GRAD(T, bits) mx_kernel_add(name, same_shape<Op, T>, bits, 0);
#define MX_ADD_FORMS(T, bits)                              \
  mx_kernel_add(name, same_shape<Op, T>, bits, 0);         \
  mx_kernel_add(scalar_name, with_scalar<Op, T>, bits, 0); \
  mx_kernel_add(broadcast_name, broadcast<Op, T>, bits, 0);
#define MX_ADD_FORMS_R(T, bits) \
  MX_ADD_FORMS(T, bits)         \
  mx_kernel_add(reversed_name, scalar_with<Op, T>, bits, 0);
#define MX_OPEN(id)                                                      \
  using Op = id##_op;                                                    \
  [[maybe_unused]] const char *name = #id, *scalar_name = #id "_scalar", \
                              *broadcast_name = #id "_broadcast",        \
                              *reversed_name = "r" #id "_scalar";
#define MX_BINARY(id, types, ...) {MX_OPEN(id) MX_BUILD_##types(MX_ADD_FORMS)}
#define MX_BINARY_R(id, types, ...) {MX_OPEN(id) MX_BUILD_##types(MX_ADD_FORMS_R)}
#define MX_BINARY_BITS(id, ...) {MX_OPEN(id) MX_BUILD_BITS(MX_ADD_FORMS_R)}
#define MX_GRAD(id, types, ...) {MX_OPEN(id) MX_BUILD_##types(MX_ADD_GRAD)}
#include "elemwise.def"
}
MX_LEAF_END
