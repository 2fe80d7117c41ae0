// "gpu_launch": kernel launches planned by mxcy/gpu; and loading of modules.
#include <cstring>

#include "cuda/alarms.h"
#include "cuda/call.h"
#include "cuda/random.h"
#include "mxcy_gpu.h"
#include "params/launch.gen.h"

namespace mx {
namespace cuda {
namespace {

// Kinds of arguments, numbered as in mxcy/gpu/launch.py.
enum Kind : int32_t {
  kInput,      // the address of input `index`
  kOutput,     // of output `index`
  kWorkspace,  // of byte `index` of the workspace
  kI64,        // `index`
  kI32,
  kF64,        // value[index]
  kAddresses,  // a struct of addresses: of input first + i * step, by 16 bits: first, step, count
  kSizes,      // a struct of their numbers of elements
  kNumbers,    // a struct of doubles: by 16 bits the first value, and their count
  kResults,    // a struct of addresses of outputs, as kAddresses
  kRandom,     // the address of the device's random streams; index 1: of Dropout's
  kAlarm,      // alarm `index` of the device, -1 for none, and the address of the first output
};

constexpr int kMost = 64;                   // arguments
constexpr int64_t kMostBytes = 4096 - 256;  // of arguments; devices before sm_70 take 4096

// The packed arguments of one launch.
struct Arguments {
  alignas(8) char bytes[kMostBytes];
  void* pointers[kMost];
  int64_t used = 0;
  int count = 0;
  bool aligned = true;

  char* next(int64_t size) {
    if (count == kMost || used + size > kMostBytes) return nullptr;
    char* place = bytes + used;
    pointers[count++] = place;
    used += (size + 7) / 8 * 8;
    return place;
  }
  template <class T>
  bool add(T value) {
    char* place = next(sizeof value);
    if (place) memcpy(place, &value, sizeof value);
    return place != nullptr;
  }
  bool add_address(void* address) {
    aligned = aligned && (uintptr_t)address % 16 == 0;
    return add((Address)address);
  }
};

int64_t size_of(const mx_tensor& tensor) {
  int64_t size = 1;
  for (int i = 0; i < tensor.ndim; ++i) size *= tensor.shape[i];
  return size;
}

bool add_list(Arguments* to, const mx_call* call, int32_t kind, int64_t packed,
              const double* value) {
  const int64_t first = packed & 0xffff, step = packed >> 16 & 0xffff, count = packed >> 32;
  if (kind == kNumbers) {
    char* place = to->next(8 * step);
    if (place) memcpy(place, value + first, 8 * step);
    return place != nullptr;
  }
  char* place = to->next(8 * count);
  if (!place) return false;
  for (int64_t i = 0; i < count; ++i) {
    const mx_tensor& tensor = (kind == kResults ? call->out : call->in)[first + i * step];
    const int64_t word = kind == kSizes ? size_of(tensor) : (int64_t)(uintptr_t)tensor.data;
    memcpy(place + 8 * i, &word, 8);
  }
  return true;
}

mx_rng* streams_of(const mx_call* call, bool for_dropout) {
  return for_dropout ? &call->rng->for_dropout() : call->rng;
}

bool add_argument(Arguments* to, const mx_call* call, int32_t device, int32_t kind, int64_t index,
                  const double* value) {
  switch (kind) {
    case kAlarm:
      return to->add(alarm_of(device, index, call->nout ? call->out[0].data : nullptr));
    case kRandom:
      return to->add(random_state(streams_of(call, index != 0), device));
    case kInput:
      return to->add_address(call->in[index].data);
    case kOutput:
      return to->add_address(call->out[index].data);
    case kWorkspace:
      return to->add_address((char*)call->workspace + index);
    case kI64:
      return to->add(index);
    case kI32:
      return to->add((int32_t)index);
    case kF64:
      return to->add(value[index]);
    default:
      return add_list(to, call, kind, index, value);
  }
}

int start_all(const mx_call* call, const mx_launch_params& p, Stream stream) {
  for (int i = 0; i < p.count; ++i) {
    Arguments arguments;
    for (int j = p.first[i]; j < p.first[i] + p.arguments[i]; ++j) {
      if (!add_argument(&arguments, call, p.device, p.kind[j], p.index[j], p.value))
        return mx_fail("the arguments of a kernel take more than %d bytes", (int)kMostBytes);
    }
    const bool wide = arguments.aligned && p.wide[i];
    const int status = api().LaunchKernel(
        (void*)(wide ? p.wide[i] : p.function[i]), (unsigned)p.grid[3 * i],
        (unsigned)p.grid[3 * i + 1], (unsigned)p.grid[3 * i + 2], (unsigned)p.block[i], 1, 1,
        (unsigned)p.shared[i], stream, arguments.pointers, nullptr);
    if (!succeeded(status, "launching a kernel")) return -1;
  }
  return 0;
}

int launch(const mx_call* call) {
  const auto& p = *(const mx_launch_params*)call->params;
  const uint64_t mutated = (uint64_t)p.mutated;
  Stream stream;
  if (!p.count) return 0;
  if (!begin_call(call, p.device, mutated, p.count, &stream)) return -1;
  if (start_all(call, p, stream) != 0) return -1;
  return end_call(call, p.device, mutated) ? 0 : -1;
}

// Registered for all element types: the CUDA source has its own.
const int g_registered = mx_kernel_add("gpu_launch", launch, (1u << MX_DTYPE_COUNT) - 1, 0);

}  // namespace
}  // namespace cuda
}  // namespace mx

extern "C" int mx_gpu_attribute(int32_t device, int32_t attribute) {
  int value = 0;
  if (!mx::cuda::enter(device)) return -1;
  const int status = mx::cuda::api().DeviceGetAttribute(&value, attribute, device);
  return mx::cuda::succeeded(status, "getting a device attribute") ? value : -1;
}

extern "C" void* mx_gpu_module(int32_t device, const void* image) {
  void* module = nullptr;
  if (!mx::cuda::enter(device)) return nullptr;
  const int status = mx::cuda::api().ModuleLoadData(&module, image);
  return mx::cuda::succeeded(status, "loading kernels") ? module : nullptr;
}

extern "C" void* mx_gpu_function(int32_t device, void* module, const char* name) {
  void* function = nullptr;
  if (!mx::cuda::enter(device)) return nullptr;
  const int status = mx::cuda::api().ModuleGetFunction(&function, module, name);
  return mx::cuda::succeeded(status, "finding a kernel") ? function : nullptr;
}

extern "C" int mx_gpu_start(int32_t device, void* function, const uint32_t* grid,
                            const uint32_t* block, uint32_t shared, void** arguments) {
  mx::cuda::Stream stream;
  if (!mx::cuda::stream_of(device, &stream)) return -1;
  const int status =
      mx::cuda::api().LaunchKernel(function, grid[0], grid[1], grid[2], block[0], block[1],
                                   block[2], shared, stream, arguments, nullptr);
  return mx::cuda::succeeded(status, "launching a kernel") ? 0 : -1;
}
