// cuBLAS, opened at run time.
#pragma once
#include "cuda/driver.h"

namespace mx {
namespace cuda {

// Make what products on a stream need, before one is captured; true where cuBLAS was not opened.
bool ready_blas(int32_t device, Stream stream);

}  // namespace cuda
}  // namespace mx
