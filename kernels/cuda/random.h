// The random streams of devices: Philox, whose state lies in a device's memory (texts/philox.cuh).
#pragma once
#include "core/random/rng.h"
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Have the device's streams begin where `rng` has been seeded, if it was since the last time. Not
// while a graph is captured: the graph would do so each time.
bool refresh_random(mx_rng* rng, int32_t device);
// Their state, after that.
Address random_state(mx_rng* rng, int32_t device);

}  // namespace cuda
}  // namespace mx
