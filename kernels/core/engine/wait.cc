// Waiting for variables and for everything, holding variables, and errors until they are told.
#include <algorithm>
#include <cstdio>

#include "core/engine/engine.h"

namespace mx {

void store_failure(const FailurePtr& failure) {
  Engine& e = engine();
  ++e.counts.failed;
  e.failures.push_back(failure);
  if (e.failures.size() < e.many_failures) return;
  std::deque<FailurePtr> untold;
  for (const FailurePtr& one : e.failures)
    if (!one->told) untold.push_back(one);
  e.failures.swap(untold);
  e.many_failures = e.failures.size() < 32 ? 64 : 2 * e.failures.size();
}

int tell(Failure& failure) {
  failure.told = true;
  return mx_fail("%s", failure.text.c_str());
}

bool wait_turn(Operation* operation, Lock& lock, int32_t limit) {
  Waiter waiter;
  operation->waiter = &waiter;
  flush_bulks_of(operation);
  queue_operation(operation);
  if (waiter.come) return true;
  std::vector<Operation*>& waiting = engine().waiting;
  waiting.push_back(operation);
  const bool come = wait_until(waiter.turn, lock, limit, [&] { return waiter.come; });
  if (come) return true;  // and no longer among those who wait
  waiting.erase(std::find(waiting.begin(), waiting.end(), operation));
  give_up(operation);
  return false;
}

// An operation without work, to queue for the turn of its variables.
static mx_operation only_variables(mx_var* const* vars, const int32_t* access, int32_t n) {
  mx_operation given{};
  given.vars = vars;
  given.access = access;
  given.nvars = n;
  return given;
}

static int settle_var(mx_var* var, int32_t access, int32_t limit, Lock& lock) {
  flush_own_bulk();
  if (var->bulk) flush_bulk(var->bulk);
  if (holds(running_operation, var, access)) return 0;
  if (holds(running_operation, var, MX_READS))
    return mx_fail("engine: an operation waits for itself");
  if (var->free_for(access & MX_WRITES)) return 0;
  if (engine().settings.info) fprintf(stderr, "mxcy engine: waits for a variable\n");
  Operation* mark = make_operation(only_variables(&var, &access, 1), Role::kMark);
  if (!mark) return -1;
  add_uses(mark);
  return wait_turn(mark, lock, limit) ? 0 : 1;
}

// Leave out what the running operation holds already; false when it would wait for itself.
static bool leave_out_held(Operation* operation) {
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
  const int status = settle_var(var, access, limit, lock);
  return status == 0 && var->failure ? tell(*var->failure) : status;
}

extern "C" int mx_engine_settle(mx_var* var, int32_t access, int32_t limit) {
  if (!var || mx_var_idle(var)) return 0;
  Lock lock(engine().lock);
  return settle_var(var, access, limit, lock);
}

extern "C" int mx_engine_wait_all(int32_t limit) {
  Engine& e = engine();
  Lock lock(e.lock);
  if (running_operation) return mx_fail("engine: an operation waits for itself");
  flush_all_bulks();
  if (e.settings.info && e.pending) fprintf(stderr, "mxcy engine: waits for everything\n");
  if (!wait_until(e.quiet, lock, limit, [&] { return e.pending == 0; })) return 1;
  FailurePtr first;
  for (const FailurePtr& failure : e.failures) {
    if (!failure->told && !first) first = failure;
    failure->told = true;
  }
  e.failures.clear();
  return first ? tell(*first) : 0;
}

extern "C" int mx_engine_enter(mx_var* const* vars, const int32_t* access, int32_t n,
                               int32_t limit) {
  Engine& e = engine();
  Lock lock(e.lock);
  Operation* holder = make_operation(only_variables(vars, access, n), Role::kHold);
  if (!holder) return -1;
  if (!leave_out_held(holder)) {
    free_operation(holder);
    return mx_fail("engine: an operation waits for itself");
  }
  if (limit == 0 && !all_free(holder)) {
    free_operation(holder);
    return 1;
  }
  add_uses(holder);
  if (!wait_turn(holder, lock, limit)) return 1;
  if (FailurePtr failure = inherited(holder)) {
    end_uses(holder);
    dispatch_ready();
    return tell(*failure);
  }
  ++e.holders;
  free_operation(holder);
  return 0;
}

extern "C" void mx_engine_leave(mx_var* const* vars, const int32_t* access, int32_t n,
                                const char* error) {
  Engine& e = engine();
  Lock lock(e.lock);
  Operation* holder = make_operation(only_variables(vars, access, n), Role::kHold);
  if (!holder) return;
  leave_out_held(holder);
  FailurePtr failure;
  if (error) {
    failure = make_failure(holder->given, error);
    store_failure(failure);
  }
  settle(holder, failure);
  end_uses(holder);
  if (--e.holders == 0) e.quiet.notify_all();
  dispatch_ready();
}
