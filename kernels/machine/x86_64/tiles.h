// Tile registers of AMX: whether this process may use them.
#pragma once

namespace mx {

// Whether the CPU multiplies tiles of bytes and the system lets this process do so; the first call
// asks the system, which has to keep 8 KB more for each thread that does.
bool tiles_allowed();

}  // namespace mx
