// Blocks of memory that share huge pages; see huge_pages.h.
#include "core/memory/huge_pages.h"

#include <sys/mman.h>

#include <cstdint>
#include <iterator>

namespace mx {
namespace {

constexpr size_t kRegion = 32 * kHugePage;  // of addresses; memory is provided when it is used

char* round_up(char* address, size_t step) {
  return address + (step - (uintptr_t)address % step) % step;
}

}  // namespace

// Never destroyed: blocks of static objects are freed while the process ends.
HugePages& HugePages::instance() {
  static HugePages* instance = new HugePages;
  return *instance;
}

bool HugePages::add_region() {
  constexpr size_t kMapped = kRegion + kHugePage;  // some huge pages of it are aligned
  void* mapped = mmap(nullptr, kMapped, PROT_READ | PROT_WRITE,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (mapped == MAP_FAILED) return false;
  char *begin = (char*)mapped, *region = round_up(begin, kHugePage), *end = region + kRegion;
  if (region > begin) munmap(begin, region - begin);
  if (begin + kMapped > end) munmap(end, begin + kMapped - end);
  madvise(region, kRegion, MADV_HUGEPAGE);
  regions_[region] = free_[region] = kRegion;
  return true;
}

// The smallest free range of at least `size`.
HugePages::Ranges::iterator HugePages::fitting(size_t size) {
  auto best = free_.end();
  for (auto range = free_.begin(); range != free_.end(); ++range) {
    if (range->second >= size && (best == free_.end() || range->second < best->second))
      best = range;
  }
  return best;
}

void* HugePages::take(size_t bytes) {
  const size_t size = (bytes + kGrain - 1) / kGrain * kGrain;
  if (size > kRegion) return nullptr;
  std::lock_guard<ForkSafeMutex> guard(lock_);
  auto best = fitting(size);
  if (best == free_.end() && add_region()) best = fitting(size);
  if (best == free_.end()) return nullptr;
  char* data = best->first;
  const size_t rest = best->second - size;
  free_.erase(best);
  if (rest) free_[data + size] = rest;
  used_[data] = size;
  return data;
}

// Whether one range ends where the other begins, in the same region.
bool HugePages::touch(const Range& first, const Range& second) {
  return first.first + first.second == second.first && !regions_.count(second.first);
}

// A new free range, joined with its neighbours.
HugePages::Ranges::iterator HugePages::add_free(char* begin, size_t size) {
  auto range = free_.emplace(begin, size).first;
  const auto next = std::next(range);
  if (next != free_.end() && touch(*range, *next)) {
    range->second += next->second;
    free_.erase(next);
  }
  if (range == free_.begin()) return range;
  const auto previous = std::prev(range);
  if (!touch(*previous, *range)) return range;
  previous->second += range->second;
  free_.erase(range);
  return previous;
}

bool HugePages::give(void* data) {
  std::lock_guard<ForkSafeMutex> guard(lock_);
  const auto block = used_.find((char*)data);
  if (block == used_.end()) return false;
  const auto range = add_free(block->first, block->second);
  used_.erase(block);
  char* begin = range->first;
  const size_t size = range->second;
  if (size == kRegion) {
    munmap(begin, kRegion);
    regions_.erase(begin);
    free_.erase(range);
    return true;
  }
  char* first = round_up(begin, kHugePage);
  char* last = begin + size - (uintptr_t)(begin + size) % kHugePage;
  if (first < last) madvise(first, last - first, MADV_DONTNEED);
  return true;
}

}  // namespace mx
