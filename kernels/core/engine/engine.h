// The inside of the engine: one state under one lock. Parts of it, each in a file of its own:
// push.cc (operations that come), engine.cc (operations from their turn to their end), variables.cc
// (what is told of variables), workers.cc (threads), wait.cc (waiting, holding, errors), bulk.cc
// (operations queued as one), life.cc (settings, stop and start, figures).
//
// Functions declared here are called with the lock held unless they say otherwise. While the lock
// is held nothing waits, calls back or touches Python.
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

// Why an operation did not do its work; all that was to come from it shares one.
struct Failure {
  std::string text;
  bool told = false;  // whether a wait has raised it
};
using FailurePtr = std::shared_ptr<Failure>;

struct Bulk;

}  // namespace mx

struct mx_var : mx::Queue {
  std::atomic<int64_t> state{0};  // what may be read unlocked; see publish
  std::atomic<int64_t> version{0};
  int64_t uses = 0;    // by operations that are not done, and by holders
  int64_t writes = 0;  // those among them that write
  mx::FailurePtr failure;
  mx::Bulk* bulk = nullptr;  // where the last operation on it waits to be queued
  uint64_t mark = 0;         // number of the operation that was made last, and its request for this
  int32_t slot = 0;
  bool forgotten = false;  // to be freed with the last use

  void publish() {
    state.store(4 * uses + (writes ? 2 : 0) + (failure ? 1 : 0), std::memory_order_release);
  }
};

namespace mx {

enum class Role : uint8_t {
  kWork,
  kBulk,  // `parts` are its work
  kMark,  // tells its waiter that its turn has come, and is done
  kHold   // tells its waiter, who ends it with mx_engine_leave
};

// One thread that waits for its operation's turn.
struct Waiter {
  std::condition_variable turn;
  bool come = false;
  FailurePtr failure;  // with which an asynchronous operation was completed
};

struct Operation : Task {
  mx_operation given;  // its strings are copies, its vars are gone
  uint64_t number;     // in the order of pushes
  Operation* next;     // in the list that it is in
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

// The threads of one queue, started with its first operation.
class Workers {
 public:
  Workers(Family family, int32_t device, int32_t size, int32_t share);

  bool start();  // all its threads, unless they run; false with an error text
  void put(Operation* operation);
  bool has_work() const { return length_.load(std::memory_order_relaxed) > 0; }
  std::vector<pthread_t> dismiss();  // the threads, which end with what they are at
  void forget();                     // after fork, in the child: the threads do not exist there

  const Family family;
  const int32_t device;
  const int32_t size;   // threads
  const int32_t share;  // among how many of them the parallel team is divided
  char name[32];
  int64_t run = 0;
  int32_t alive = 0;

 private:
  struct Thread;  // what one is started with
  static void* main(void* thread);
  void serve(int32_t generation);
  void call();  // a sleeping thread, if there is work for one
  Operation* next(Lock& lock, int32_t generation);
  Operation* take();
  void sleep(Lock& lock, int32_t generation);

  OperationList fifo_;
  std::vector<Operation*> heap_;  // in priority queues
  std::atomic<int64_t> length_{0};
  std::condition_variable awake_;
  std::vector<pthread_t> threads_;
  int32_t numbered_ = 0;    // threads that have taken a number
  int32_t spinning_ = 0;    // threads that look for work
  int32_t sleeping_ = 0;    // threads that have to be called
  int32_t called_ = 0;      // calls that no thread has followed yet
  int32_t generation_ = 0;  // of threads; those of earlier ones end
};

Workers* workers_for(const mx_operation& operation);

// --- the state -----------------------------------------------------------------------------------

struct Engine {
  ForkSafeMutex lock;
  mx_engine_settings settings{MX_THREADED_PER_DEVICE, 1, 4, 2, 2, 0};
  std::vector<std::unique_ptr<Workers>> workers;
  OperationList ready;       // their turn has come; see dispatch_ready
  OperationList late;        // their turn has come while the engine stands still
  std::vector<Bulk*> bulks;  // that hold operations
  bool allow_bulk = true;
  Operation* spare = nullptr;  // memory of operations that are gone
  int32_t spares = 0;

