// Operations from their turn to their end; push.cc brings them.
#include "core/engine/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mxcy_profiler.h"

namespace mx {

thread_local Operation* running_operation = nullptr;
static thread_local Operation* starting = nullptr;  // the one whose run is being called

bool holds(const Operation* operation, const mx_var* var, int32_t access) {
  for (int32_t i = 0; operation && i < operation->count; ++i)
    if (operation->requests[i].queue == var)
      return operation->requests[i].writes() || !(access & MX_WRITES);
  return false;
}

// --- their memory --------------------------------------------------------------------------------

constexpr size_t kBlock = 512;  // most operations fit, and so many such blocks are kept:
constexpr int32_t kSpares = 4096;

static size_t text_size(const char* text) { return text ? strlen(text) + 1 : 0; }

static const char* copy_text(char** to, const char* text, size_t size) {
  if (!text) return nullptr;
  memcpy(*to, text, size);
  *to += size;
  return *to - size;
}

Operation* make_operation(const mx_operation& given, Role role) {
  Engine& e = engine();
  const size_t name = text_size(given.name), place = text_size(given.place);
  size_t bytes = sizeof(Operation) + given.nvars * sizeof(Request) + name + place;
  Operation* operation;
  if (bytes <= kBlock && e.spare) {
    operation = e.spare;
    e.spare = operation->next;
    --e.spares;
  } else {
    operation = (Operation*)malloc(bytes < kBlock ? kBlock : bytes);
    if (!operation) {
      mx_fail("engine: out of memory");
      return nullptr;
    }
  }
  operation->given = given;
  operation->requests = (Request*)(operation + 1);
  operation->count = 0;
  operation->number = ++e.numbers;
  operation->next = operation->parts = nullptr;
  operation->waiter = nullptr;
  operation->bytes = bytes;
  operation->role = role;
  char* texts = (char*)(operation->requests + given.nvars);
  operation->given.name = copy_text(&texts, given.name, name);
  operation->given.place = copy_text(&texts, given.place, place);
  for (int32_t i = 0; i < given.nvars; ++i) {
    mx_var* var = given.vars[i];
    if (!var) continue;
    if (var->mark == operation->number) {
      operation->requests[var->slot].access |= given.access[i];
      continue;
    }
    var->mark = operation->number;
    var->slot = operation->count;
    operation->requests[operation->count++] =
        Request{var, operation, nullptr, given.access[i], false};
  }
  return operation;
}

void free_operation(Operation* operation) {
  Engine& e = engine();
  if (operation->bytes > kBlock || e.spares >= kSpares) return free(operation);
  operation->next = e.spare;
  e.spare = operation;
  ++e.spares;
}

void add_uses(const Operation* operation) {
  for (int32_t i = 0; i < operation->count; ++i) {
    mx_var* var = var_of(operation->requests[i]);
    ++var->uses;
    var->writes += operation->requests[i].writes();
    var->publish();
  }
}

void drop_uses(const Operation* operation) {
  for (int32_t i = 0; i < operation->count; ++i) {
    mx_var* var = var_of(operation->requests[i]);
    --var->uses;
    var->writes -= operation->requests[i].writes();
    if (var->uses == 0 && var->forgotten)
      delete var;
    else
      var->publish();
  }
}

// --- their way through the engine ----------------------------------------------------------------

FailurePtr inherited(const Operation* operation) {
  for (int32_t i = 0; i < operation->count; ++i) {
    const Request& request = operation->requests[i];
    if (request.reads() && var_of(request)->failure) return var_of(request)->failure;
  }
  return nullptr;
}

// What the variables that an operation was to write are from now on.
void settle(const Operation* operation, const FailurePtr& failure) {
  for (int32_t i = 0; i < operation->count; ++i) {
    if (!operation->requests[i].writes()) continue;
    mx_var* var = var_of(operation->requests[i]);
    if (!failure) var->version.fetch_add(1, std::memory_order_relaxed);
    if (!failure && !var->failure) continue;
    var->failure = failure;
    var->publish();
  }
}

FailurePtr make_failure(const mx_operation& given, const char* text) {
  constexpr char kIndexError[] = "IndexError: ";  // stays in front: it names the exception's type
  const size_t skip =
      strncmp(text, kIndexError, sizeof kIndexError - 1) ? 0 : sizeof kIndexError - 1;
  FailurePtr failure = std::make_shared<Failure>();
  failure->text.assign(text, skip);
  if (given.name) failure->text.append("Error in operator ").append(given.name).append(": ");
  failure->text.append(text + skip);
  if (given.place) failure->text.append(" (called at ").append(given.place).append(")");
  return failure;
}

void queue_ready(Task& task) { engine().ready.append(static_cast<Operation*>(&task)); }

void queue_operation(Operation* operation) {
  if (submit(*operation)) queue_ready(*operation);
  dispatch_ready();
}

void end_uses(Operation* operation) {
  finish(*operation, queue_ready);
  drop_uses(operation);
  free_operation(operation);
}

void give_up(Operation* operation) {
  withdraw(*operation, queue_ready);
  drop_uses(operation);
  free_operation(operation);
  dispatch_ready();
}

void dispatch_ready() {
  Engine& e = engine();
  while (Operation* operation = e.ready.pop()) {
    if (operation->role == Role::kWork || operation->role == Role::kBulk) {
      if (e.stopped && operation->number > e.last_before_stop)
        e.late.append(operation);
      else
        workers_for(operation->given)->put(operation);
      continue;
    }
    operation->waiter->come = true;
    operation->waiter->turn.notify_one();
    const auto place = std::find(e.waiting.begin(), e.waiting.end(), operation);
    if (place != e.waiting.end()) e.waiting.erase(place);
    if (operation->role == Role::kMark) end_uses(operation);
  }
}

void give_token(const Operation* operation) {
  Engine& e = engine();
  if (!operation->given.token) return;
  e.tokens.push_back(operation->given.token);
  e.token_count.store((int32_t)e.tokens.size(), std::memory_order_release);
}

static void count_done(const Operation* operation) {
  Engine& e = engine();
  give_token(operation);
  --e.pending;
  if (operation->number <= e.last_before_stop) --e.before_stop;
  if (e.pending == 0 || (e.stopped && e.before_stop == 0)) e.quiet.notify_all();
}

static void finish_operation(Operation* operation) {
  Operation* part = operation->parts;
  std::vector<Operation*>& running = engine().running;
  *std::find(running.begin(), running.end(), operation) = running.back();
  running.pop_back();
  if (operation->role == Role::kWork) count_done(operation);
  end_uses(operation);
  while (part) {
    Operation* following = part->next;
    count_done(part);
    drop_uses(part);
    free_operation(part);
    part = following;
  }
  dispatch_ready();
}

void end_lost_operations() {
  Engine& e = engine();
  ++e.forks;
  std::vector<Operation*> waiting;
  waiting.swap(e.waiting);
  for (Operation* operation : waiting) give_up(operation);
  while (!e.running.empty()) {
    Operation* lost = e.running.back();
    if (lost != running_operation)  // that one goes on, in this process
      settle(lost, make_failure(lost->given, "the process was forked meanwhile"));
    finish_operation(lost);
  }
  running_operation = nullptr;
}

bool call_run(Operation* work, const mx_operation& given) {
  if (mx_profiled(MX_PROFILE_RUNNING)) mx_profile_device(given.device_type, given.device_id);
  Operation* outer = starting;
  starting = work;
  const bool succeeded = given.run(given.payload) == 0;
  starting = outer;
  return succeeded;
}

// Run one piece of work; false when it goes on after this and mx_engine_complete will end it, or
// when it has been ended already, by a fork.
static bool run_work(Operation* work, Lock& lock) {
  Engine& e = engine();
  const mx_operation given = work->given;
  FailurePtr failure = given.property == MX_OP_NOSKIP ? nullptr : inherited(work);
  if (e.settings.info)
    fprintf(stderr, "mxcy engine: %s %s\n", failure ? "skips" : "runs",
            given.name ? given.name : "an operation");
  ++(failure ? e.counts.skipped : e.counts.run);
  const int32_t forks = e.forks;
  lock.unlock();
  bool failed = false;
  if (failure) {
    if (given.skipped) given.skipped(given.payload);
  } else {
    failed = !call_run(work, given);
    if (!failed && given.property == MX_OP_ASYNC) {
      lock.lock();
      return false;
    }
    if (failed) failure = make_failure(given, mx_last_error());
  }
  if (given.release) given.release(given.payload);
  lock.lock();
  if (e.forks != forks) return false;
  if (failed) store_failure(failure);
  settle(work, failure);
  return true;
}

void execute(Operation* operation, Lock& lock) {
  Operation* outer = running_operation;
  running_operation = operation;
  engine().running.push_back(operation);
  bool done = true;
  if (operation->role == Role::kBulk)
    for (Operation* part = operation->parts; part && done; part = part->next)
      done = run_work(part, lock);
  else
    done = run_work(operation, lock);
  running_operation = outer;
  if (done) finish_operation(operation);
}

}  // namespace mx

