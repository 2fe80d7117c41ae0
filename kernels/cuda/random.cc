// State and seeding of random streams on devices.
#include "cuda/random.h"

#include <map>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fork.h"
#include "cuda/order.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr uint64_t kName = 0x6d786379;  // upper half of all keys

struct State {
  Address memory = 0;
  uint64_t seeding = 0;  // number of the seeding of `rng` in use
  int32_t sets = 0;
};

struct States {
  ForkSafeMutex lock;
  std::map<std::pair<const mx_rng*, int32_t>, State> of;
};

States& states() {
  static States* one = new States;
  return *one;
}

bool take_memory(State* state, int32_t device, int32_t sets) {
  const size_t bytes = (size_t)(2 + 2 * sets) * sizeof(uint64_t);
  // Destroyed streams leave their memory to new ones at the same address.
  if (state->memory && state->sets == sets) return true;
  if (!succeeded(api().MemAlloc(&state->memory, bytes), "taking memory for random streams"))
    return false;
  state->sets = sets;
  note_memory(device, (void*)state->memory, bytes);
  return true;
}

bool refresh(const mx_rng& rng, int32_t device) {
  Stream stream;
  States& self = states();
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  State& state = self.of[{&rng, device}];
  if (state.memory && state.seeding == rng.seeding()) return true;
  if (!stream_of(device, &stream) || !take_memory(&state, device, rng.copies())) return false;
  std::vector<uint64_t> words = {0, (uint64_t)state.sets};
  for (int32_t i = 0; i < state.sets; ++i) {
    words.push_back(kName << 32 | rng.seed_of_set(i));
    words.push_back(0);
  }
  return mx_gpu_copy((void*)state.memory, device, words.data(), MX_HOST,
                     words.size() * sizeof(uint64_t)) == 0 &&
         (state.seeding = rng.seeding(), true);
}

}  // namespace

bool refresh_random(mx_rng* rng, int32_t device) {
  mx_rng& own = rng->for_dropout();
  return refresh(*rng, device) && (&own == rng || refresh(own, device));
}

Address random_state(mx_rng* rng, int32_t device) {
  States& self = states();
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  return self.of[{rng, device}].memory;
}

}  // namespace cuda
}  // namespace mx
