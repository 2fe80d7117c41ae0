// Random streams of devices: Philox with its state in device memory (texts/philox.cuh).
#pragma once
#include "core/random/rng.h"
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Reseed the device's streams if `rng` was seeded since the last call. Not during a capture: the
// graph would repeat it.
bool refresh_random(mx_rng* rng, int32_t device);
// The state of the device's streams.
Address random_state(mx_rng* rng, int32_t device);

}  // namespace cuda
}  // namespace mx
