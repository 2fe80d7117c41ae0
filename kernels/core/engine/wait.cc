// Waiting for variables and for everything, holding variables, and raising stored errors.
#include <algorithm>
#include <cstdio>

#include "core/engine/engine.h"
#include "core/engine/habit.h"
#include "mxcy_profiler.h"

namespace mx {

void store_failure(const FailurePtr& failure) {
  Engine& e = engine();
  ++e.counts.failed;
  e.failures.push_back(failure);
  if (e.failures.size() < e.prune_at) return;
  std::deque<FailurePtr> unraised;
  for (const FailurePtr& failure : e.failures)
    if (!failure->raised) unraised.push_back(failure);
  e.failures.swap(unraised);
  e.prune_at = e.failures.size() < 32 ? 64 : 2 * e.failures.size();
}

int raise_failure(Failure& failure) {
  failure.raised = true;
  return mx_fail("%s", failure.text.c_str());
}

bool wait_turn(Operation* operation, Lock& lock, int32_t limit) {
  Waiter waiter;
  operation->waiter = &waiter;
  flush_bulks_of(operation);
  queue_operation(operation);
  if (waiter.signalled) return true;
  std::vector<Operation*>& waiting = engine().waiting;
  waiting.push_back(operation);
  const bool signalled = wait_until(waiter.turn, lock, limit, [&] { return waiter.signalled; });
  if (signalled) return true;  // and has left the list of waiters
  waiting.erase(std::find(waiting.begin(), waiting.end(), operation));
  withdraw_operation(operation);
  return false;
}

// An operation without work, queued to wait for its variables.
static mx_operation wait_spec(mx_var* const* vars, const int32_t* access, int32_t n) {
  mx_operation spec{};
  spec.vars = vars;
  spec.access = access;
  spec.nvars = n;
  return spec;
}

static int wait_for_var(mx_var* var, int32_t access, int32_t limit, Lock& lock) {
  flush_own_bulk();
  if (var->bulk) flush_bulk(var->bulk);
  if (holds(running_operation, var, access)) return 0;
  if (holds(running_operation, var, MX_READS))
    return mx_fail("engine: an operation would wait for itself");
  if (var->free_for(access & MX_WRITES)) return 0;
  if (engine().settings.info) fprintf(stderr, "mxcy engine: waits for a variable\n");
  Operation* mark = make_operation(wait_spec(&var, &access, 1), Role::kMark);
  if (!mark) return -1;
  add_uses(mark);
  const int64_t began = mx_profile_now();
  if (!wait_turn(mark, lock, limit)) return 1;
  note_wait(began);
  return 0;
}

// Drop requests for variables that the running operation holds already; false if it would wait for
// itself.
static bool drop_held_requests(Operation* operation) {
  int32_t kept = 0;
  for (int32_t i = 0; i < operation->count; ++i) {
    const Request& request = operation->requests[i];
    if (holds(running_operation, var_of(request), request.access)) continue;
    if (holds(running_operation, var_of(request), MX_READS)) return false;
    operation->requests[kept++] = request;
  }
  operation->count = kept;
  return true;
}

static bool all_free(const Operation* operation) {
  flush_bulks_of(operation);
  for (int32_t i = 0; i < operation->count; ++i)
    if (!operation->requests[i].queue->free_for(operation->requests[i].writes())) return false;
  return true;
}

}  // namespace mx

using namespace mx;

extern "C" int mx_engine_wait(mx_var* var, int32_t access, int32_t limit) {
  if (!var || mx_var_idle(var)) return 0;
  Lock lock(engine().lock);
  int status = wait_for_var(var, access, limit, lock);
  if (status != 0 || !current_failure(var)) return status;
  // Earlier readers carry the error on: they are to see it before it ends.
  status = wait_for_var(var, MX_WRITES, limit, lock);
  const FailurePtr failure = current_failure(var);
  if (status == 1 || !failure) return status;
  if (status == 0) {
    var->failure.reset();
    var->publish();
    if (failure->by_wait_all) return 0;
  }
  return raise_failure(*failure);
}

extern "C" int mx_engine_settle(mx_var* var, int32_t access, int32_t limit) {
  if (!var || mx_var_idle(var)) return 0;
  Lock lock(engine().lock);
  return wait_for_var(var, access, limit, lock);
}

extern "C" int mx_engine_wait_all(int32_t limit) {
  Engine& e = engine();
  Lock lock(e.lock);
  if (running_operation) return mx_fail("engine: an operation would wait for itself");
  flush_all_bulks();
  if (e.settings.info && e.pending) fprintf(stderr, "mxcy engine: waits for everything\n");
  const int64_t began = mx_profile_now();
  if (!wait_until(e.quiet, lock, limit, [&] { return e.pending == 0; })) return 1;
  note_wait(began);
  FailurePtr first;
  for (const FailurePtr& failure : e.failures) {
    if (!failure->raised && !first) first = failure;
    failure->raised = true;
  }
  e.failures.clear();
  if (first) first->by_wait_all = true;
  return first ? raise_failure(*first) : 0;
}

extern "C" int mx_engine_enter(mx_var* const* vars, const int32_t* access, int32_t n,
                               int32_t limit) {
  Engine& e = engine();
  Lock lock(e.lock);
  Operation* holder = make_operation(wait_spec(vars, access, n), Role::kHold);
  if (!holder) return -1;
  if (!drop_held_requests(holder)) {
    free_operation(holder);
    return mx_fail("engine: an operation would wait for itself");
  }
  if (limit == 0 && !all_free(holder)) {
    free_operation(holder);
    return 1;
  }
  add_uses(holder);
  if (!wait_turn(holder, lock, limit)) return 1;
  if (FailurePtr failure = input_failure(holder)) {
    end_uses(holder);
    dispatch_ready();
    return raise_failure(*failure);
  }
  ++e.holders;
  free_operation(holder);
  return 0;
}

extern "C" void mx_engine_leave(mx_var* const* vars, const int32_t* access, int32_t n,
                                const char* error) {
  Engine& e = engine();
  Lock lock(e.lock);
  Operation* holder = make_operation(wait_spec(vars, access, n), Role::kHold);
  if (!holder) return;
  drop_held_requests(holder);
  FailurePtr failure;
  if (error) {
    failure = make_failure(holder->spec, error);
    store_failure(failure);
  }
  mark_written(holder, failure);
  end_uses(holder);
  if (--e.holders == 0) e.quiet.notify_all();
  dispatch_ready();
}