// --- the interface -------------------------------------------------------------------------------

using namespace mx;

extern "C" mx_ticket* mx_engine_ticket(void) { return static_cast<mx_ticket*>(starting); }

extern "C" void mx_engine_complete(mx_ticket* ticket, const char* error) {
  Operation* work = ticket;
  FailurePtr failure = error ? make_failure(work->given, error) : nullptr;
  Lock lock(engine().lock);
  if (Waiter* waiter = work->waiter) {  // who called run waits for this
    waiter->failure = failure;
    waiter->come = true;
    waiter->turn.notify_one();
    return;
  }
  if (work->given.release) {
    lock.unlock();
    work->given.release(work->given.payload);
    lock.lock();
  }
  if (failure) store_failure(failure);
  settle(work, failure);
  finish_operation(work);
}

extern "C" int32_t mx_engine_done(int64_t* tokens, int32_t most) {
  Engine& e = engine();
  if (e.token_count.load(std::memory_order_acquire) == 0) return 0;
  Lock lock(e.lock);
  int32_t taken = 0;
  while (taken < most && !e.tokens.empty()) {
    tokens[taken++] = e.tokens.back();
    e.tokens.pop_back();
  }
  e.token_count.store((int32_t)e.tokens.size(), std::memory_order_release);
  return taken;
}
