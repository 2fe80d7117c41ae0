// MXNET_ONEDNN_DEBUG: compares oneDNN's results with those of the library's own kernels.
#pragma once
#include <atomic>

#include "mxcy.h"

namespace mx {
namespace onednn {

extern std::atomic<bool> g_checks;

// Run oneDNN kernel `name`, and fail if our own equivalent kernel, if there is one, computes
// something else.
int run_checked(const char* name, mx_kernel fn, const mx_call* call);

}  // namespace onednn
}  // namespace mx

extern "C" {
MX_API void mx_onednn_check(int32_t on);
MX_API int64_t mx_onednn_compared(void);  // number of calls compared so far
}
