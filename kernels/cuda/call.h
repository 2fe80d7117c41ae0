// A kernel's call on a device: what it gives this thread's stream, in order with other streams.
#pragma once
#include "cuda/driver.h"
#include "cuda/graphs.h"
#include "cuda/order.h"
#include "mxcy.h"

namespace mx {
namespace cuda {

// The memory that a call uses; bits of `mutated`: inputs that are written, the last for all
// from 63.
void list_uses(const mx_call* call, int32_t device, uint64_t mutated, std::vector<Use>* uses);

// Begin a call: the device's stream of this thread, which waits for its turn; false with an error
// text. `launches`: how many kernels it will be given, which a capture counts.
bool begin_call(const mx_call* call, int32_t device, uint64_t mutated, int64_t launches,
                Stream* stream);
// End it: others wait for what the stream was given.
bool end_call(const mx_call* call, int32_t device, uint64_t mutated);

}  // namespace cuda
}  // namespace mx
