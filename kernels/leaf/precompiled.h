// Compiled before all leaf kernels: parsing the intrinsics took a sixth of the build's time.
// No include guard, of which the compiler would warn in a file that it compiles alone.
#include "leaf/simd/vec.h"
