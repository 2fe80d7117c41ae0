// Threads that escape the CPU binding of the OpenMP runtime.
#pragma once

namespace mx {

// Let the calling thread run on the CPUs of mx_keep_cpus, whatever its creator was bound to.
void unbind_thread();

}  // namespace mx
