// Copies between the host and devices, within a device, and between two.
#include <atomic>
#include <cstring>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <utility>

#include "core/fork.h"
#include "cuda/alarms.h"
#include "cuda/driver.h"
#include "cuda/lanes.h"
#include "cuda/order.h"
#include "mxcy_gpu.h"
#include "mxcy_profiler.h"

namespace mx {
namespace cuda {
namespace {

constexpr int kKnown = 704;  // peer access is enabled already

std::atomic<bool> peers_allowed{true};

// Enable access to a peer's memory, if possible. Otherwise the driver copies through the host.
bool open_way(int32_t device, int32_t peer, const Device& there) {
  static ForkSafeMutex* lock = new ForkSafeMutex;
  static auto* seen = new std::set<std::pair<int32_t, int32_t>>;
  std::lock_guard<ForkSafeMutex> guard(*lock);
  if (!seen->insert({device, peer}).second) return true;
  int possible = 0;
  if (!succeeded(api().CanAccessPeer(&possible, device, peer), "checking peer access"))
    return false;
  if (!possible) return true;
  const int status = api().EnablePeerAccess(there.context, 0);
  return status == kKnown || succeeded(status, "enabling peer access");
}

int through_host(void* target, int32_t target_device, const void* source, int32_t source_device,
                 size_t bytes) {
  const std::unique_ptr<char[]> buffer(new char[bytes]);
  if (mx_gpu_copy(buffer.get(), MX_HOST, source, source_device, bytes) != 0) return -1;
  return mx_gpu_copy(target, target_device, buffer.get(), MX_HOST, bytes);
}

// Copy between the host and a device, on a separate stream.
int copy_host(void* target, int32_t target_device, const void* source, int32_t source_device,
              size_t bytes) {
  const bool goes_up = source_device == MX_HOST;
  LentStream lent(goes_up ? target_device : source_device);
  if (!lent.get() || !lent.await_turn({goes_up ? target : source, goes_up})) return -1;
  const bool is_told = mx_profiled(MX_PROFILE_SYMBOLIC | MX_PROFILE_IMPERATIVE) != 0;
  Span span;
  if (is_told) span.begin(goes_up ? target_device : source_device, lent.get());
  const int status = goes_up ? api().CopyToDevice((Address)target, source, bytes, lent.get())
                             : api().CopyToHost(target, (Address)source, bytes, lent.get());
  if (!succeeded(status, "copying")) return -1;
  if (is_told)
    span.end("copies", goes_up ? "copy to the device" : "copy to the host",
             "\"bytes\":" + std::to_string(bytes));
  if (!succeeded(api().StreamSynchronize(lent.get()), "copying")) return -1;
  if (!goes_up) return is_quiet(source_device, source) ? 0 : -1;
  if (has_failures(target_device)) pass_failures_on(target_device, {{target, true}});
  return is_quiet(target_device) ? 0 : -1;
}

int copy(void* target, int32_t target_device, const void* source, int32_t source_device,
         size_t bytes) {
  const Device* from = nullptr;
  Stream stream;
  if (target_device == MX_HOST || source_device == MX_HOST)
    return copy_host(target, target_device, source, source_device, bytes);
  if (target_device != source_device) {
    if (!peers_allowed) return through_host(target, target_device, source, source_device, bytes);
    from = enter(source_device);
    if (!from || mx_gpu_settle(source_device, source, 0) != 0) return -1;
  }
  const int32_t at = target_device;
  const Device* device = enter(at);
  if (!device || !stream_of(at, &stream)) return -1;
  if (from && !open_way(at, source_device, *from)) return -1;
  std::vector<Use> uses = {{target, true}};
  if (!from) uses.push_back({source, false});
  if (has_order(at) && !await_turn(at, uses)) return -1;
  const Address to = (Address)target, read = (Address)source;
  const int status =
      from ? api().CopyBetween(to, device->context, read, from->context, bytes, stream)
           : api().CopyWithin(to, read, bytes, stream);
  if (!succeeded(status, "copying")) return -1;
  if (!succeeded(api().StreamSynchronize(stream), "copying")) return -1;
  if (!is_quiet(at, from ? nullptr : source)) return -1;
  if (has_failures(at)) pass_failures_on(at, uses);
  return 0;
}

}  // namespace
}  // namespace cuda
}  // namespace mx

extern "C" int mx_gpu_copy(void* target, int32_t target_device, const void* source,
                           int32_t source_device, size_t bytes) {
  if (bytes == 0) return 0;
  if (target_device == MX_HOST && source_device == MX_HOST) {
    memcpy(target, source, bytes);
    return 0;
  }
  return mx::cuda::copy(target, target_device, source, source_device, bytes);
}

extern "C" void mx_gpu_allow_peers(int32_t allowed) { mx::cuda::peers_allowed = allowed != 0; }
