// Kernel calls, plan runs and copies as engine operations.
#include "mxcy_operations.h"

#include <cstring>
#include <new>
#include <string>
#include <vector>

#include "core/engine/habit.h"
#include "core/integers.h"
#include "core/threads.h"
#include "mxcy_profiler.h"

namespace {

// Put "Error in operator LABEL: " before the last error's text, but after the name of the Python
// exception it may begin with.
int fail_in(const char* label) {
  constexpr char kIndexError[] = "IndexError: ";
  const std::string text = mx_last_error();
  const size_t skip =
      text.compare(0, sizeof kIndexError - 1, kIndexError) ? 0 : strlen(kIndexError);
  return mx_fail("%sError in operator %s: %s", skip ? kIndexError : "", label, text.c_str() + skip);
}

struct KernelRun {
  mx_kernel kernel;
  mx_call call;
  mx_pool* pool;
  int32_t source;
  std::vector<mx_tensor> tensors;
  std::vector<int64_t> extents;
  std::vector<int32_t> reqs;
  std::vector<uint64_t> params;  // 8-byte aligned

  KernelRun(mx_kernel kernel, const mx_call& given, size_t params_size, mx_pool* pool,
            int32_t source)
      : kernel(kernel), call(given), pool(pool), source(mx_profile_part(source)) {
    const int32_t n = given.nin + given.nout;
    tensors.assign(given.in, given.in + given.nin);
    tensors.insert(tensors.end(), given.out, given.out + given.nout);
    size_t total = 0;
    for (const mx_tensor& tensor : tensors) total += tensor.ndim;
    extents.reserve(total);  // tensors point into it: no reallocation
    for (int32_t i = 0; i < n; ++i) {
      const int64_t* shape = tensors[i].shape;
      tensors[i].shape = extents.data() + extents.size();
      extents.insert(extents.end(), shape, shape + tensors[i].ndim);
    }
    reqs.assign(given.req, given.req + given.nout);
    if (params_size) {
      params.resize(mx::ceil_div(params_size, 8));
      memcpy(params.data(), given.params, params_size);
      call.params = params.data();
    }
    call.in = tensors.data();
    call.out = tensors.data() + given.nin;
    call.req = reqs.data();
  }

  int run() {
    if (call.workspace_size) {
      call.workspace = mx_temp_take(pool, call.workspace_size, 1);
      if (!call.workspace) return -1;
    }
    call.threads = mx_threads_up_to(call.threads);  // a worker may have a smaller team
    const int status = mx_run_kernel(kernel, &call, source, MX_PROFILE_IMPERATIVE);
    if (call.workspace) mx_temp_give(pool, call.workspace, call.workspace_size);
    return status;
  }
};

// Plans with at least this many steps are worth ending the caller's team for: each step of theirs
// that wakes a sleeping thread takes as long as starting a new one for the caller's next region.
constexpr int32_t kLongPlan = 8;

struct PlanRun {
  const mx_plan* plan;
  int32_t first, last;
  std::vector<void*> bases;
  void* scratch;
  mx_rng* rng;
  const char* const* labels;

  int run() {
    int32_t failed = first;
    if (mx_plan_run(plan, first, last, bases.data(), scratch, rng, &failed) == 0) return 0;
    return fail_in(labels[failed]);
  }
};

struct CopyRun {
  void* target;
  const void* source;
  size_t bytes;

  int run() {
    memcpy(target, source, bytes);
    return 0;
  }
};

// More threads than CPUs, in two teams, would be put to sleep by the OpenMP runtime at once.
struct TeamEnd {
  int run() {
    mx::dismiss_team();
    return 0;
  }
};

struct NoRun {
  int run() { return 0; }
};

template <class Payload>
int push(const mx_operation* about, Payload* payload) {
  if (!payload) return mx_fail("%s: out of memory", about->name ? about->name : "engine");
  mx_operation operation = *about;
  operation.payload = payload;
  operation.run = [](void* p) { return static_cast<Payload*>(p)->run(); };
  operation.skipped = nullptr;
  operation.release = [](void* p) { delete static_cast<Payload*>(p); };
  return mx_engine_push(&operation);
}

}  // namespace

extern "C" int mx_push_kernel(const mx_operation* about, mx_kernel kernel, const mx_call* call,
                              size_t params_size, mx_pool* pool, int32_t source) {
  mx::note_kernel();
  return push(about, new (std::nothrow) KernelRun(kernel, *call, params_size, pool, source));
}

extern "C" int mx_push_plan(const mx_operation* about, const mx_plan* plan, int32_t first,
                            int32_t last, void* const* bases, int32_t nbases, void* scratch,
                            mx_rng* rng, const char* const* labels) {
  if (last - first >= kLongPlan) mx::dismiss_team();
  mx::note_plan(mx_plan_number(plan), first);
  return push(about, new (std::nothrow)
                         PlanRun{plan, first, last, {bases, bases + nbases}, scratch, rng, labels});
}

extern "C" int32_t mx_plan_here(const mx_plan* plan, int32_t first, int32_t device_type,
                                int32_t device_id) {
  bool begins = false;
  if (!mx::runs_here(mx_plan_number(plan), first, &begins)) return 0;
  mx_operation about{};
  about.device_type = device_type;
  about.device_id = device_id;
  return !begins || push(&about, new (std::nothrow) TeamEnd) == 0;
}

extern "C" int mx_push_copy(const mx_operation* about, void* target, const void* source,
                            size_t bytes) {
  return push(about, new (std::nothrow) CopyRun{target, source, bytes});
}

extern "C" int mx_push_nothing(const mx_operation* about) {
  return push(about, new (std::nothrow) NoRun);
}
