// A thread that waits as soon as it has pushed a plan gains nothing from the worker that runs it,
// and both have to be woken, which takes up to .2 ms of each run. So after a few such waits in a
// row it runs the same plan itself for a while; then one run is pushed, to see whether it still
// waits.
#include "core/engine/habit.h"

#include <algorithm>
#include <atomic>

#include "mxcy_operations.h"
#include "mxcy_profiler.h"

namespace mx {
namespace {

constexpr int32_t kTimes = 3;                 // waits in a row that make a habit
constexpr int32_t kFewest = 32, kMost = 256;  // runs before it is looked at again

std::atomic<int64_t> g_soon{200000};  // nanoseconds between a push and a wait at once
// Pushed by all threads: their teams would compete with that of a thread that runs plans itself.
std::atomic<int64_t> g_plans{0}, g_kernels{0};

int64_t pushes() { return g_plans.load() + g_kernels.load(); }

struct Habit {
  int64_t plan = 0;  // the number of the last one that was pushed
  int32_t first = 0;
  bool open = false;  // not awaited so far
  int64_t pushed_at = 0;
  int64_t plans = 0;  // g_plans then
  int32_t times = 0;
  int32_t runs = kFewest;  // that the habit is good for
  int32_t left = 0;        // of these
  int64_t pushes = 0;      // when they began; -1: they have not

  bool is_about(int64_t other, int32_t begin) const { return plan == other && first == begin; }
};

thread_local Habit t_habit;

}  // namespace

void note_plan(int64_t plan, int32_t first) {
  Habit& habit = t_habit;
  const int64_t plans = g_plans.fetch_add(1) + 1;
  if (habit.open || !habit.is_about(plan, first) || plans != habit.plans + 1) {
    habit.times = 0;
    habit.runs = kFewest;
  }
  habit.plan = plan;
  habit.first = first;
  habit.open = true;
  habit.plans = plans;
  habit.left = 0;
  habit.pushed_at = mx_profile_now();
}

void note_kernel() { g_kernels.fetch_add(1); }

void note_wait(int64_t began) {
  Habit& habit = t_habit;
  if (!habit.open) return;
  habit.open = false;
  habit.times = began - habit.pushed_at < g_soon.load() ? habit.times + 1 : 0;
  if (habit.times < kTimes) return;
  habit.times = kTimes - 1;
  habit.left = habit.runs;
  habit.runs = std::min(2 * habit.runs, kMost);
  habit.pushes = -1;
}

bool runs_here(int64_t plan, int32_t first, bool* begins) {
  Habit& habit = t_habit;
  if (habit.left == 0 || !habit.is_about(plan, first)) return false;
  *begins = habit.pushes < 0;
  if (*begins) habit.pushes = pushes();
  if (habit.pushes != pushes()) {
    habit.left = habit.times = 0;
    return false;
  }
  --habit.left;
  return true;
}

}  // namespace mx

extern "C" void mx_set_soon(int64_t microseconds) { mx::g_soon = microseconds * 1000; }
