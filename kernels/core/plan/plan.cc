// Plans: flat lists of kernel calls, run without the GIL and without allocation.
#include <algorithm>
#include <atomic>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "core/fork.h"
#include "core/integers.h"
#include "mxcy.h"
#include "mxcy_gpu.h"
#include "mxcy_operations.h"
#include "mxcy_profiler.h"

namespace {

constexpr size_t kLine = 64;

std::atomic<int64_t> g_plans{0};  // created so far

size_t whole_lines(size_t bytes) { return mx::round_up(bytes, kLine); }

// One call; its tensors are `operand`, `operand + 1`, ... of the plan's operands.
struct Step {
  mx_kernel kernel;
  const mx_kernel_extra* extra;
  mx_call call;  // without data, workspace and rng
  int32_t threads;
  int32_t operand;
};

struct Operand {
  int32_t base;
  int64_t offset;
};

}  // namespace

struct mx_plan {
  const int64_t number = ++g_plans;
  std::vector<int64_t> extents;
  std::vector<mx_tensor> tensors;  // one per operand, without data
  std::vector<Operand> operands;
  std::vector<int32_t> reqs;
  std::vector<uint64_t> params;  // consecutive structs, each 8-byte aligned
  std::vector<Step> steps;
  size_t workspace = 0;
  bool on_device = false;

  // The profiler's sources of the steps and of runs of several steps; NULL until it asks.
  std::atomic<const int32_t*> sources{nullptr};
  mutable std::map<std::pair<int32_t, int32_t>, int32_t> segments;
  mutable mx::ForkSafeMutex segments_lock;

  ~mx_plan() {
    delete[] sources.load();
    for (Step& step : steps)
      if (step.call.state && step.extra->drop) step.extra->drop(step.call.state);
  }
};

namespace {

// Copies of the places' shapes; the vector does not move afterwards.
std::vector<const int64_t*> copy_shapes(mx_plan* plan, int32_t n, const mx_place* places) {
  size_t total = 0;
  for (int32_t i = 0; i < n; ++i) total += places[i].ndim;
  plan->extents.reserve(total);
  std::vector<const int64_t*> shapes(n);
  for (int32_t i = 0; i < n; ++i) {
    shapes[i] = plan->extents.data() + plan->extents.size();
    plan->extents.insert(plan->extents.end(), places[i].shape, places[i].shape + places[i].ndim);
  }
  return shapes;
}

int add_step(mx_plan* plan, const mx_step& spec, int32_t nplaces, const mx_place* places,
             const std::vector<const int64_t*>& shapes) {
  Step step{};
  step.operand = (int32_t)plan->operands.size();
  if (!spec.kernel) {
    plan->steps.push_back(step);
    return 0;
  }
  step.kernel = mx_kernel_find(spec.kernel, spec.dtype, nullptr);
  if (!step.kernel) return mx_fail("plan: unknown kernel %s", spec.kernel);
  step.extra = mx_kernel_extra_of(spec.kernel);
  step.threads = spec.threads;
  const int32_t count = spec.nin + spec.nout;
  for (int32_t i = 0; i < count; ++i) {
    const int32_t number = spec.places[i];
    if (number < 0 || number >= nplaces) return mx_fail("plan: unknown place %d", number);
    const mx_place& place = places[number];
    plan->operands.push_back({place.base, place.offset});
    plan->tensors.push_back({nullptr, shapes[number], nullptr, place.ndim, place.dtype});
  }
  step.call.nin = spec.nin;
  step.call.nout = spec.nout;
  step.call.req = plan->reqs.data() + plan->reqs.size();
  plan->reqs.insert(plan->reqs.end(), spec.req, spec.req + spec.nout);
  if (spec.params_size) {
    step.call.params = plan->params.data() + plan->params.size();
    plan->params.resize(plan->params.size() + mx::ceil_div(spec.params_size, 8));
    memcpy(const_cast<void*>(step.call.params), spec.params, spec.params_size);
  }
  step.call.workspace_size = spec.workspace;
  plan->on_device |= !strncmp(spec.kernel, "gpu_", 4);
  if (spec.workspace > plan->workspace) plan->workspace = spec.workspace;
  step.call.in = plan->tensors.data() + step.operand;
  step.call.out = plan->tensors.data() + step.operand + spec.nin;
  step.call.threads = mx_threads_up_to(spec.threads);
  if (step.extra && step.extra->make && step.extra->make(&step.call, &step.call.state) != 0)
    return -1;
  plan->steps.push_back(step);
  return 0;
}

}  // namespace