  uint64_t numbers = 0;
  int64_t pending = 0;  // operations that are not done, held-back ones included
  int64_t holders = 0;  // holders inside mx_engine_enter and leave
  std::vector<Operation*> running, waiting;  // waiting: marks and holders
  int32_t forks = 0;                         // between the first process and this one
  std::condition_variable quiet;             // told when one of the counts to wait for is 0
  int32_t joining = 0;                       // threads that wait for workers to end
  bool stopped = false;
  uint64_t last_before_stop = 0;
  int64_t before_stop = 0;  // pending operations up to that number

  std::deque<FailurePtr> failures;  // in order; those that were told of go now and then
  size_t many_failures = 64;
  std::vector<int64_t> tokens;
  std::atomic<int32_t> token_count{0};
  mx_engine_counts counts{};
};

Engine& engine();  // never freed: threads may outlive main

// --- operations (engine.cc) ----------------------------------------------------------------------

// The operation whose turn it is on this thread, with everything it holds; NULL elsewhere.
extern thread_local Operation* running_operation;
// Whether it may use a variable so.
bool holds(const Operation* operation, const mx_var* var, int32_t access);

inline mx_var* var_of(const Request& request) { return static_cast<mx_var*>(request.queue); }

// Copy an operation; several accesses to one variable become one request. NULL with an error text.
Operation* make_operation(const mx_operation& given, Role role);
void free_operation(Operation* operation);
// Between these two its variables are not idle and stay alive.
void add_uses(const Operation* operation);
void drop_uses(const Operation* operation);
// Queue an operation with uses; its turn may come at once.
void queue_operation(Operation* operation);
// Hand over every operation whose turn has come.
void dispatch_ready();
// In a forked child: what was running is over, and nobody waits; the other threads are not there.
void end_lost_operations();
// A request's turn has come: its operation waits for `dispatch_ready`.
void queue_ready(Task& task);
// Call an operation's function, whose kernels the profiler lists under its device; false when it
// fails. Without the lock; `given` is the operation's, which may be gone by then.
bool call_run(Operation* work, const mx_operation& given);
// Its token, if it has one, tells `mx_engine_done` that it is over.
void give_token(const Operation* operation);
// Run an operation whose turn has come on this thread; gives the lock up meanwhile.
void execute(Operation* operation, Lock& lock);
// Take an operation that has run out of its queues and free it; others' turn may have come.
void end_uses(Operation* operation);
// The same for one whose turn has not come.
void give_up(Operation* operation);
// The error of a variable that it reads, if any.
FailurePtr inherited(const Operation* operation);
// The written variables hold new values, or carry an error.
void settle(const Operation* operation, const FailurePtr& failure);
FailurePtr make_failure(const mx_operation& given, const char* text);

// --- waiting and errors (wait.cc) ---------------------------------------------------------------

void store_failure(const FailurePtr& failure);
int tell(Failure& failure);  // -1 with its text
// Queue a mark or a holder, with uses, and wait for its turn; false when the time is up. It is gone
// then; marks are gone in any case.
bool wait_turn(Operation* operation, Lock& lock, int32_t limit);
// Wait on `condition` until `done`; false when `limit` milliseconds are over.
template <class Done>
bool wait_until(std::condition_variable& condition, Lock& lock, int32_t limit, const Done& done) {
  if (limit >= 0) return condition.wait_for(lock, std::chrono::milliseconds(limit), done);
  condition.wait(lock, done);
  return true;
}

// --- bulks (bulk.cc) ----------------------------------------------------------------------------

bool add_to_bulk(Operation* operation);  // false when it has to be queued by itself
void flush_bulk(Bulk* bulk);
void flush_own_bulk();
void flush_bulks_of(const Operation* operation);  // that use one of its variables
void flush_all_bulks();

}  // namespace mx

// What an mx_ticket is.
struct mx_ticket : mx::Operation {};
