// Identification of the threads that run prioritized device operations.
#pragma once

namespace mx {

// Whether the calling thread is one; its GPU work is then given a high-priority stream.
bool is_urgent_thread();

}  // namespace mx