extern "C" mx_plan* mx_plan_create(int32_t nplaces, const mx_place* places, int32_t nsteps,
                                   const mx_step* steps) {
  std::unique_ptr<mx_plan> plan(new (std::nothrow) mx_plan);
  if (!plan) {
    mx_fail("plan: out of memory");
    return nullptr;
  }
  const std::vector<const int64_t*> shapes = copy_shapes(plan.get(), nplaces, places);
  size_t operands = 0, reqs = 0, words = 0;
  for (int32_t i = 0; i < nsteps; ++i) {
    operands += steps[i].nin + steps[i].nout;
    reqs += steps[i].nout;
    words += mx::ceil_div(steps[i].params_size, 8);
  }
  plan->operands.reserve(operands);  // steps keep pointers into these: no reallocation
  plan->tensors.reserve(operands);
  plan->reqs.reserve(reqs);
  plan->params.reserve(words);
  plan->steps.reserve(nsteps);
  for (int32_t i = 0; i < nsteps; ++i)
    if (add_step(plan.get(), steps[i], nplaces, places, shapes) != 0) return nullptr;
  return plan.release();
}

extern "C" void mx_plan_destroy(mx_plan* plan) { delete plan; }

extern "C" int64_t mx_plan_number(const mx_plan* plan) { return plan->number; }

extern "C" size_t mx_plan_scratch(const mx_plan* plan) {
  return whole_lines(plan->workspace) + whole_lines(plan->tensors.size() * sizeof(mx_tensor));
}

extern "C" int32_t mx_plan_bases(const mx_plan* plan, int32_t first, int32_t last, int32_t* bases) {
  std::vector<int32_t> used;
  for (int32_t i = first; i < last; ++i) {
    const Step& step = plan->steps[i];
    for (int32_t j = 0; j < step.call.nin + step.call.nout; ++j)
      used.push_back(plan->operands[step.operand + j].base);
  }
  std::sort(used.begin(), used.end());
  used.erase(std::unique(used.begin(), used.end()), used.end());
  if (bases) std::copy(used.begin(), used.end(), bases);
  return (int32_t)used.size();
}

extern "C" void mx_plan_sources(mx_plan* plan, const int32_t* sources) {
  std::lock_guard<std::mutex> guard(plan->segments_lock);
  if (plan->sources) return;
  int32_t* kept = new int32_t[plan->steps.size()];
  std::copy(sources, sources + plan->steps.size(), kept);
  plan->sources.store(kept, std::memory_order_release);
}

// Report a run of steps that began at `begin` to the profiler; sources: NULL if it was not
// listening.
static void profile_segment(const mx_plan* plan, const int32_t* sources, int32_t first,
                            int32_t last, int64_t begin) {
  if (!sources || last - first < 2) return;
  const int64_t end = mx_profile_now();
  std::lock_guard<std::mutex> guard(plan->segments_lock);
  int32_t& source = plan->segments[{first, last}];
  if (!source) source = mx_profile_segment(sources + first, last - first);
  mx_profile_add(source, begin, end);
}

extern "C" int mx_plan_run(const mx_plan* plan, int32_t first, int32_t last, void* const* bases,
                           void* scratch, mx_rng* rng, int32_t* failed) {
  mx_tensor* tensors = (mx_tensor*)((char*)scratch + whole_lines(plan->workspace));
  if (plan->on_device) {  // the scratch memory is the device's
    static thread_local std::vector<mx_tensor> here;
    here.resize(plan->tensors.size());
    tensors = here.data();
  }
  const int64_t began = mx_profile_begin(MX_PROFILE_SYMBOLIC);
  const int32_t* sources = began ? plan->sources.load(std::memory_order_acquire) : nullptr;
  for (int32_t i = first; i < last; ++i) {
    const Step& step = plan->steps[i];
    const int32_t end = step.operand + step.call.nin + step.call.nout;
    for (int32_t j = step.operand; j < end; ++j) {
      tensors[j] = plan->tensors[j];
      tensors[j].data = (char*)bases[plan->operands[j].base] + plan->operands[j].offset;
    }
    mx_call call = step.call;
    call.in = tensors + step.operand;
    call.out = tensors + step.operand + call.nin;
    call.workspace = scratch;
    call.rng = rng;
    call.threads = mx_threads_up_to(step.threads);
    const int32_t source = sources ? sources[i] : 0;
    if (mx_run_kernel(step.kernel, &call, source, MX_PROFILE_SYMBOLIC) != 0) {
      *failed = i;
      return -1;
    }
  }
  profile_segment(plan, sources, first, last, began);
  return 0;
}
