// The part of libcuda.so.1 that the real cuDNN needs to select and build plans for an absent GPU.
// Without cuInit, CUDA runtimes in the same process find no driver.
#include <stddef.h>

#define API extern "C" __attribute__((visibility("default"))) int
#define MADE(name) \
  API name(void** made) { return *made = (void*)64, 0; }
#define DONE(name) \
  API name() { return 0; }
#define REFUSED(name) \
  API name() { return 801; }
MADE(cuModuleLoadData)
MADE(cuModuleGetFunction)
MADE(cuLibraryLoadData) MADE(cuLibraryLoadFromFile) MADE(cuLibraryGetKernel)
    MADE(cuKernelGetFunction) MADE(cuCtxGetCurrent) MADE(cuCtxPopCurrent) MADE(cuStreamGetCtx)
        DONE(cuModuleUnload) DONE(cuLibraryUnload) DONE(cuKernelSetAttribute) DONE(cuCtxPushCurrent)
            DONE(cuLinkDestroy) DONE(cuTensorMapEncodeIm2col) DONE(cuTensorMapEncodeTiled)
                REFUSED(cuLaunchKernel) REFUSED(cuLaunchCooperativeKernel) REFUSED(cuLaunchKernelEx)
                    REFUSED(cuLinkCreate) REFUSED(cuLinkAddData) REFUSED(cuLinkComplete) API
    cuKernelGetAttribute(int* value) {
  return *value = 64, 0;
}
API cuCtxGetLimit(size_t* value) { return *value = 1024, 0; }
API cuDeviceGet(int* device) { return *device = 0, 0; }
API cuDeviceGetCount(int* count) { return *count = 1, 0; }
API cuDriverGetVersion(int* version) { return *version = 13000, 0; }
API cuOccupancyMaxPotentialClusterSize(int* size) { return *size = 8, 0; }
API cuGetErrorString(int, const char** text) { return *text = "there is no GPU", 0; }
API cuGetErrorName(int, const char** text) { return *text = "refused", 0; }
