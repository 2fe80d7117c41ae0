// The lines of elemwise.def as text, from which mxcy/gpu builds kernels.
#include "mxcy_gpu.h"

#define MX_LINE(macro, name, ...) macro "(" #name ", " #__VA_ARGS__ ")\n"
#define MX_UNARY(name, types, ...) MX_LINE("MX_UNARY", name, types, __VA_ARGS__)
#define MX_UNARY2(name, types, ...) MX_LINE("MX_UNARY2", name, types, __VA_ARGS__)
#define MX_BINARY(name, types, ...) MX_LINE("MX_BINARY", name, types, __VA_ARGS__)
#define MX_BINARY_R(name, types, ...) MX_LINE("MX_BINARY_R", name, types, __VA_ARGS__)
#define MX_GRAD(name, types, ...) MX_LINE("MX_GRAD", name, types, __VA_ARGS__)
#define MX_UNARY_BITS(name, ...) MX_LINE("MX_UNARY", name, BITS, __VA_ARGS__)
#define MX_BINARY_BITS(name, ...) MX_LINE("MX_BINARY_R", name, BITS, __VA_ARGS__)
#define MX_UNARY_TEST(name, types, ...) MX_LINE("MX_UNARY_TEST", name, types, __VA_ARGS__)
#define MX_BINARY_TEST(name, types, ...) MX_LINE("MX_BINARY_TEST", name, types, __VA_ARGS__)

static const char kLines[] =
#include "elemwise.def"
    ;

extern "C" const char* mx_gpu_lines(void) { return kLines; }
