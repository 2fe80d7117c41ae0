// A kernel's call on a device, on this thread's stream and in order with other streams.
#pragma once
#include "cuda/driver.h"
#include "cuda/graphs.h"
#include "cuda/order.h"
#include "mxcy.h"

namespace mx {
namespace cuda {

// List the memory that a call uses; bits of `mutated`: inputs that are written, the last for all
// from 63 on.
void list_uses(const mx_call* call, int32_t device, uint64_t mutated, std::vector<Use>* uses);

// Begin a call: get this thread's stream, which waits for its turn; false with an error text.
// `launches`: the number of kernels to follow, for captures.
bool begin_call(const mx_call* call, int32_t device, uint64_t mutated, int64_t launches,
                Stream* stream);
// End a call, so other streams wait for it.
bool end_call(const mx_call* call, int32_t device, uint64_t mutated);

}  // namespace cuda
}  // namespace mx
