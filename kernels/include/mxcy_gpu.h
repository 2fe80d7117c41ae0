/* mxcy_gpu.h: CUDA devices, by way of a driver library that is opened at run time.
 *
 * Devices are numbers from 0; MX_HOST is the memory of this machine. All functions may be called
 * from any thread, with or without the Python lock; in a process that was forked after the driver
 * had started they fail, for CUDA does not live through a fork. They return -1 with an error text.
 */
#ifndef MXCY_GPU_H_
#define MXCY_GPU_H_

#include "mxcy.h"
#include "mxcy_storage.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MX_HOST = -1 };

/* Open a driver library (libcuda.so.1, or another one that has its functions). It does not start
 * the driver, which takes long. */
MX_API int mx_gpu_open(const char* path);
/* The number of devices; starts the driver. */
MX_API int32_t mx_gpu_count(void);
/* Bytes of a device's memory. */
MX_API int mx_gpu_memory(int32_t device, size_t* free, size_t* total);
/* Where pools take the memory of a device from, and memory of the host that devices can reach. */
MX_API const mx_pool_source* mx_gpu_source(int32_t device);
MX_API const mx_pool_source* mx_gpu_pinned_source(void);
/* Copy memory of a device or of the host; it is done when this returns. */
MX_API int mx_gpu_copy(void* target, int32_t target_device, const void* source,
                       int32_t source_device, size_t bytes);
/* Whether devices copy from each other directly, where they can, or through the host. */
MX_API void mx_gpu_allow_peers(int32_t allowed);
/* The version of CUDA that the driver knows, such as 13000. */
MX_API int32_t mx_gpu_driver_version(void);
/* The CUstream on which this thread's operations on a device run, NULL where there is an error. */
MX_API void* mx_gpu_stream(int32_t device);
/* Wait until they have run; their errors are told here. */
MX_API int mx_gpu_wait(int32_t device);
/* Wait for all streams of all devices. */
MX_API int mx_gpu_wait_all(void);
/* Wait until the host may read memory of a device, or (writes) until nothing uses it any more. */
MX_API int mx_gpu_settle(int32_t device, const void* memory, int32_t writes);
/* Have this thread's stream do so, before operations that mxcy does not launch itself; somebody has
 * to wait for these before other streams use the memory. */
MX_API int mx_gpu_turn(int32_t device, const void* memory, int32_t writes);
/* How many streams a device has. */
MX_API int64_t mx_gpu_streams(int32_t device);
/* What a device is, by the driver's number of the attribute. */
MX_API int mx_gpu_attribute(int32_t device, int32_t attribute);
/* A module out of its machine code, and a kernel of it; NULL where there is an error. */
MX_API void* mx_gpu_module(int32_t device, const void* image);
MX_API void* mx_gpu_function(int32_t device, void* module, const char* name);
/* Launch a kernel on this thread's stream; grid and block have three extents. */
MX_API int mx_gpu_start(int32_t device, void* function, const uint32_t* grid, const uint32_t* block,
                        uint32_t shared, void** arguments);
/* The number of the alarm with a text, which kernels set when they are given what they cannot take;
 * its numbers fill the places of "{}", and who waits for the device gets the error. */
MX_API int32_t mx_gpu_alarm(int32_t device, const char* text);
/* Open cuBLAS; loaded_only: if somebody else has. */
MX_API int mx_gpu_blas_open(const char* path, int32_t loaded_only);
/* Open cuDNN. */
MX_API int mx_gpu_cudnn_open(const char* path);
/* A plan of a convolution for "gpu_conv": out of cuDNN's texts of the device's properties and of
 * the plan, whose operands are called 1 and 2 and whose result 3; NULL where there is an error.
 * workspace: how many bytes it needs. */
MX_API void* mx_gpu_conv_plan(int32_t device, const char* properties, const char* text,
                              int64_t* workspace);
MX_API void mx_gpu_conv_forget(void* plan);
/* How long it takes on operands and a result of that many bytes. */
MX_API double mx_gpu_conv_seconds(int32_t device, void* plan, const int64_t* bytes,
                                  int64_t workspace);
/* The numbers of the bases that steps first <= i < last use; returns how many. bases may be NULL.
 */
MX_API int32_t mx_plan_bases(const mx_plan* plan, int32_t first, int32_t last, int32_t* bases);
/* Runs of a plan's steps on a device as CUDA graphs. Graphs are told of on the standard error
 * stream, with the labels of their steps: all if is_verbose, else the first `messages` of the
 * process. file: what the names of files begin with that describe graphs, "" for none, and what
 * they tell (file_flags, as cuGraphDebugDotPrint takes it). */
typedef struct mx_gpu_graphs mx_gpu_graphs;
MX_API mx_gpu_graphs* mx_gpu_graphs_create(int32_t device, int32_t is_training, int32_t is_verbose,
                                           int64_t messages, const char* file, uint32_t file_flags,
                                           int32_t count, const char* const* labels);
MX_API void mx_gpu_graphs_destroy(mx_gpu_graphs* graphs);
/* As mx_plan_run, by a graph where one fits or can be captured. */
MX_API int mx_gpu_graphs_run(mx_gpu_graphs* graphs, const mx_plan* plan, int32_t first,
                             int32_t last, void* const* bases, void* scratch, mx_rng* rng,
                             int32_t* failed);
/* How many graphs this process has captured, and how often one was launched again. */
MX_API void mx_gpu_graphs_counts(int64_t* captured, int64_t* replayed);
/* The lines of elemwise.def. */
MX_API const char* mx_gpu_lines(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_GPU_H_ */
