// The process-wide cache of jobs, and the functions shared by kernels that run jobs.
#pragma once
#include <memory>
#include <string>

#include "mxcy.h"
#include "onednn/check.h"
#include "onednn/job.h"

namespace mx {
namespace onednn {

// Describe the job for a call; false with an error text if oneDNN rejects it. Only shapes, dtypes
// and parameters of the call are read.
typedef bool (*Builder)(const mx_call* call, Job* job);

// The job for a call's signature, cached or new; NULL with an error text.
std::shared_ptr<Job> job_for(const mx_call* call, Builder build, size_t params_size);

int run_job(const mx_call* call, Builder build, size_t params_size);
int make_job(const mx_call* call, void** state, Builder build, size_t params_size);
void drop_job(void* state);
int64_t query_job(const mx_call* call, int32_t what, Builder build, size_t params_size);

// Set the capacity of oneDNN's own cache, so that it keeps nothing that this one has evicted.
void set_capacity_of_library();

template <class Params>
struct SizeOf {
  static constexpr size_t value = sizeof(Params);
};
template <>
struct SizeOf<void> {
  static constexpr size_t value = 0;
};

// A kernel and its name, which is empty if several kernels share a builder.
template <class Params, Builder build>
struct Entry {
  static inline const char* name = nullptr;
  static int run(const mx_call* call) { return run_job(call, build, SizeOf<Params>::value); }
  static int run_or_check(const mx_call* call) {
    return g_checks.load(std::memory_order_relaxed) ? run_checked(name, run, call) : run(call);
  }
};

// Register a kernel whose jobs are described by `build` from parameters of type Params, or none.
template <class Params, Builder build>
void add_kernel(const char* name, uint32_t dtypes) {
  typedef Entry<Params, build> E;
  E::name = E::name ? "" : name;
  mx_kernel_add(name, E::run_or_check, dtypes, 0);
  const mx_kernel_extra extra = {[](const mx_call* call, void** state) {
                                   return make_job(call, state, build, SizeOf<Params>::value);
                                 },
                                 drop_job,
                                 [](const mx_call* call, int32_t what) {
                                   return query_job(call, what, build, SizeOf<Params>::value);
                                 }};
  mx_kernel_extend(name, &extra);
}

}  // namespace onednn
}  // namespace mx
