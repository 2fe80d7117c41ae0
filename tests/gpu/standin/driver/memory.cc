// Device memory, pinned memory, and copies.
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "state.h"

namespace standin {
namespace {

constexpr size_t kPage = 4096;
constexpr unsigned char kGuard = 0xa5;

struct Allocation {
  size_t bytes, mapped_bytes;
  int device;
  bool is_open;  // mapped for the device
};
std::map<CUdeviceptr, Allocation> allocations;
std::map<CUdeviceptr, size_t> pinned;
size_t used_bytes[kMaxDevices];
int runs = 0;                           // nested lifetimes of DeviceRuns, all of one thread
thread_local bool device_runs = false;  // in this thread
std::vector<CUdeviceptr> opened;        // since `runs` was 0
struct sigaction handler_before;

char* reserve_unmapped(size_t bytes) {
  void* memory =
      mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? nullptr : (char*)memory;
}

// The last entry of a map that begins at or before an address.
template <class Map>
typename Map::const_iterator entry_before(const Map& map, CUdeviceptr address) {
  auto entry = map.upper_bound(address);
  return entry == map.begin() ? map.end() : --entry;
}

bool guard_is_whole(CUdeviceptr address, const Allocation& allocation) {
  const DeviceRuns runs;
  const unsigned char* bytes = (const unsigned char*)address;
  for (size_t i = allocation.bytes; i < allocation.mapped_bytes; ++i)
    if (bytes[i] != kGuard) return false;
  return true;
}

enum class Side { kHost, kDevice };

CUresult copy(CUdeviceptr target, Side target_side, CUdeviceptr source, Side source_side,
              size_t bytes, Stream* handle) {
  if (target_side == Side::kDevice && device_of(target, bytes) < 0)
    return error(CUDA_ERROR_INVALID_VALUE, "a copy to what is not device memory");
  if (source_side == Side::kDevice && device_of(source, bytes) < 0)
    return error(CUDA_ERROR_INVALID_VALUE, "a copy from what is not device memory");
  ++state.counts.copies;
  if (source_side == Side::kHost && !is_pinned(source, bytes)) {  // staged before the call returns
    const auto staged = std::make_shared<std::string>((const char*)source, bytes);
    return push(handle, [=] { return memcpy((void*)target, staged->data(), bytes), CUDA_SUCCESS; });
  }
  const CUresult status = push(
      handle, [=] { return memmove((void*)target, (const void*)source, bytes), CUDA_SUCCESS; });
  const bool pageable_target = target_side == Side::kHost && !is_pinned(target, bytes);
  if (status || !pageable_target || stream_of(handle)->capture) return status;
  return wait_for_stream(handle);
}

}  // namespace

bool open_memory(void* address) {
  if (!device_runs) return false;
  auto entry = allocations.upper_bound((CUdeviceptr)address);
  if (entry == allocations.begin()) return false;
  auto& [first, allocation] = *--entry;
  const bool is_inside = (CUdeviceptr)address < first + allocation.mapped_bytes;
  if (!is_inside || allocation.is_open) return false;
  mprotect((void*)first, allocation.mapped_bytes, PROT_READ | PROT_WRITE);
  opened.push_back(first);
  return allocation.is_open = true;
}

// Only what is accessed is mapped, since changing the protection of all memory takes long.
DeviceRuns::DeviceRuns() {
  if (runs++) return;
  struct sigaction action{};
  action.sa_sigaction = [](int, siginfo_t* info, void*) {  // returning repeats the access
    if (!open_memory(info->si_addr)) sigaction(SIGSEGV, &handler_before, nullptr);
  };
  action.sa_flags = SA_SIGINFO | SA_NODEFER;
  sigaction(SIGSEGV, &action, &handler_before);
  device_runs = true;
}
DeviceRuns::~DeviceRuns() {
  if (--runs) return;
  device_runs = false;
  sigaction(SIGSEGV, &handler_before, nullptr);
  for (CUdeviceptr address : opened) {
    const auto entry = allocations.find(address);
    if (entry == allocations.end()) continue;  // freed
    mprotect((void*)address, entry->second.mapped_bytes, PROT_NONE);
    entry->second.is_open = false;
  }
  opened.clear();
}

int device_of(CUdeviceptr address, size_t bytes) {
  const auto entry = entry_before(allocations, address);
  const bool inside =
      entry != allocations.end() && address + bytes <= entry->first + entry->second.bytes;
  return inside ? entry->second.device : -1;
}

bool is_pinned(CUdeviceptr address, size_t bytes) {
  const auto entry = entry_before(pinned, address);
  return entry != pinned.end() && address + bytes <= entry->first + entry->second;
}

}  // namespace standin

using namespace standin;

