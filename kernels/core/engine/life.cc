// The engine as a whole: settings, stop and start around fork, statistics.
#include <pthread.h>

#include <cstring>
#include <new>

#include "core/engine/engine.h"

namespace mx {

Engine& engine() {
  static Engine* state = new Engine;
  return *state;
}

// End all threads, releasing the lock meanwhile.
static void end_threads(Lock& lock) {
  Engine& e = engine();
  std::vector<pthread_t> threads;
  for (const std::unique_ptr<Workers>& workers : e.workers)
    for (pthread_t thread : workers->dismiss()) threads.push_back(thread);
  ++e.joining;
  lock.unlock();
  for (pthread_t thread : threads) pthread_join(thread, nullptr);
  lock.lock();
  --e.joining;
  e.quiet.notify_all();
  e.quiet.wait(lock, [&] { return e.joining == 0; });  // other callers may be joining some of them
  for (const std::unique_ptr<Workers>& workers : e.workers)
    // Work that arrived while another thread was starting the engine.
    if (workers->has_work()) workers->start();
}

static void release_late() {
  Engine& e = engine();
  OperationList late = e.late;
  e.late = OperationList();
  while (Operation* operation = late.pop()) e.ready.append(operation);
  dispatch_ready();
}

// Hold back what is pushed from now on; the engine stops after everything before.
static void begin_stop() {
  Engine& e = engine();
  e.stopped = true;
  e.last_before_stop = e.numbers;
  e.left = e.before_stop = e.pending;
  e.idle = 0;
}

// Run what was held back if nothing ends, as an operation may wait for it. The intervals grow, so
// that a thread that pushes on and on does not keep the engine from stopping.
static void look_for_progress() {
  Engine& e = engine();
  e.idle = e.before_stop < e.left ? 0 : e.idle + 1;
  e.left = e.before_stop;
  if (e.idle < e.patience) return;
  begin_stop();
  e.patience *= 2;
  release_late();
}

static constexpr int32_t kLook = 50;  // milliseconds between looks

static int stop(Lock& lock, int32_t limit) {
  Engine& e = engine();
  if (running_operation) return mx_fail("engine: an operation would wait for itself");
  if (!e.stopped) {
    flush_all_bulks();
    begin_stop();
    e.patience = 1;
  }
  const auto done = [&] { return e.before_stop == 0 && e.holders == 0; };
  while (!wait_until(e.quiet, lock, limit < 0 ? kLook : limit, done)) {
    if (limit != 0) look_for_progress();
    if (limit >= 0) return 1;
  }
  end_threads(lock);
  return e.stopped ? 0 : stop(lock, limit);  // another thread may have started it again
}

static void start() {
  Engine& e = engine();
  e.stopped = false;
  e.last_before_stop = 0;
  e.before_stop = 0;
  release_late();
}

static int check(const mx_engine_settings& settings) {
  if (settings.type < MX_NAIVE_ENGINE || settings.type > MX_THREADED_PER_DEVICE)
    return mx_fail("engine: unknown engine type %d", settings.type);
  if (settings.workers < 1 || settings.priority_workers < 1 || settings.gpu_workers < 1 ||
      settings.gpu_copy_workers < 1)
    return mx_fail("engine: every queue needs at least one worker");
  return 0;
}

}  // namespace mx

using namespace mx;

extern "C" int mx_engine_configure(const mx_engine_settings* settings) {
  Engine& e = engine();
  if (check(*settings) != 0) return -1;
  Lock lock(e.lock);
  const int status = stop(lock, -1);
  if (status != 0) return status;
  e.workers.clear();
  e.settings = *settings;
  start();
  return 0;
}

extern "C" int mx_engine_stop(int32_t limit) {
  Lock lock(engine().lock);
  return stop(lock, limit);
}

extern "C" void mx_engine_start(int32_t child) {
  Engine& e = engine();
  Lock lock(e.lock);
  if (child) {
    for (const std::unique_ptr<Workers>& workers : e.workers) workers->forget();
    new (&e.quiet) std::condition_variable;
    e.joining = 0;
    e.holders = 0;
    end_lost_operations();
    mx_set_threads(1);  // the OpenMP runtime has lost its threads and would wait for them
  }
  start();
}

extern "C" int32_t mx_engine_on_worker(void) { return running_operation != nullptr; }

extern "C" void mx_engine_stats(mx_engine_counts* counts) {
  Engine& e = engine();
  Lock lock(e.lock);
  *counts = e.counts;
  counts->settings = e.settings;
  counts->pending = e.pending;
  for (const std::unique_ptr<Workers>& workers : e.workers) counts->threads += workers->alive;
  for (const FailurePtr& failure : e.failures) counts->errors += !failure->raised;
}

extern "C" int32_t mx_engine_queue(int32_t index, char name[32], int32_t* threads, int64_t* run) {
  Engine& e = engine();
  Lock lock(e.lock);
  if (index < 0 || (size_t)index >= e.workers.size()) return 0;
  const Workers& workers = *e.workers[index];
  memcpy(name, workers.name, sizeof workers.name);
  *threads = workers.alive;
  *run = workers.run;
  return 1;
}
