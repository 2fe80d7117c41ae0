// cuDNN, opened at run time.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Create the handle of a stream before a capture; true if cuDNN is not open.
bool ready_cudnn(int32_t device, Stream stream);

}  // namespace cuda
}  // namespace mx
