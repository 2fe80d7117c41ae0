// cuDNN, opened at run time.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Make what convolutions on a stream need, before one is captured; true where cuDNN was not opened.
bool ready_cudnn(int32_t device, Stream stream);

}  // namespace cuda
}  // namespace mx
