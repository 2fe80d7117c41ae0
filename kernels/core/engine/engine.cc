// The life of a queued operation; push.cc creates and submits them.
#include "core/engine/engine.h"

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "mxcy_profiler.h"

namespace mx {

thread_local Operation* running_operation = nullptr;
// The operation whose run function is being called.
static thread_local Operation* called_operation = nullptr;

bool holds(const Operation* operation, const mx_var* var, int32_t access) {
  for (int32_t i = 0; operation && i < operation->count; ++i)
    if (operation->requests[i].queue == var)
      return operation->requests[i].writes() || !(access & MX_WRITES);
  return false;
}

// --- memory of operations ------------------------------------------------------------------------

// Bytes: fits most operations; freed blocks of this size are reused.
constexpr size_t kBlock = 512;
constexpr int32_t kSpares = 4096;  // blocks kept

static size_t text_size(const char* text) { return text ? strlen(text) + 1 : 0; }

static const char* copy_text(char** to, const char* text, size_t size) {
  if (!text) return nullptr;
  memcpy(*to, text, size);
  *to += size;
  return *to - size;
}

Operation* make_operation(const mx_operation& spec, Role role) {
  Engine& e = engine();
  const size_t name = text_size(spec.name), place = text_size(spec.place);
  size_t bytes = sizeof(Operation) + spec.nvars * sizeof(Request) + name + place;
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
  operation->spec = spec;
  operation->requests = (Request*)(operation + 1);
  operation->count = 0;
  operation->number = ++e.numbers;
  operation->next = operation->parts = nullptr;
  operation->waiter = nullptr;
  operation->bytes = bytes;
  operation->role = role;
  char* texts = (char*)(operation->requests + spec.nvars);
  operation->spec.name = copy_text(&texts, spec.name, name);
  operation->spec.place = copy_text(&texts, spec.place, place);
  for (int32_t i = 0; i < spec.nvars; ++i) {
    mx_var* var = spec.vars[i];
    if (!var) continue;
    if (var->mark == operation->number) {
      operation->requests[var->slot].access |= spec.access[i];
      continue;
    }
    var->mark = operation->number;
    var->slot = operation->count;
    operation->requests[operation->count++] =
        Request{var, operation, nullptr, spec.access[i], false};
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

// --- execution -----------------------------------------------------------------------------------

FailurePtr current_failure(mx_var* var) {
  if (var->failure && var->failure->raised && var->intact) {
    var->failure.reset();
    var->publish();
  }
  return var->failure;
}

FailurePtr input_failure(const Operation* operation) {
  for (int32_t i = 0; i < operation->count; ++i) {
    const Request& request = operation->requests[i];
    if (!request.reads()) continue;
    if (FailurePtr failure = current_failure(var_of(request))) return failure;
  }
  return nullptr;
}

// Mark the written variables as up to date, or as failed.
void mark_written(const Operation* operation, const FailurePtr& failure) {
  for (int32_t i = 0; i < operation->count; ++i) {
    const Request& request = operation->requests[i];
    if (!request.writes()) continue;
    mx_var* var = var_of(request);
    if (!failure) var->version.fetch_add(1, std::memory_order_relaxed);
    if (!failure && !var->failure) continue;
    var->intact = request.reads() && (!var->failure || var->intact);
    var->failure = failure;
    var->publish();
  }
}

FailurePtr make_failure(const mx_operation& spec, const char* text) {
  // Kept in front of the message: it names the exception's type.
  constexpr char kIndexError[] = "IndexError: ";
  const size_t skip =
      strncmp(text, kIndexError, sizeof kIndexError - 1) ? 0 : sizeof kIndexError - 1;
  FailurePtr failure = std::make_shared<Failure>();
  failure->text.assign(text, skip);
  if (spec.name) failure->text.append("Error in operator ").append(spec.name).append(": ");
  failure->text.append(text + skip);
  if (spec.place) failure->text.append(" (called at ").append(spec.place).append(")");
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

void withdraw_operation(Operation* operation) {
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
        workers_for(operation->spec)->put(operation);
      continue;
    }
    operation->waiter->signalled = true;
    operation->waiter->turn.notify_one();
    const auto place = std::find(e.waiting.begin(), e.waiting.end(), operation);
    if (place != e.waiting.end()) e.waiting.erase(place);
    if (operation->role == Role::kMark) end_uses(operation);
  }
}

void report_token(const Operation* operation) {
  Engine& e = engine();
  if (!operation->spec.token) return;
  e.tokens.push_back(operation->spec.token);
  e.token_count.store((int32_t)e.tokens.size(), std::memory_order_release);
}

static void count_done(const Operation* operation) {
  Engine& e = engine();
  report_token(operation);
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
  for (Operation* operation : waiting) withdraw_operation(operation);
  while (!e.running.empty()) {
    Operation* lost = e.running.back();
    if (lost != running_operation)  // that operation goes on in this process
      mark_written(lost, make_failure(lost->spec, "the process was forked in the meantime"));
    finish_operation(lost);
  }
  running_operation = nullptr;
}

bool call_run(Operation* work, const mx_operation& spec) {
  if (mx_profiled(MX_PROFILE_RUNNING)) mx_profile_device(spec.device_type, spec.device_id);
  Operation* outer = called_operation;
  called_operation = work;
  const bool succeeded = spec.run(spec.payload) == 0;
  called_operation = outer;
  return succeeded;
}

// Run one operation; false if it continues and mx_engine_complete will end it, or if a fork has
// ended it already.
static bool run_work(Operation* work, Lock& lock) {
  Engine& e = engine();
  const mx_operation spec = work->spec;
  FailurePtr failure = spec.property == MX_OP_NOSKIP ? nullptr : input_failure(work);
  if (e.settings.info)
    fprintf(stderr, "mxcy engine: %s %s\n", failure ? "skips" : "runs",
            spec.name ? spec.name : "an operation");
  ++(failure ? e.counts.skipped : e.counts.run);
  const int32_t forks = e.forks;
  lock.unlock();
  bool failed = false;
  if (failure) {
    if (spec.skipped) spec.skipped(spec.payload);
  } else {
    failed = !call_run(work, spec);
    if (!failed && spec.property == MX_OP_ASYNC) {
      lock.lock();
      return false;
    }
    if (failed) failure = make_failure(spec, mx_last_error());
  }
  if (spec.release) spec.release(spec.payload);
  lock.lock();
  if (e.forks != forks) return false;
  if (failure && failure->by_wait_all) {  // for what depends on it only now, it is new
    failure = std::make_shared<Failure>(Failure{failure->text});
    failed = true;
  }
  if (failed) store_failure(failure);
  mark_written(work, failure);
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

// --- the C interface -----------------------------------------------------------------------------

using namespace mx;

extern "C" mx_ticket* mx_engine_ticket(void) { return static_cast<mx_ticket*>(called_operation); }

extern "C" void mx_engine_complete(mx_ticket* ticket, const char* error) {
  Operation* work = ticket;
  FailurePtr failure = error ? make_failure(work->spec, error) : nullptr;
  Lock lock(engine().lock);
  if (Waiter* waiter = work->waiter) {  // the thread that called run waits for this
    waiter->failure = failure;
    waiter->signalled = true;
    waiter->turn.notify_one();
    return;
  }
  if (work->spec.release) {
    lock.unlock();
    work->spec.release(work->spec.payload);
    lock.lock();
  }
  if (failure) store_failure(failure);
  mark_written(work, failure);
  if (running_operation == work) running_operation = nullptr;  // completed by its own function
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
