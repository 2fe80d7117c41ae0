// Worker threads and their queues.
#include <pthread.h>
#include <sched.h>
#include <signal.h>

#include <algorithm>
#include <cstdio>

#include "core/binding.h"
#include "core/engine/engine.h"
#include "core/engine/urgent.h"
#include "core/threads.h"
#include "mxcy_denormals.h"

namespace mx {

// Number of times an idle thread yields before it sleeps: waking it costs more than most
// operations, and busy programs push the next one soon.
constexpr int kSpins = 50;

// Names of the queues, and of their threads before the number.
static const char* const kQueueNames[] = {"cpu%d",      "cpu_priority", "gpu%d",   "gpu%d_priority",
                                          "gpu%d_copy", "all",          "all_copy"};
static const char* const kThreadNames[] = {"mx-cpu%d-w", "mx-cpu-p", "mx-gpu%d-w", "mx-gpu%d-p",
                                           "mx-gpu%d-c", "mx-all-w", "mx-all-c"};

static thread_local bool t_urgent = false;
bool is_urgent_thread() { return t_urgent; }

Workers::Workers(Family family, int32_t device, int32_t size, int32_t share)
    : family(family), device(device), size(size), share(share) {
  snprintf(name, sizeof name, kQueueNames[(int)family], device);
}

struct Workers::Thread {
  Workers* workers;
  int32_t generation;
};

bool Workers::start() {
  if (alive == size) return true;
  // Signals are handled by the program's own threads, except a thread's own faults: blocked, these
  // would end the process past all handlers, such as Python's faulthandler.
  sigset_t others, before;
  sigfillset(&others);
  for (int fault : {SIGSEGV, SIGBUS, SIGFPE, SIGILL}) sigdelset(&others, fault);
  pthread_sigmask(SIG_SETMASK, &others, &before);
  while (alive < size) {
    pthread_t id;
    Thread* thread = new Thread{this, generation_};
    if (pthread_create(&id, nullptr, main, thread) != 0) {
      delete thread;
      break;
    }
    threads_.push_back(id);
    ++alive;
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return alive > 0 || mx_fail("engine: cannot start a thread for %s", name) == 0;
}

// Whether `a` runs after `b`.
static bool is_later(const Operation* a, const Operation* b) {
  if (a->spec.priority != b->spec.priority) return a->spec.priority < b->spec.priority;
  return a->number > b->number;
}

void Workers::put(Operation* operation) {
  if (family == Family::kCpuPriority || family == Family::kGpuPriority) {
    heap_.push_back(operation);
    std::push_heap(heap_.begin(), heap_.end(), is_later);
  } else {
    (operation->spec.property == MX_OP_ASYNC ? brief_ : fifo_).append(operation);
  }
  length_.fetch_add(1, std::memory_order_relaxed);
  start();
  wake_one();
}

void Workers::wake_one() {
  if (sleeping_ == 0 || length_.load(std::memory_order_relaxed) <= spinning_ + wakeups_) return;
  --sleeping_;
  ++wakeups_;
  awake_.notify_one();
}

Operation* Workers::take() {
  Operation* operation;
  if (heap_.empty()) {
    operation = brief_.pop();
    if (!operation) operation = fifo_.pop();
  } else {
    std::pop_heap(heap_.begin(), heap_.end(), is_later);
    operation = heap_.back();
    heap_.pop_back();
  }
  if (operation) length_.fetch_sub(1, std::memory_order_relaxed);
  return operation;
}

void Workers::sleep(Lock& lock, int32_t generation) {
  ++sleeping_;
  awake_.wait(lock, [&] { return wakeups_ > 0 || generation_ != generation; });
  if (generation_ == generation) {
    --wakeups_;
    return;
  }
  --(sleeping_ > 0 ? sleeping_ : wakeups_);
  if (wakeups_ > 0) awake_.notify_one();  // it may have been meant for a thread that stays
}

// The next operation, or NULL if the thread is to end.
Operation* Workers::next(Lock& lock, int32_t generation) {
  for (bool looked = false;; looked = true) {
    if (generation_ != generation) {
      wake_one();  // its wake-up may have been meant for other work
      return nullptr;
    }
    if (Operation* operation = take()) return operation;
    if (looked) {
      sleep(lock, generation);
      continue;
    }
    ++spinning_;
    lock.unlock();
    for (int i = 0; i < kSpins && length_.load(std::memory_order_relaxed) == 0; ++i) sched_yield();
    lock.lock();
    --spinning_;
  }
}

void Workers::serve(int32_t generation) {
  Lock lock(engine().lock);
  char title[64];
  const int length = snprintf(title, sizeof title, kThreadNames[(int)family], device);
  snprintf(title + length, sizeof title - length, "%d", numbered_++);
  title[15] = 0;  // the longest name that the system allows
  pthread_setname_np(pthread_self(), title);
  unbind_thread();
  divide_team(share);
  t_urgent = family == Family::kGpuPriority;
  while (Operation* operation = next(lock, generation)) {
    ++run;
    mx_match_denormals();
    execute(operation, lock);
  }
}

void* Workers::main(void* argument) {
  const Thread thread = *(Thread*)argument;
  delete (Thread*)argument;
  thread.workers->serve(thread.generation);
  return nullptr;
}

std::vector<pthread_t> Workers::dismiss() {
  std::vector<pthread_t> threads;
  threads.swap(threads_);
  alive = numbered_ = 0;
  ++generation_;
  awake_.notify_all();
  return threads;
}

void Workers::forget() {
  threads_.clear();
  alive = numbered_ = spinning_ = sleeping_ = wakeups_ = 0;
  ++generation_;
  new (&awake_) std::condition_variable;  // the old one may count threads that no longer exist
}

static Workers* find_workers(Family family, int32_t device, int32_t size, int32_t share) {
  Engine& e = engine();
  for (const std::unique_ptr<Workers>& workers : e.workers)
    if (workers->family == family && workers->device == device) return workers.get();
  e.workers.push_back(std::make_unique<Workers>(family, device, size, share));
  return e.workers.back().get();
}

Workers* workers_for(const mx_operation& operation) {
  // Larger than any team: each of these threads gets a team of one.
  constexpr int32_t kTeamOfOne = INT32_MAX;
  const mx_engine_settings& settings = engine().settings;
  const bool copies = operation.property == MX_OP_COPY_FROM || operation.property == MX_OP_COPY_TO;
  if (settings.type != MX_THREADED_PER_DEVICE)
    return copies ? find_workers(Family::kAllCopy, 0, 1, kTeamOfOne)
                  : find_workers(Family::kAll, 0, settings.workers, settings.workers);
  const bool first = operation.property == MX_OP_PRIORITIZED;
  const int32_t device = operation.device_id;
  if (operation.device_type == 2) {
    if (copies)
      return find_workers(Family::kGpuCopy, device, settings.gpu_copy_workers, kTeamOfOne);
    return find_workers(first ? Family::kGpuPriority : Family::kGpu, device, settings.gpu_workers,
                        kTeamOfOne);
  }
  if (first)
    return find_workers(Family::kCpuPriority, 0, settings.priority_workers,
                        settings.priority_workers);
  return find_workers(Family::kCpu, device, settings.workers, settings.workers);
}

}  // namespace mx
