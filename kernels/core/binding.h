// Threads that the OpenMP runtime does not bind.
#pragma once

namespace mx {

// Let the calling thread use the CPUs of mx_keep_cpus, whatever its creator was bound to.
void unbind_thread();

}  // namespace mx
