// Chooses the build of the leaf kernels for this CPU and fills the kernel table.
#include "machine.h"
#include "mxcy.h"

// MX_LEVELS lists the builds in this library as MX_LEVEL(name, level).
#define MX_LEVEL(name, level) \
  namespace name {            \
  void register_leaf();       \
  }
namespace mx {
MX_LEVELS
}
#undef MX_LEVEL

static int32_t g_isa = 0;

// Fill the table from the build for `isa`; false if the library has no such build.
static bool load(int32_t isa) {
#define MX_LEVEL(name, level)  \
  case level:                  \
    mx::name::register_leaf(); \
    return true;
  switch (isa) {
    MX_LEVELS
    default:
      return false;
  }
#undef MX_LEVEL
}

extern "C" int32_t mx_abi_version(void) { return MX_ABI_VERSION; }
extern "C" int32_t mx_isa(void) { return g_isa; }

extern "C" int mx_init(int32_t isa, int32_t threads, int64_t parallel_size) {
  mx_set_threads(threads);
  mx_set_parallel_size(parallel_size);
  if (g_isa) return 0;
  if (isa != 0 && !mx::machine::runs(isa))
    return mx_fail("this CPU does not support the kernels of ISA level %d", isa);
  for (int32_t level = isa ? isa : 4; level >= (isa ? isa : 2); --level) {
    if (mx::machine::runs(level) && load(level)) {
      g_isa = level;
      return 0;
    }
  }
  return mx_fail("the library contains no kernels for this CPU");
}
