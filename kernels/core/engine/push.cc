// Submitting operations: queued, or run in the caller's thread.
#include "core/engine/engine.h"

namespace mx {

// Run a ready operation and free it; its error is returned to the caller.
static int run_inline(Operation* work, Lock& lock) {
  Engine& e = engine();
  const mx_operation spec = work->spec;
  FailurePtr failure = spec.property == MX_OP_NOSKIP ? nullptr : input_failure(work);
  ++e.counts.pushed;
  ++e.counts.inlined;
  ++(failure ? e.counts.skipped : e.counts.run);
  Waiter completion;
  work->waiter = &completion;
  bool run_failed = false;
  lock.unlock();
  if (failure) {
    if (spec.skipped) spec.skipped(spec.payload);
  } else {
    if (!call_run(work, spec)) {
      failure = make_failure(spec, mx_last_error());
    } else if (spec.property == MX_OP_ASYNC) {
      lock.lock();
      completion.turn.wait(lock, [&] { return completion.signalled; });
      failure = completion.failure;
      lock.unlock();
    }
    run_failed = failure != nullptr;
  }
  if (spec.release) spec.release(spec.payload);
  lock.lock();
  e.counts.failed += run_failed;
  if (!failure) mark_written(work, nullptr);
  report_token(work);
  return failure ? raise_failure(*failure) : 0;
}

static int run_naive(Operation* work, Lock& lock) {
  Engine& e = engine();
  wait_turn(work, lock, -1);
  ++e.holders;
  Operation* outer = running_operation;
  running_operation = work;
  const int status = run_inline(work, lock);
  running_operation = outer;
  end_uses(work);
  if (e.holders > 0 && --e.holders == 0) e.quiet.notify_all();
  dispatch_ready();
  return status;
}

// Run what a running operation pushes on variables that it holds: queued, it would wait for itself.
static int run_nested(Operation* work, Lock& lock) {
  flush_bulks_of(work);
  std::vector<const Request*> others;
  for (int32_t i = 0; i < work->count; ++i) {
    const Request& request = work->requests[i];
    if (holds(running_operation, var_of(request), request.access)) continue;
    if (!request.queue->free_for(request.writes())) {
      free_operation(work);
      return mx_fail(
          "engine: a running operation may only use variables that it holds or that are idle");
    }
    others.push_back(&request);
  }
  add_uses(work);
  for (const Request* request : others) grant(*request->queue, request->writes());
  const int status = run_inline(work, lock);
  for (const Request* request : others) release(*request->queue, request->writes(), queue_ready);
  drop_uses(work);
  free_operation(work);
  dispatch_ready();
  return status;
}

static bool touches_held(const Operation* work) {
  for (int32_t i = 0; running_operation && i < work->count; ++i)
    if (holds(running_operation, var_of(work->requests[i]), MX_READS)) return true;
  return false;
}

static int push_asynchronous(Operation* work, Lock& lock) {
  Engine& e = engine();
  flush_own_bulk();
  if (!submit(*work)) return 0;
  if (e.stopped) {
    e.late.append(work);
    return 0;
  }
  ++e.counts.inlined;
  execute(work, lock);
  return 0;
}

static int push(const mx_operation& spec) {
  Engine& e = engine();
  Lock lock(e.lock);
  Operation* work = make_operation(spec, Role::kWork);
  if (!work) return -1;
  if (touches_held(work)) return run_nested(work, lock);
  if (e.settings.type == MX_NAIVE_ENGINE) {
    work->role = Role::kHold;
    add_uses(work);
    return run_naive(work, lock);
  }
  if (!e.stopped && !workers_for(spec)->start()) {
    free_operation(work);
    return -1;
  }
  ++e.counts.pushed;
  ++e.pending;
  add_uses(work);
  if (add_to_bulk(work)) return 0;
  flush_bulks_of(work);
  if (spec.property == MX_OP_ASYNC) return push_asynchronous(work, lock);
  flush_own_bulk();
  queue_operation(work);
  return 0;
}

}  // namespace mx

using namespace mx;

extern "C" int mx_engine_push(const mx_operation* operation) {
  for (int32_t i = 0; i < operation->nvars; ++i)
    if (operation->access[i] < MX_READS || operation->access[i] > (MX_READS | MX_WRITES))
      return mx_fail("engine: invalid access %d", operation->access[i]);
  if (operation->property < MX_OP_NORMAL || operation->property > MX_OP_NOSKIP)
    return mx_fail("engine: unknown property %d", operation->property);
  return push(*operation);
}
