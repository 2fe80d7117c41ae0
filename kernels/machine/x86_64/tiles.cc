// AMX tile registers: whether this process may use them.
#include "tiles.h"

#include <cpuid.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cstdint>

namespace mx {
namespace {

constexpr uint32_t kTileAndBytes = 1u << 24 | 1u << 25;  // EDX of leaf 7: AMX-TILE, AMX-INT8
constexpr uint32_t kSaves = 1u << 27;                    // ECX of leaf 1: OSXSAVE
constexpr uint32_t kTileState = 3u << 17;                // XCR0: tile configuration and data
constexpr long kAskPermission = 0x1023, kTileData = 18;  // of arch_prctl

bool cpu_has_tiles() {
  uint32_t a, b, c, d;
  if (!__get_cpuid(1, &a, &b, &c, &d) || !(c & kSaves)) return false;
  if (!__get_cpuid_count(7, 0, &a, &b, &c, &d) || (d & kTileAndBytes) != kTileAndBytes)
    return false;
  uint32_t low, high;
  __asm__("xgetbv" : "=a"(low), "=d"(high) : "c"(0));
  return (low & kTileState) == kTileState;
}

}  // namespace

bool tiles_allowed() {
  static const bool allowed =
      cpu_has_tiles() && syscall(SYS_arch_prctl, kAskPermission, kTileData) == 0;
  return allowed;
}

}  // namespace mx
