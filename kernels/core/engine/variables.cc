// Queries about variables; their queues are in dependency.h.
#include <new>

#include "core/engine/engine.h"

using namespace mx;

extern "C" mx_var* mx_var_create(void) {
  mx_var* var = new (std::nothrow) mx_var;
  if (!var) mx_fail("engine: out of memory");
  return var;
}

extern "C" void mx_var_destroy(mx_var* var) {
  if (!var) return;
  Lock lock(engine().lock);
  if (var->uses == 0)
    delete var;
  else
    var->forgotten = true;
}

extern "C" int32_t mx_var_idle(const mx_var* var) {
  return var->state.load(std::memory_order_acquire) == 0;
}

extern "C" int32_t mx_var_readable(const mx_var* var) {
  return (var->state.load(std::memory_order_acquire) & 3) == 0;
}

extern "C" int32_t mx_var_failed(mx_var* var) {
  if (!(var->state.load(std::memory_order_acquire) & 1)) return 0;
  Lock lock(engine().lock);
  return current_failure(var) != nullptr;
}

extern "C" int64_t mx_var_version(const mx_var* var) {
  return var->version.load(std::memory_order_relaxed);
}
