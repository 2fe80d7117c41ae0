// AMX tile registers: whether this process may use them.
#pragma once

namespace mx {

// Whether the CPU has AMX-INT8 and the system permits its use; the first call requests permission,
// because the kernel has to save 8 KB more for each thread that uses tiles.
bool tiles_allowed();

}  // namespace mx
