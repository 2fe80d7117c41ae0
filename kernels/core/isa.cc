// Choose the build of the leaf kernels for this CPU and fill the kernel table.
#include "mxcy.h"

namespace mx {
#define MX_LEAF_SET(level) \
  namespace level {        \
  void register_leaf();    \
  }
#if defined(MX_BUILD_V2)
MX_LEAF_SET(v2)
#endif
#if defined(MX_BUILD_V3)
MX_LEAF_SET(v3)
#endif
#if defined(MX_BUILD_V4)
MX_LEAF_SET(v4)
#endif
}  // namespace mx

static int32_t g_isa = 0;

static bool cpu_has(int32_t isa) {
  __builtin_cpu_init();
  switch (isa) {
    case 2:
      return __builtin_cpu_supports("sse4.2") && __builtin_cpu_supports("popcnt");
    case 3:
      return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
             __builtin_cpu_supports("bmi2") && __builtin_cpu_supports("f16c");
    case 4:
      return cpu_has(3) && __builtin_cpu_supports("avx512f") &&
             __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl") &&
             __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512cd");
    default:
      return false;
  }
}

// Fill the table from the build for `isa`; false when the library holds no such build.
static bool load(int32_t isa) {
  switch (isa) {
#if defined(MX_BUILD_V4)
    case 4:
      mx::v4::register_leaf();
      return true;
#endif
#if defined(MX_BUILD_V3)
    case 3:
      mx::v3::register_leaf();
      return true;
#endif
#if defined(MX_BUILD_V2)
    case 2:
      mx::v2::register_leaf();
      return true;
#endif
    default:
      return false;
  }
}

extern "C" int32_t mx_abi_version(void) { return MX_ABI_VERSION; }
extern "C" int32_t mx_isa(void) { return g_isa; }

extern "C" int mx_init(int32_t isa, int32_t threads, int64_t parallel_size) {
  mx_set_threads(threads);
  mx_set_parallel_size(parallel_size);
  if (g_isa) return 0;
  if (isa != 0 && !cpu_has(isa)) return mx_fail("this CPU does not run x86-64-v%d code", isa);
  for (int32_t level = isa ? isa : 4; level >= (isa ? isa : 2); --level) {
    if (cpu_has(level) && load(level)) {
      g_isa = level;
      return 0;
    }
  }
  return mx_fail("the library holds no build of the kernels for this CPU");
}
