// The library's fork handlers; those of Python objects are in mxcy/_library/forks.py and run before
// these.
#include "core/fork.h"

#include <pthread.h>
#include <sched.h>

#include "mxcy.h"

namespace mx {
namespace {

// All fork-safe locks; the list itself is locked from before a fork until after it.
struct Locks {
  std::mutex guard;
  HeldInForks* first = nullptr;

  // Releases everything if one is taken: its holder may be waiting for another of them.
  bool try_all() {
    for (HeldInForks* lock = first; lock; lock = lock->after) {
      if (lock->try_take(lock)) continue;
      give_back_until(lock);
      return false;
    }
    return true;
  }

  void give_back_until(const HeldInForks* end) {
    for (HeldInForks* lock = first; lock != end; lock = lock->after) lock->give_back(lock);
  }
};

// Never destroyed: locks in static objects unregister while the process ends.
Locks& all() {
  static Locks* instance = new Locks;
  return *instance;
}

int g_forks = 0;

void prepare() {
  for (;;) {
    all().guard.lock();
    if (all().try_all()) return;
    all().guard.unlock();
    sched_yield();
  }
}

void in_parent() {
  all().give_back_until(nullptr);
  all().guard.unlock();
}

void in_child() {
  in_parent();
  ++g_forks;
  mx_set_threads(1);
}

const int g_registered = pthread_atfork(prepare, in_parent, in_child);

}  // namespace

HeldInForks::HeldInForks(bool (*take)(HeldInForks*), void (*give)(HeldInForks*))
    : try_take(take), give_back(give), before(nullptr) {
  std::lock_guard<std::mutex> lock(all().guard);
  after = all().first;
  if (after) after->before = this;
  all().first = this;
}

HeldInForks::~HeldInForks() {
  std::lock_guard<std::mutex> lock(all().guard);
  if (before) before->after = after;
  if (after) after->before = before;
  if (all().first == this) all().first = after;
}

bool forked() { return g_forks != 0; }
int forks() { return g_forks; }

}  // namespace mx
