// Devices, contexts, errors.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "state.h"

namespace standin {

State state;
thread_local Context* current_context = nullptr;

CUresult error(CUresult status, const std::string& message) {
  state.message = message;
  if (getenv("MXCY_STANDIN_VERBOSE")) fprintf(stderr, "stand-in: %s\n", message.c_str());
  return status;
}

void set_timing(const char* text) {
  state.timing = !strncmp(text, "random", 6) ? Timing::kRandom
                 : !strcmp(text, "eager")    ? Timing::kEager
                                             : Timing::kLazy;
  if (const char* seed = strchr(text, ':')) state.random = strtoull(seed + 1, nullptr, 10) * 2 + 1;
}

uint64_t random_below(uint64_t limit) {
  state.random = state.random * 6364136223846793005u + 1442695040888963407u;
  return (state.random >> 33) % limit;
}

namespace {
// Attributes of an H100 by their numbers in CUdevice_attribute.
const std::map<int, int> kAttributes = {
    {1, 1024},                                         // threads per block
    {2, 1024},                                         // block's x, y, z
    {3, 1024},       {4, 64},         {5, INT32_MAX},  // grid's x, y, z
    {6, 65535},      {7, 65535},      {8, 48 << 10},   // shared memory per block
    {10, 32},                                          // warp
    {12, 65536},                                       // registers per block
    {13, 1980000},                                     // clock, kHz
    {16, 132},                                         // multiprocessors
    {31, 1},                                           // concurrent kernels
    {36, 2619000},                                     // memory clock, kHz
    {37, 5120},                                        // memory bus, bits
    {38, 50 << 20},                                    // L2 cache
    {39, 2048},                                        // threads per multiprocessor
    {75, 9},                                           // compute capability 9.0
    {76, 0},         {81, 228 << 10},                  // shared memory per multiprocessor
    {82, 65536},                                       // registers per multiprocessor
    {97, 227 << 10},                                   // shared memory per block, opted in
    {106, 32},                                         // blocks per multiprocessor
    {115, 1},                                          // memory pools
};

bool is_device(int device) { return device >= 0 && device < state.devices; }
}  // namespace
}  // namespace standin

using namespace standin;

API CUresult cuInit(unsigned) {
  Lock lock(state.mutex);
  if (state.initialized) return CUDA_SUCCESS;
  state.initialized = true;
  if (const char* text = getenv("MXCY_STANDIN_DEVICES"))
    state.devices = std::min(atoi(text), kMaxDevices);
  if (const char* text = getenv("MXCY_STANDIN_MEMORY"))
    state.memory_bytes = strtoull(text, nullptr, 10);
  if (const char* text = getenv("MXCY_STANDIN_ORDER")) set_timing(text);
  for (int i = 0; i < kMaxDevices; ++i) state.contexts[i].device = i;
  return CUDA_SUCCESS;
}
API CUresult cuDriverGetVersion(int* version) { return *version = 13000, CUDA_SUCCESS; }
API CUresult cuGetErrorString(CUresult status, const char** text) {
  static thread_local std::string buffer;
  buffer = "CUDA error " + std::to_string(status) + ": " + state.message;
  return *text = buffer.c_str(), CUDA_SUCCESS;
}

API CUresult cuDeviceGetCount(int* count) {
  return *count = state.devices, state.initialized ? CUDA_SUCCESS : CUDA_ERROR_NOT_INITIALIZED;
}
API CUresult cuDeviceGet(int* device, int ordinal) {
  return *device = ordinal, is_device(ordinal) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
API CUresult cuDeviceGetName(char* name, int size, int device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return snprintf(name, (size_t)size, "stand-in for a GPU"), CUDA_SUCCESS;
}
API CUresult cuDeviceTotalMem_v2(size_t* bytes, int device) {
  return *bytes = state.memory_bytes, is_device(device) ? CUDA_SUCCESS : CUDA_ERROR_INVALID_DEVICE;
}
API CUresult cuDeviceGetAttribute(int* value, int attribute, int device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  const auto entry = kAttributes.find(attribute);
  return *value = entry == kAttributes.end() ? 0 : entry->second, CUDA_SUCCESS;
}
API CUresult cuDeviceCanAccessPeer(int* possible, int device, int peer) {
  return *possible = device != peer, CUDA_SUCCESS;
}

API CUresult cuDevicePrimaryCtxRetain(Context** context, int device) {
  if (!is_device(device)) return CUDA_ERROR_INVALID_DEVICE;
  return *context = &state.contexts[device], CUDA_SUCCESS;
}
API CUresult cuDevicePrimaryCtxRelease_v2(int) { return CUDA_SUCCESS; }
API CUresult cuCtxSetCurrent(Context* context) { return current_context = context, CUDA_SUCCESS; }
API CUresult cuCtxGetCurrent(Context** context) { return *context = current_context, CUDA_SUCCESS; }
API CUresult cuCtxGetDevice(int* device) {
  if (!current_context) return CUDA_ERROR_INVALID_CONTEXT;
  return *device = current_context->device, CUDA_SUCCESS;
}
API CUresult cuCtxEnablePeerAccess(Context*, unsigned) { return CUDA_SUCCESS; }
API CUresult cuCtxSynchronize() {
  Lock lock(state.mutex);
  return wait_for_device();
}

// --- for tests
// ------------------------------------------------------------------------------------
API void standin_counts(Counts* counts) { *counts = state.counts; }
API void standin_order(const char* text) { set_timing(text); }
API void standin_deaf(int deaf) { state.is_deaf = deaf != 0; }
API const char* standin_message() { return state.message.c_str(); }
API int standin_device_of(CUdeviceptr address) {
  Lock lock(state.mutex);
  return device_of(address, 0);
}
API int standin_is_pinned(CUdeviceptr address) {
  Lock lock(state.mutex);
  return is_pinned(address, 1);
}
// Reset the context after a failed kernel; pending tasks are dropped.
API void standin_repair() {
  Lock lock(state.mutex);
  state.sticky_error = CUDA_SUCCESS;
  for (Stream* stream : state.streams) stream->tasks.clear(), stream->finished = stream->pushed;
}
