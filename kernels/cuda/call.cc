// Ordering of calls between streams, and their recording during captures.
#include "cuda/call.h"

#include "cuda/alarms.h"
#include "cuda/lanes.h"
#include "cuda/random.h"
#include "mxcy_profiler.h"

namespace mx {
namespace cuda {
namespace {

thread_local std::vector<Use> uses;  // of the current call
thread_local Span span;              // of its kernels, for the profiler
thread_local bool is_told = false;

bool started(int32_t device, Stream stream) {
  if (__builtin_expect(mx_profile_running() != 0, 0)) {
    span.begin(device, stream);
    is_told = true;
  }
  return true;
}

}  // namespace

void list_uses(const mx_call* call, int32_t device, uint64_t mutated, std::vector<Use>* list) {
  list->clear();
  if (call->rng)  // draws advance the random streams
    for (mx_rng* rng : {call->rng, &call->rng->for_dropout()})
      list->push_back({(void*)random_state(rng, device), true});
  for (int i = 0; i < call->nin; ++i)
    list->push_back({call->in[i].data, (mutated >> (i < 63 ? i : 63) & 1) != 0});
  for (int i = 0; i < call->nout; ++i) list->push_back({call->out[i].data, true});
  if (call->workspace_size) list->push_back({call->workspace, true});
}

bool begin_call(const mx_call* call, int32_t device, uint64_t mutated, int64_t launches,
                Stream* stream) {
  if (Capture* capture = capturing()) {
    *stream = capture->stream;
    list_uses(call, device, mutated, &uses);
    capture->launches += launches;
    capture->uses.insert(capture->uses.end(), uses.begin(), uses.end());
    return true;
  }
  if (!stream_of(device, stream)) return false;
  if (call->rng && !refresh_random(call->rng, device)) return false;
  if (has_order(device)) {
    list_uses(call, device, mutated, &uses);
    if (!await_turn(device, uses)) return false;
  }
  return started(device, *stream);
}

bool end_call(const mx_call* call, int32_t device, uint64_t mutated) {
  if (capturing()) return true;
  if (__builtin_expect(is_told, 0)) {
    is_told = false;
    span.end(mx_profile_running());
  }
  const bool fails = __builtin_expect(has_failures(device), 0), orders = has_order(device);
  if (!fails && !orders) return true;
  list_uses(call, device, mutated, &uses);
  if (orders && !leave_marks(device, uses)) return false;
  if (fails) {  // mutated inputs are read as well
    for (int i = 0; i < call->nin; ++i) uses.push_back({call->in[i].data, false});
    pass_failures_on(device, uses);
  }
  return true;
}

}  // namespace cuda
}  // namespace mx
