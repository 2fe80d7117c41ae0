// Internals of the engine: one state under one lock, implemented in push.cc (submitting
// operations), engine.cc (executing them), variables.cc (queries about variables), workers.cc
// (threads), wait.cc (waiting, holding, errors), bulk.cc (operations queued as one) and life.cc
// (settings, start and stop, statistics).
//
// Functions declared here are called with the lock held unless they say otherwise. While the lock
// is held nothing blocks, calls back or touches Python.
#pragma once
#include <pthread.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "core/engine/dependency.h"
#include "core/fork.h"
#include "mxcy_engine.h"

namespace mx {

using Lock = std::unique_lock<std::mutex>;

// Why an operation failed; shared by everything that depended on its results.
struct Failure {
  std::string text;
  bool raised = false;
  bool by_wait_all = false;  // raised for everything, not by a wait for one variable
};
using FailurePtr = std::shared_ptr<Failure>;

struct Bulk;

}  // namespace mx

struct mx_var : mx::Queue {
  std::atomic<int64_t> state{0};  // the part readable without the lock; see publish
  std::atomic<int64_t> version{0};
  int64_t uses = 0;    // by unfinished operations and by holders
  int64_t writes = 0;  // the writes among them
  mx::FailurePtr failure;
  bool intact = false;       // `failure` kept an operation from changing valid contents
  mx::Bulk* bulk = nullptr;  // the unqueued bulk that contains the last operation on it
  uint64_t mark = 0;         // number of the last operation made, and its request for this variable
  int32_t slot = 0;
  bool forgotten = false;  // to be freed after the last use

  void publish() {
    state.store(4 * uses + (writes ? 2 : 0) + (failure ? 1 : 0), std::memory_order_release);
  }
};

namespace mx {

enum class Role : uint8_t {
  kWork,
  kBulk,  // runs its `parts`
  kMark,  // signals its waiter when its turn comes, then is done
  kHold   // signals its waiter, which ends it with mx_engine_leave
};

// A thread that waits for its operation's turn.
struct Waiter {
  std::condition_variable turn;
  bool signalled = false;
  FailurePtr failure;  // the error with which an asynchronous operation was completed
};

struct Operation : Task {
  mx_operation spec;  // with copied strings and without the vars
  uint64_t number;    // in push order
  Operation* next;    // in whichever list it is in
  Operation* parts;
  Waiter* waiter;
  size_t bytes;
  Role role;
};

struct OperationList {
  Operation* first = nullptr;
  Operation* last = nullptr;

  void append(Operation* operation) {
    operation->next = nullptr;
    (first ? last->next : first) = operation;
    last = operation;
  }
  Operation* pop() {
    Operation* operation = first;
    if (operation) first = operation->next;
    return operation;
  }
};

// --- worker threads (workers.cc) ----------------------------------------------------------------

enum class Family { kCpu, kCpuPriority, kGpu, kGpuPriority, kGpuCopy, kAll, kAllCopy };

// The worker threads of one queue, started with its first operation.
class Workers {
 public:
  Workers(Family family, int32_t device, int32_t size, int32_t share);

  bool start();  // start all threads unless they run; false with an error text
  void put(Operation* operation);
  bool has_work() const { return length_.load(std::memory_order_relaxed) > 0; }
  std::vector<pthread_t> dismiss();  // stop the threads, which finish their current operation
  void forget();                     // after a fork, in the child, where the threads do not exist

  const Family family;
  const int32_t device;
  const int32_t size;   // number of threads
  const int32_t share;  // number of threads that share the parallel team
  char name[32];
  int64_t run = 0;
  int32_t alive = 0;

 private:
  struct Thread;  // start argument of a thread
  static void* main(void* thread);
  void serve(int32_t generation);
  void wake_one();  // wake a sleeping thread if there is work for it
  Operation* next(Lock& lock, int32_t generation);
  Operation* take();
  void sleep(Lock& lock, int32_t generation);

  OperationList fifo_;
  OperationList brief_;           // asynchronous ones, which run first: they only begin something
  std::vector<Operation*> heap_;  // of priority queues
  std::atomic<int64_t> length_{0};
  std::condition_variable awake_;
  std::vector<pthread_t> threads_;
  int32_t numbered_ = 0;    // threads numbered so far
  int32_t spinning_ = 0;    // threads polling for work
  int32_t sleeping_ = 0;    // threads that have to be woken
  int32_t wakeups_ = 0;     // wake-ups no thread has answered yet
  int32_t generation_ = 0;  // of threads; those of earlier generations end
};

Workers* workers_for(const mx_operation& operation);

// --- the state -----------------------------------------------------------------------------------

struct Engine {
  ForkSafeMutex lock;
  mx_engine_settings settings{MX_THREADED_PER_DEVICE, 1, 4, 2, 2, 0};
  std::vector<std::unique_ptr<Workers>> workers;
  OperationList ready;       // operations whose turn has come; see dispatch_ready
  OperationList late;        // the same, arrived while the engine is stopped
  std::vector<Bulk*> bulks;  // non-empty ones
  bool allow_bulk = true;
  Operation* spare = nullptr;  // freed operation memory for reuse
  int32_t spares = 0;

