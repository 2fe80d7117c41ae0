// Threads that wait for each of their plans at once: they run the next ones themselves.
#pragma once
#include <cstdint>

namespace mx {

// The calling thread pushes steps of a plan, from `first` on. `plan`: see mx_plan_number.
void note_plan(int64_t plan, int32_t first);
// A thread pushes a kernel.
void note_kernel();
// The calling thread had to wait for a variable, from `began` on (see mx_profile_now).
void note_wait(int64_t began);

// Whether the calling thread should run these steps itself; `begins`: for the first time in a row.
bool runs_here(int64_t plan, int32_t first, bool* begins);

}  // namespace mx
