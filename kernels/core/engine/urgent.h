// Which threads run prioritized operations of devices.
#pragma once

namespace mx {

// Whether the calling thread does; what it gives a GPU is to run first.
bool is_urgent_thread();

}  // namespace mx