  uint64_t numbers = 0;
  int64_t pending = 0;                       // unfinished operations, including those held back
  int64_t holders = 0;                       // callers between mx_engine_enter and mx_engine_leave
  std::vector<Operation*> running, waiting;  // waiting: marks and holders
  int32_t forks = 0;                         // from the first process to this one
  std::condition_variable quiet;  // notified when a count that somebody waits for reaches 0
  int32_t joining = 0;            // threads waiting for workers to end
  bool stopped = false;
  uint64_t last_before_stop = 0;
  int64_t before_stop = 0;  // stopping waits for operations up to this number
  int64_t left = 0;         // how many of them were unfinished at the last look
  int32_t idle = 0;         // successive looks at which none had finished
  int32_t patience = 1;     // idle looks after which late operations run

  std::deque<FailurePtr> failures;  // oldest first; those already raised are pruned occasionally
  size_t prune_at = 64;             // failures
  std::vector<int64_t> tokens;
  std::atomic<int32_t> token_count{0};
  mx_engine_counts counts{};
};

Engine& engine();  // never freed: threads may outlive main

// --- operations (engine.cc) ----------------------------------------------------------------------

// The operation running on this thread, with all its variables held; NULL elsewhere.
extern thread_local Operation* running_operation;
// Whether the operation holds this access to a variable.
bool holds(const Operation* operation, const mx_var* var, int32_t access);

inline mx_var* var_of(const Request& request) { return static_cast<mx_var*>(request.queue); }

// Copy an operation, merging several accesses to one variable into one request. NULL with an error
// text.
Operation* make_operation(const mx_operation& spec, Role role);
void free_operation(Operation* operation);
// Between add_uses and end_uses the variables are not idle and stay alive.
void add_uses(const Operation* operation);
void drop_uses(const Operation* operation);
// Queue an operation whose uses are added; it may become ready at once.
void queue_operation(Operation* operation);
// Dispatch every ready operation.
void dispatch_ready();
// In a forked child: end what the lost threads were running or waiting for.
void end_lost_operations();
// A task's requests are all admitted: put its operation on the ready list.
void queue_ready(Task& task);
// Call an operation's function, listing its kernels under its device in the profiler; false if it
// fails. Without the lock. `spec` belongs to the operation, which may be gone afterwards.
bool call_run(Operation* work, const mx_operation& spec);
// Report the operation's token, if any, through mx_engine_done.
void report_token(const Operation* operation);
// Run a ready operation on this thread, releasing the lock meanwhile.
void execute(Operation* operation, Lock& lock);
// Remove a finished operation from its queues and free it; this may make others ready.
void end_uses(Operation* operation);
// The same for an operation that never became ready.
void withdraw_operation(Operation* operation);
// The error that a variable carries. Once raised anywhere, it is over for intact contents.
FailurePtr current_failure(mx_var* var);
// The error carried by a variable that the operation reads, if any.
FailurePtr input_failure(const Operation* operation);
// Mark the written variables as up to date, or as failed.
void mark_written(const Operation* operation, const FailurePtr& failure);
FailurePtr make_failure(const mx_operation& spec, const char* text);

// --- waiting and errors (wait.cc) ---------------------------------------------------------------

void store_failure(const FailurePtr& failure);
int raise_failure(Failure& failure);  // -1, with its text as the error
// Queue a mark or a holder, whose uses are added, and wait for its turn; false on timeout, after
// which it is freed. Marks are freed in any case.
bool wait_turn(Operation* operation, Lock& lock, int32_t limit);
// Wait on `condition` until `done`; false after `limit` milliseconds.
template <class Done>
bool wait_until(std::condition_variable& condition, Lock& lock, int32_t limit, const Done& done) {
  if (limit >= 0) return condition.wait_for(lock, std::chrono::milliseconds(limit), done);
  condition.wait(lock, done);
  return true;
}

// --- bulks (bulk.cc) ----------------------------------------------------------------------------

bool add_to_bulk(Operation* operation);  // false if it has to be queued by itself
void flush_bulk(Bulk* bulk);
void flush_own_bulk();
void flush_bulks_of(const Operation* operation);  // bulks that use one of its variables
void flush_all_bulks();

}  // namespace mx

// The opaque type of the interface.
struct mx_ticket : mx::Operation {};
