// Device memory and pinned host memory as sources of pools.
#include <list>
#include <mutex>
#include <vector>

#include "core/fork.h"
#include "cuda/driver.h"
#include "cuda/order.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr unsigned kPortable = 1;  // pinned for all devices
constexpr int kOutOfMemory = 2;

int32_t number_of(void* context) { return (int32_t)(intptr_t)context; }

void* device_alloc(void* context, size_t bytes) {
  Address memory = 0;
  if (!enter(number_of(context))) return nullptr;
  const int status = api().MemAlloc(&memory, bytes);
  // The pool reports the figures, and retries after releasing its cache.
  if (status == kOutOfMemory) return nullptr;
  if (!succeeded(status, "taking memory")) return nullptr;
  note_memory(number_of(context), (void*)memory, bytes);
  return (void*)memory;
}

void device_free(void* context, void* data, size_t) {
  // A failed device cannot free memory, and an exiting process need not.
  if (!enter(number_of(context))) return;
  forget_memory(number_of(context), data);
  api().MemFree((Address)data);  // waits for all streams
}

void device_figures(void* context, size_t, size_t* free, size_t* total) {
  *free = *total = 0;
  mx_gpu_memory(number_of(context), free, total);
}

void* pinned_alloc(void*, size_t bytes) {
  void* memory = nullptr;
  if (!enter(0)) return nullptr;
  const int status = api().MemHostAlloc(&memory, bytes, kPortable);
  return status == kOutOfMemory || !succeeded(status, "pinning memory") ? nullptr : memory;
}

void pinned_free(void*, void* data, size_t) {
  if (enter(0)) api().MemFreeHost(data);
}

void pinned_figures(void*, size_t, size_t* free, size_t* total) { mx_host_memory("", free, total); }

constexpr mx_pool_source kPinned = {pinned_alloc, pinned_free, pinned_figures, nullptr};

}  // namespace
}  // namespace cuda
}  // namespace mx

extern "C" int mx_gpu_memory(int32_t device, size_t* free, size_t* total) {
  if (!mx::cuda::enter(device)) return -1;
  const int status = mx::cuda::api().MemGetInfo(free, total);
  return mx::cuda::succeeded(status, "getting free memory") ? 0 : -1;
}

extern "C" const mx_pool_source* mx_gpu_source(int32_t device) {
  using namespace mx::cuda;
  static mx::ForkSafeMutex* lock = new mx::ForkSafeMutex;
  static std::list<mx_pool_source>* sources = new std::list<mx_pool_source>;
  std::lock_guard<mx::ForkSafeMutex> guard(*lock);
  for (const mx_pool_source& source : *sources)
    if (number_of(source.context) == device) return &source;
  sources->push_back({device_alloc, device_free, device_figures, (void*)(intptr_t)device});
  return &sources->back();
}

extern "C" const mx_pool_source* mx_gpu_pinned_source(void) { return &mx::cuda::kPinned; }