API CUresult cuMemGetInfo_v2(size_t* free_bytes, size_t* total) {
  Lock lock(state.mutex);
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  return *total = state.memory_bytes,
         *free_bytes = state.memory_bytes - used_bytes[current_context->device], CUDA_SUCCESS;
}

API CUresult cuMemAlloc_v2(CUdeviceptr* address, size_t bytes) {
  Lock lock(state.mutex);
  if (!current_context) return error(CUDA_ERROR_INVALID_CONTEXT, "this thread has no context");
  if (state.sticky_error) return state.sticky_error;
  if (!bytes) return error(CUDA_ERROR_INVALID_VALUE, "an allocation of no bytes");
  const int device = current_context->device;
  if (bytes > state.memory_bytes - used_bytes[device])
    return error(CUDA_ERROR_OUT_OF_MEMORY, "out of memory");
  for (Stream* stream : state.streams)
    if (stream->capture) {
      stream->broke_capture = true;
      return error(CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED,
                   "an allocation while a graph is captured");
    }
  const size_t mapped_bytes = (bytes + kPage - 1) / kPage * kPage;
  char* memory = reserve_unmapped(mapped_bytes + kPage);  // the last page is never mapped
  if (!memory) return CUDA_ERROR_OUT_OF_MEMORY;
  mprotect(memory, mapped_bytes, PROT_READ | PROT_WRITE);
  memset(memory, 0xff, bytes);
  memset(memory + bytes, kGuard, mapped_bytes - bytes);
  mprotect(memory, mapped_bytes, PROT_NONE);
  *address = (CUdeviceptr)memory;
  allocations[*address] = {bytes, mapped_bytes, device, false};
  used_bytes[device] += bytes, ++state.counts.allocations;
  return CUDA_SUCCESS;
}

API CUresult cuMemFree_v2(CUdeviceptr address) {
  Lock lock(state.mutex);
  if (!address) return CUDA_SUCCESS;
  const auto entry = allocations.find(address);
  if (entry == allocations.end())
    return error(CUDA_ERROR_INVALID_VALUE, "a release of what is not device memory");
  if (const CUresult status = wait_for_device()) return status;  // as in CUDA
  const Allocation allocation = entry->second;
  if (!guard_is_whole(address, allocation)) {
    fprintf(stderr, "stand-in: a kernel wrote behind the end of its memory\n");
    abort();
  }
  allocations.erase(entry);
  used_bytes[allocation.device] -= allocation.bytes;
  mprotect((void*)address, allocation.mapped_bytes, PROT_NONE);  // catches use after free
  madvise((void*)address, allocation.mapped_bytes, MADV_DONTNEED);
  return CUDA_SUCCESS;
}

API CUresult cuMemHostAlloc(void** address, size_t bytes, unsigned) {
  Lock lock(state.mutex);
  if (posix_memalign(address, kPage, bytes)) return CUDA_ERROR_OUT_OF_MEMORY;
  memset(*address, 0xff, bytes);
  return pinned[(CUdeviceptr)*address] = bytes, CUDA_SUCCESS;
}
API CUresult cuMemFreeHost(void* address) {
  Lock lock(state.mutex);
  if (!pinned.count((CUdeviceptr)address))
    return error(CUDA_ERROR_INVALID_VALUE, "a release of what is not pinned memory");
  wait_for_device();
  return pinned.erase((CUdeviceptr)address), free(address), CUDA_SUCCESS;
}

API CUresult cuMemcpyHtoDAsync_v2(CUdeviceptr target, const void* source, size_t bytes,
                                  Stream* stream) {
  Lock lock(state.mutex);
  return copy(target, Side::kDevice, (CUdeviceptr)source, Side::kHost, bytes, stream);
}
API CUresult cuMemcpyDtoHAsync_v2(void* target, CUdeviceptr source, size_t bytes, Stream* stream) {
  Lock lock(state.mutex);
  return copy((CUdeviceptr)target, Side::kHost, source, Side::kDevice, bytes, stream);
}
API CUresult cuMemcpyDtoDAsync_v2(CUdeviceptr target, CUdeviceptr source, size_t bytes,
                                  Stream* stream) {
  Lock lock(state.mutex);
  return copy(target, Side::kDevice, source, Side::kDevice, bytes, stream);
}
API CUresult cuMemcpyPeerAsync(CUdeviceptr target, Context*, CUdeviceptr source, Context*,
                               size_t bytes, Stream* stream) {
  Lock lock(state.mutex);
  return copy(target, Side::kDevice, source, Side::kDevice, bytes, stream);
}
API CUresult cuMemsetD8Async(CUdeviceptr target, unsigned char value, size_t bytes,
                             Stream* stream) {
  Lock lock(state.mutex);
  if (device_of(target, bytes) < 0)
    return error(CUDA_ERROR_INVALID_VALUE, "a fill of what is not device memory");
  return push(stream, [=] { return memset((void*)target, value, bytes), CUDA_SUCCESS; });
}
