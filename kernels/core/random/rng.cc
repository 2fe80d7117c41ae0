// Random streams: seeding, saving and restoring.
#include "core/random/rng.h"

#include <algorithm>
#include <cstring>

#include "mxcy_storage.h"

namespace {

struct Header {
  uint32_t version, copies, base, turn, count;
};
struct Saved {
  uint32_t index;
  mx::Mt19937 engine;
};
constexpr uint32_t kVersion = 1;

std::atomic<uint64_t> seedings{0};

}  // namespace

// Engines stay uninitialised (and their memory untouched) until they are seeded.
mx_rng::mx_rng(int32_t copies)
    : copies_(copies),
      seeding_(++seedings),
      engines_(new mx::Mt19937[(size_t)copies * kEngines + 1]),
      seeded_((size_t)copies * kEngines + 1) {}

void mx_rng::seed(uint32_t device, uint32_t seed) {
  std::lock_guard<std::mutex> guard(lock_);
  base_ = device + 127u * seed;
  turn_ = 0;
  seeding_ = ++seedings;
  std::fill(seeded_.begin(), seeded_.end(), 0);
}

uint32_t mx_rng::seed_of(int32_t index) const {
  if (index == copies_ * kEngines) return base_;
  return base_ + 16u * (uint32_t)(index / kEngines) + (uint32_t)(index % kEngines);
}

int64_t mx_rng::save(void* bytes, int64_t size) {
  std::lock_guard<std::mutex> guard(lock_);
  Header head{kVersion, (uint32_t)copies_, base_, (uint32_t)turn_, 0};
  for (uint8_t is : seeded_) head.count += is;
  const int64_t needed = sizeof head + head.count * (int64_t)sizeof(Saved);
  if (!bytes) return needed;
  if (size < needed)
    return mx_fail("mx_rng_save: %lld bytes given, %lld needed", (long long)size,
                   (long long)needed);
  char* to = static_cast<char*>(bytes);
  memcpy(to, &head, sizeof head);
  to += sizeof head;
  for (uint32_t i = 0; i < seeded_.size(); ++i) {
    if (!seeded_[i]) continue;
    const Saved one{i, engines_[i]};
    memcpy(to, &one, sizeof one);
    to += sizeof one;
  }
  return needed;
}

int mx_rng::restore(const void* bytes, int64_t size) {
  std::lock_guard<std::mutex> guard(lock_);
  Header head;
  if (size < (int64_t)sizeof head)
    return mx_fail("mx_rng_restore: %lld bytes are too short", (long long)size);
  memcpy(&head, bytes, sizeof head);
  if (head.version != kVersion || head.copies != (uint32_t)copies_ || head.turn >= head.copies ||
      head.count > seeded_.size() || size != (int64_t)(sizeof head + head.count * sizeof(Saved)))
    return mx_fail("mx_rng_restore: not a state of random streams with %d copies", copies_);
  const char* from = static_cast<const char*>(bytes) + sizeof head;
  for (uint32_t i = 0; i < head.count; ++i) {
    Saved one;
    memcpy(&one, from + i * sizeof one, sizeof one);
    if (one.index >= seeded_.size() || !one.engine.valid())
      return mx_fail("mx_rng_restore: engine %u of the saved state is corrupt", i);
  }
  base_ = head.base;
  seeding_ = ++seedings;
  turn_ = (int32_t)head.turn;
  std::fill(seeded_.begin(), seeded_.end(), 0);
  for (uint32_t i = 0; i < head.count; ++i) {
    Saved one;
    memcpy(&one, from + i * sizeof one, sizeof one);
    engines_[one.index] = one.engine;
    seeded_[one.index] = 1;
  }
  return 0;
}

extern "C" mx_rng* mx_rng_create(int32_t copies) {
  if (copies < 1 || copies > 1024) {
    mx_fail("mx_rng_create: copies must be from 1 to 1024, got %d", copies);
    return nullptr;
  }
  return new mx_rng(copies);
}

extern "C" void mx_rng_destroy(mx_rng* rng) { delete rng; }

extern "C" void mx_rng_seed(mx_rng* rng, uint32_t device, uint32_t seed) {
  rng->seed(device, seed);
}

extern "C" int64_t mx_rng_save(mx_rng* rng, void* bytes, int64_t size) {
  return rng->save(bytes, size);
}

extern "C" int mx_rng_restore(mx_rng* rng, const void* bytes, int64_t size) {
  return rng->restore(bytes, size);
}

extern "C" void mx_rng_for_dropout(mx_rng* rng, mx_rng* own) { rng->lend_dropout(own); }
