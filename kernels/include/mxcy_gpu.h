/* mxcy_gpu.h: CUDA devices, through a driver library opened at run time.
 *
 * Devices are numbered from 0; MX_HOST is host memory. All functions may be called from any thread,
 * with or without the GIL. In a process forked after the driver was started they fail, as CUDA does
 * not survive a fork. They return -1 with an error text. */
#ifndef MXCY_GPU_H_
#define MXCY_GPU_H_

#include "mxcy.h"
#include "mxcy_storage.h"

#ifdef __cplusplus
extern "C" {
#endif

enum { MX_HOST = -1 };

/* Open a driver library (libcuda.so.1 or a compatible one). This does not start the driver, which
 * is slow. */
MX_API int mx_gpu_open(const char* path);
/* Number of devices; starts the driver. */
MX_API int32_t mx_gpu_count(void);
/* Free and total bytes of a device's memory. */
MX_API int mx_gpu_memory(int32_t device, size_t* free, size_t* total);
/* Pool sources of device memory and of pinned host memory. */
MX_API const mx_pool_source* mx_gpu_source(int32_t device);
MX_API const mx_pool_source* mx_gpu_pinned_source(void);
/* Copy device or host memory synchronously. */
MX_API int mx_gpu_copy(void* target, int32_t target_device, const void* source,
                       int32_t source_device, size_t bytes);
/* Whether devices copy directly between each other where possible, or always through the host. */
MX_API void mx_gpu_allow_peers(int32_t allowed);
/* CUDA version supported by the driver, e.g. 13000. */
MX_API int32_t mx_gpu_driver_version(void);
/* The CUstream of this thread's operations on a device, NULL on error. */
MX_API void* mx_gpu_stream(int32_t device);
/* Wait for this thread's operations on a device; raises their errors. */
MX_API int mx_gpu_wait(int32_t device);
/* Wait for all streams of all devices. */
MX_API int mx_gpu_wait_all(void);
/* Wait until the host may read device memory, or (writes) until nothing uses it any more. */
MX_API int mx_gpu_settle(int32_t device, const void* memory, int32_t writes);
/* Make this thread's stream do so, before operations not launched by mxcy; the caller must wait for
 * these before other streams use the memory. */
MX_API int mx_gpu_turn(int32_t device, const void* memory, int32_t writes);
/* Number of a device's streams. */
MX_API int64_t mx_gpu_streams(int32_t device);
/* A device attribute, by the driver's code. */
MX_API int mx_gpu_attribute(int32_t device, int32_t attribute);
/* A module loaded from machine code, and a kernel of it; NULL on error. */
MX_API void* mx_gpu_module(int32_t device, const void* image);
MX_API void* mx_gpu_function(int32_t device, void* module, const char* name);
/* Launch a kernel on this thread's stream; grid and block have three extents. */
MX_API int mx_gpu_start(int32_t device, void* function, const uint32_t* grid, const uint32_t* block,
                        uint32_t shared, void** arguments);
/* The number of the alarm with this text, which kernels set on invalid input; the numbers they pass
 * replace "{}", and the thread that waits for the device gets the error. */
MX_API int32_t mx_gpu_alarm(int32_t device, const char* text);
/* Open cuBLAS; loaded_only: only if the process has loaded it already. */
MX_API int mx_gpu_blas_open(const char* path, int32_t loaded_only);
/* Open cuDNN. */
MX_API int mx_gpu_cudnn_open(const char* path);
/* A convolution plan for "gpu_conv", from cuDNN's JSON of the device's properties and of the plan,
 * in which the operands have ids 1 and 2 and the result 3; NULL on error. workspace: set to its
 * size in bytes. */
MX_API void* mx_gpu_conv_plan(int32_t device, const char* properties, const char* text,
                              int64_t* workspace);
MX_API void mx_gpu_conv_forget(void* plan);
/* Run time of a plan on operands and a result of these sizes. */
MX_API double mx_gpu_conv_seconds(int32_t device, void* plan, const int64_t* bytes,
                                  int64_t workspace);
/* Store the indices of the bases that steps first <= i < last use; returns their number. bases may
 * be NULL. */
MX_API int32_t mx_plan_bases(const mx_plan* plan, int32_t first, int32_t last, int32_t* bases);
/* Runs of a plan's steps on a device as CUDA graphs. Captured graphs are logged to stderr with the
 * labels of their steps: all if is_verbose, else the first `messages` of the process. file: prefix
 * of the files that describe graphs, "" for none; file_flags: their contents, as in
 * cuGraphDebugDotPrint. */
typedef struct mx_gpu_graphs mx_gpu_graphs;
MX_API mx_gpu_graphs* mx_gpu_graphs_create(int32_t device, int32_t is_training, int32_t is_verbose,
                                           int64_t messages, const char* file, uint32_t file_flags,
                                           int32_t count, const char* const* labels);
MX_API void mx_gpu_graphs_destroy(mx_gpu_graphs* graphs);
/* Like mx_plan_run, through a graph if one fits or can be captured. */
MX_API int mx_gpu_graphs_run(mx_gpu_graphs* graphs, const mx_plan* plan, int32_t first,
                             int32_t last, void* const* bases, void* scratch, mx_rng* rng,
                             int32_t* failed);
/* Number of graphs captured in this process, and of repeated launches. */
MX_API void mx_gpu_graphs_counts(int64_t* captured, int64_t* replayed);
/* The text of elemwise.def's lines. */
MX_API const char* mx_gpu_lines(void);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_GPU_H_ */
