// What kernels find wrong with the elements that they are given: they set an alarm, and who waits
// for the device raises its error.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// False, with the error text of an alarm, if kernels of a device have set one; it is taken back.
bool is_quiet(int32_t device);
// Where an alarm lies, in memory of the host that devices can reach.
Address alarm_at(int32_t device, int64_t number);

}  // namespace cuda
}  // namespace mx
