// Aligned system memory, for the pools and for allocations outside them.
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>

#include "core/memory/huge_pages.h"
#include "mxcy.h"

using mx::HugePages;
using mx::kHugePage;

// Blocks of some pages use huge pages where available: address translation costs little, above all
// on virtual machines, and streaming is up to 1.6 times as fast. Smaller ones than kLarge share
// them. The address sanitizer watches blocks of the C library only.
#ifdef __SANITIZE_ADDRESS__
constexpr size_t kShared = (size_t)-1;
#else
constexpr size_t kShared = (size_t)256 << 10;
#endif
constexpr size_t kLarge = 8 * kHugePage;

extern "C" void* mx_system_alloc(size_t bytes) {
  if (bytes == 0) return nullptr;
  void* data = nullptr;
  if (bytes >= kShared && bytes < kLarge && (data = HugePages::instance().take(bytes))) return data;
  const bool huge = bytes >= 2 * kHugePage;
  if (bytes > (size_t)1 << 62 || posix_memalign(&data, huge ? kHugePage : 64, bytes) != 0) {
    mx_fail("out of memory: cannot allocate %zu bytes", bytes);
    return nullptr;
  }
  if (huge) madvise(data, bytes / kHugePage * kHugePage, MADV_HUGEPAGE);
  return data;
}

extern "C" void mx_system_free(void* data) {
  const bool aligned = (uintptr_t)data % HugePages::kGrain == 0;
  if (!data || !aligned || !HugePages::instance().give(data)) free(data);
}
