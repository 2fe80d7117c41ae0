// Errors that kernels find in the elements they are given, such as indices out of bounds. A kernel
// reports them by an alarm; whoever waits for the device next gets the error. The memory that the
// kernel wrote has failed from then on, and so has what is computed from it, until it is written
// anew: each wait for it raises the error again.
#pragma once
#include <vector>

#include "cuda/driver.h"
#include "cuda/order.h"

namespace mx {
namespace cuda {

// A kernel's argument: where it reports, in memory of the host, and what it computes.
struct Alarm {
  Address report, output;
};
// The argument for alarm `number` of a device, -1 for one that is never set.
Alarm alarm_of(int32_t device, int64_t number, const void* output);

// False, with the error text, if `memory` has failed, or if there is an error not raised so far.
// Call it after waiting for the device.
bool is_quiet(int32_t device, const void* memory = nullptr);
// Whether any memory of a device has failed; if not, the functions below have nothing to do.
bool has_failures(int32_t device);
// Whether this memory has failed; if so, sets the error text.
bool has_failed(int32_t device, const void* memory);
// Propagate failures through a launch: results of failed memory have failed, others have not.
void pass_failures_on(int32_t device, const std::vector<Use>& uses);
// Forget a failure when memory is freed.
void forget_failure(int32_t device, const void* memory);

}  // namespace cuda
}  // namespace mx
