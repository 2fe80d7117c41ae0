// Copies between the host and devices, within a device, and between two.
#include <cstring>

#include "cuda/driver.h"
#include "cuda/order.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

int copy(void* target, int32_t target_device, const void* source, int32_t source_device,
         size_t bytes) {
  const Device* from = nullptr;
  Stream stream;
  if (target_device != source_device && target_device != MX_HOST && source_device != MX_HOST) {
    from = enter(source_device);
    if (!from || mx_gpu_settle(source_device, source, 0) != 0) return -1;
  }
  const int32_t at = target_device == MX_HOST ? source_device : target_device;
  const Device* device = enter(at);
  if (!device || !stream_of(at, &stream)) return -1;
  std::vector<Use> uses;
  if (source_device == at) uses.push_back({source, false});
  if (target_device == at) uses.push_back({target, true});
  if (has_order(at) && !await_turn(at, uses)) return -1;
  const Address to = (Address)target, read = (Address)source;
  const int status =
      source_device == MX_HOST   ? api().CopyToDevice(to, source, bytes, stream)
      : target_device == MX_HOST ? api().CopyToHost(target, read, bytes, stream)
      : from ? api().CopyBetween(to, device->context, read, from->context, bytes, stream)
             : api().CopyWithin(to, read, bytes, stream);
  if (!succeeded(status, "copying")) return -1;
  return succeeded(api().StreamSynchronize(stream), "copying") ? 0 : -1;
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
