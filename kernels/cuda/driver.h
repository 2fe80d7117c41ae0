// The CUDA driver: functions, devices, and this thread's stream on each of them.
#pragma once
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace mx {
namespace cuda {

typedef struct CUctx_st* Context;
typedef struct CUstream_st* Stream;
typedef struct CUevent_st* Event;
typedef struct CUgraph_st* CuGraph;
typedef struct CUgraphExec_st* GraphExec;
typedef uint64_t Address;  // in device memory, as in the driver's API

// All driver functions in use, without "cu" and version suffixes ("_v2").
#define MX_CUDA_FUNCTIONS(F)                                                                       \
  F(Init, "cuInit", (unsigned flags))                                                              \
  F(DeviceGetCount, "cuDeviceGetCount", (int* count))                                              \
  F(DeviceGet, "cuDeviceGet", (int* device, int number))                                           \
  F(PrimaryCtxRetain, "cuDevicePrimaryCtxRetain", (Context * context, int device))                 \
  F(CtxSetCurrent, "cuCtxSetCurrent", (Context context))                                           \
  F(CtxGetCurrent, "cuCtxGetCurrent", (Context * context))                                         \
  F(MemGetInfo, "cuMemGetInfo_v2", (size_t* free, size_t* total))                                  \
  F(MemAlloc, "cuMemAlloc_v2", (Address * memory, size_t bytes))                                   \
  F(MemFree, "cuMemFree_v2", (Address memory))                                                     \
  F(MemHostAlloc, "cuMemHostAlloc", (void** memory, size_t bytes, unsigned flags))                 \
  F(MemFreeHost, "cuMemFreeHost", (void* memory))                                                  \
  F(CopyToDevice, "cuMemcpyHtoDAsync_v2",                                                          \
    (Address to, const void* from, size_t bytes, Stream stream))                                   \
  F(CopyToHost, "cuMemcpyDtoHAsync_v2", (void* to, Address from, size_t bytes, Stream stream))     \
  F(CopyWithin, "cuMemcpyDtoDAsync_v2", (Address to, Address from, size_t bytes, Stream stream))   \
  F(CopyBetween, "cuMemcpyPeerAsync",                                                              \
    (Address to, Context there, Address from, Context here, size_t bytes, Stream stream))          \
  F(CanAccessPeer, "cuDeviceCanAccessPeer", (int* possible, int device, int peer))                 \
  F(EnablePeerAccess, "cuCtxEnablePeerAccess", (Context peer, unsigned flags))                     \
  F(DriverGetVersion, "cuDriverGetVersion", (int* version))                                        \
  F(StreamCreate, "cuStreamCreateWithPriority", (Stream * stream, unsigned flags, int priority))   \
  F(CtxGetStreamPriorityRange, "cuCtxGetStreamPriorityRange", (int* least, int* greatest))         \
  F(StreamSynchronize, "cuStreamSynchronize", (Stream stream))                                     \
  F(StreamWaitEvent, "cuStreamWaitEvent", (Stream stream, Event event, unsigned flags))            \
  F(EventCreate, "cuEventCreate", (Event * event, unsigned flags))                                 \
  F(EventRecord, "cuEventRecord", (Event event, Stream stream))                                    \
  F(EventElapsedTime, "cuEventElapsedTime", (float* milliseconds, Event begin, Event end))         \
  F(EventSynchronize, "cuEventSynchronize", (Event event))                                         \
  F(DeviceGetAttribute, "cuDeviceGetAttribute", (int* value, int attribute, int device))           \
  F(ModuleLoadData, "cuModuleLoadData", (void** module, const void* image))                        \
  F(ModuleGetFunction, "cuModuleGetFunction", (void** function, void* module, const char* name))   \
  F(LaunchKernel, "cuLaunchKernel",                                                                \
    (void* function, unsigned grid_x, unsigned grid_y, unsigned grid_z, unsigned block_x,          \
     unsigned block_y, unsigned block_z, unsigned shared_bytes, Stream stream, void** arguments,   \
     void** extra))                                                                                \
  F(StreamBeginCapture, "cuStreamBeginCapture_v2", (Stream stream, int mode))                      \
  F(StreamEndCapture, "cuStreamEndCapture", (Stream stream, CuGraph * graph))                      \
  F(GraphInstantiate, "cuGraphInstantiateWithFlags",                                               \
    (GraphExec * exec, CuGraph graph, unsigned long long flags))                                   \
  F(GraphLaunch, "cuGraphLaunch", (GraphExec exec, Stream stream))                                 \
  F(GraphDebugDotPrint, "cuGraphDebugDotPrint", (CuGraph graph, const char* path, unsigned flags)) \
  F(GraphDestroy, "cuGraphDestroy", (CuGraph graph))                                               \
  F(GraphExecDestroy, "cuGraphExecDestroy", (GraphExec exec))                                      \
  F(GetErrorString, "cuGetErrorString", (int status, const char** text))

struct Api {
#define MX_DECLARE(name, symbol, arguments) int(*name) arguments;
  MX_CUDA_FUNCTIONS(MX_DECLARE)
#undef MX_DECLARE
};

struct Device {
  std::atomic<Context> context{nullptr};
};

// The functions of the open library.
const Api& api();
// Make a device's context current; NULL with an error text.
const Device* enter(int32_t number);
// The number of devices if the driver has started in this process, else 0.
int32_t started_devices();
// Get this thread's stream on a device and make its context current; false with an error text.
bool stream_of(int32_t number, Stream* stream);
// Whether a driver call succeeded; if not, sets this thread's error text.
bool succeeded(int status, const char* doing);

}  // namespace cuda
}  // namespace mx
