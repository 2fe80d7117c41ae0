// Calls in order with other streams, and what a capture notes of them.
#include "cuda/call.h"

#include "cuda/random.h"

namespace mx {
namespace cuda {
namespace {

thread_local std::vector<Use> uses;  // of the call that is under way

}  // namespace

void list_uses(const mx_call* call, int32_t device, uint64_t mutated, std::vector<Use>* list) {
  list->clear();
  if (call->rng)  // the streams count what is drawn
    for (mx_rng* rng : {call->rng, &call->rng->for_dropout()})
      list->push_back({(void*)random_state(rng, device), true});
  for (int i = 0; i < call->nin; ++i)
    list->push_back({call->in[i].data, (mutated >> (i < 63 ? i : 63) & 1) != 0});
  for (int i = 0; i < call->nout; ++i) list->push_back({call->out[i].data, true});
  if (call->workspace_size) list->push_back({call->workspace, true});
}

bool begin_call(const mx_call* call, int32_t device, uint64_t mutated, int64_t launches,
                Stream* stream) {
  if (!stream_of(device, stream)) return false;
  if (Capture* capture = capturing()) {
    list_uses(call, device, mutated, &uses);
    capture->launches += launches;
    capture->uses.insert(capture->uses.end(), uses.begin(), uses.end());
    return true;
  }
  if (call->rng && !refresh_random(call->rng, device)) return false;
  if (!has_order(device)) return true;
  list_uses(call, device, mutated, &uses);
  return await_turn(device, uses);
}

bool end_call(const mx_call* call, int32_t device, uint64_t mutated) {
  if (capturing() || !has_order(device)) return true;
  list_uses(call, device, mutated, &uses);
  return leave_marks(device, uses);
}

}  // namespace cuda
}  // namespace mx
