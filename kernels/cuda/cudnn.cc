// "gpu_conv": convolutions by cuDNN plans, which mxcy/gpu selects and passes in serialized form.
#include "cuda/cudnn.h"

#include <dlfcn.h>

#include <chrono>
#include <cstring>
#include <map>
#include <mutex>
#include <utility>

#include "core/fork.h"
#include "cuda/call.h"
#include "mxcy_gpu.h"
#include "params/launch.gen.h"

namespace mx {
namespace cuda {
namespace {

typedef struct cudnnContext* Handle;
typedef void* Descriptor;

// cuDNN's enumerations of descriptors, attributes and attribute types.
enum { kPlan = 5, kVariantPack = 16, kDeviceProperties = 38 };
enum { kPlanWorkspace = 402, kPlanText = 405, kPlanProperties = 407, kPropertiesText = 2702 };
enum { kPackNames = 1000, kPackPointers = 1001, kPackWorkspace = 1003 };
enum { kInt64 = 3, kPointer = 6, kDescriptor = 15, kChar = 24 };

constexpr int64_t kNames[] = {1, 2, 3};  // tensor ids of both operands and the result in all plans
constexpr int kRuns = 3;                 // timed runs, of which the fastest counts

struct Library {
  ForkSafeMutex lock;
  void* library = nullptr;
  int (*create)(Handle* handle) = nullptr;
  int (*set_stream)(Handle handle, Stream stream) = nullptr;
  int (*make)(int kind, Descriptor* made) = nullptr;
  int (*destroy)(Descriptor descriptor) = nullptr;
  int (*finalize)(Descriptor descriptor) = nullptr;
  int (*set)(Descriptor descriptor, int attribute, int type, int64_t count,
             const void* values) = nullptr;
  int (*get)(Descriptor descriptor, int attribute, int type, int64_t wanted, int64_t* count,
             void* values) = nullptr;
  int (*execute)(Handle handle, Descriptor plan, Descriptor pack) = nullptr;
  const char* (*explain)(int status) = nullptr;
  std::map<std::pair<int32_t, Stream>, Handle> handles;
};

Library& cudnn() {
  static Library* one = new Library;
  return *one;
}

bool checked(int status, const char* doing) {
  return status == 0 || mx_fail("cuDNN: %s while %s", cudnn().explain(status), doing) == 0;
}

// A descriptor under construction, destroyed unless it is kept.
class Made {
 public:
  explicit Made(int kind) { good_ = checked(cudnn().make(kind, &descriptor_), "starting"); }
  Made(const Made&) = delete;
  Made& operator=(const Made&) = delete;
  ~Made() {
    if (descriptor_) cudnn().destroy(descriptor_);
  }
  void set(int attribute, int type, int64_t count, const void* values) {
    good_ =
        good_ && checked(cudnn().set(descriptor_, attribute, type, count, values), "describing");
  }
  bool finish() { return good_ && checked(cudnn().finalize(descriptor_), "building a plan"); }
  const Descriptor& get() const { return descriptor_; }
  Descriptor keep() { return std::exchange(descriptor_, nullptr); }

 private:
  Descriptor descriptor_ = nullptr;
  bool good_;
};

// The handle of a stream. Streams are reused by threads, so there are few.
Handle handle_of(int32_t device, Stream stream) {
  Library& self = cudnn();
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  Handle& handle = self.handles[{device, stream}];
  if (handle) return handle;
  Handle made = nullptr;
  if (!checked(self.create(&made), "starting") ||
      !checked(self.set_stream(made, stream), "choosing a stream"))
    return nullptr;
  return handle = made;
}

bool run(Descriptor plan, int32_t device, Stream stream, void* const* operands, void* workspace) {
  const Handle handle = handle_of(device, stream);
  if (!handle) return false;
  Made pack(kVariantPack);
  pack.set(kPackNames, kInt64, 3, kNames);
  pack.set(kPackPointers, kPointer, 3, operands);
  pack.set(kPackWorkspace, kPointer, 1, &workspace);
  return pack.finish() && checked(cudnn().execute(handle, plan, pack.get()), "convolving");
}

// out[image][channel][place] += bias[channel], by the plan's bias kernel.
bool add_bias(const mx_call* call, const mx_conv_plan_params& p, Stream stream) {
  void *out = call->out[0].data, *bias = call->in[2].data;
  int64_t count = p.count, channels = p.channels, inner = p.inner;
  void* arguments[] = {&out, &bias, &count, &channels, &inner};
  return succeeded(api().LaunchKernel((void*)p.bias, (unsigned)p.grid, 1, 1, 256, 1, 1, 0, stream,
                                      arguments, nullptr),
                   "launching a kernel");
}

int convolve(const mx_call* call) {
  const auto& p = *(const mx_conv_plan_params*)call->params;
  Stream stream;
  if (!begin_call(call, p.device, 0, p.bias ? 2 : 1, &stream)) return -1;
  void* const operands[] = {call->in[0].data, call->in[1].data, call->out[0].data};
  if (!run((Descriptor)p.plan, p.device, stream, operands, call->workspace)) return -1;
  if (p.bias && !add_bias(call, p, stream)) return -1;
  return end_call(call, p.device, 0) ? 0 : -1;
}

const int g_registered = mx_kernel_add("gpu_conv", convolve, (1u << MX_DTYPE_COUNT) - 1, 0);

// Memory for a timing run.
class Trial {
 public:
  explicit Trial(int32_t device) : device_(device) {}
  Trial(const Trial&) = delete;
  Trial& operator=(const Trial&) = delete;
  ~Trial() {
    for (Address memory : taken_)
      if (enter(device_)) api().MemFree(memory);
  }
  void* take(int64_t bytes) {
    Address memory = 0;
    if (bytes <= 0) return nullptr;
    if (!succeeded(api().MemAlloc(&memory, (size_t)bytes), "taking memory")) return nullptr;
    taken_.push_back(memory);
    return (void*)memory;
  }

 private:
  int32_t device_;
  std::vector<Address> taken_;
};

template <class F>
bool load(void* library, const char* name, F* function) {
  *function = (F)dlsym(library, name);
  return *function != nullptr || mx_fail("cuDNN has no function %s", name) == 0;
}

}  // namespace

bool ready_cudnn(int32_t device, Stream stream) {
  return !cudnn().library || handle_of(device, stream) != nullptr;
}

}  // namespace cuda
}  // namespace mx

using namespace mx::cuda;

extern "C" int mx_gpu_cudnn_open(const char* path) {
  Library& self = cudnn();
  std::lock_guard<mx::ForkSafeMutex> guard(self.lock);
  if (self.library) return 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return mx_fail("%s", dlerror());
  if (!load(library, "cudnnCreate", &self.create) ||
      !load(library, "cudnnSetStream", &self.set_stream) ||
      !load(library, "cudnnBackendCreateDescriptor", &self.make) ||
      !load(library, "cudnnBackendDestroyDescriptor", &self.destroy) ||
      !load(library, "cudnnBackendFinalize", &self.finalize) ||
      !load(library, "cudnnBackendSetAttribute", &self.set) ||
      !load(library, "cudnnBackendGetAttribute", &self.get) ||
      !load(library, "cudnnBackendExecute", &self.execute) ||
      !load(library, "cudnnGetErrorString", &self.explain)) {
    dlclose(library);
    return -1;
  }
  self.library = library;
  return 0;
}

extern "C" void* mx_gpu_conv_plan(int32_t device, const char* properties, const char* text,
                                  int64_t* workspace) {
  int64_t count = 0;
  if (!enter(device)) return nullptr;
  Made about(kDeviceProperties), plan(kPlan);
  about.set(kPropertiesText, kChar, (int64_t)strlen(properties), properties);
  if (!about.finish()) return nullptr;
  plan.set(kPlanProperties, kDescriptor, 1, &about.get());
  plan.set(kPlanText, kChar, (int64_t)strlen(text), text);
  if (!plan.finish() ||
      !checked(cudnn().get(plan.get(), kPlanWorkspace, kInt64, 1, &count, workspace), "asking"))
    return nullptr;
  about.keep();  // the plan may refer to it
  return plan.keep();
}

extern "C" void mx_gpu_conv_forget(void* plan) { cudnn().destroy(plan); }

extern "C" double mx_gpu_conv_seconds(int32_t device, void* plan, const int64_t* bytes,
                                      int64_t workspace) {
  Stream stream;
  if (!stream_of(device, &stream)) return -1;
  Trial trial(device);
  void* operands[3];
  for (int i = 0; i < 3; ++i)
    if (!(operands[i] = trial.take(bytes[i]))) return -1;
  void* scratch = trial.take(workspace);
  if (workspace > 0 && !scratch) return -1;
  double least = -1;
  for (int i = 0; i <= kRuns; ++i) {  // the first one warms up
    const auto start = std::chrono::steady_clock::now();
    if (!run(plan, device, stream, operands, scratch)) return -1;
    if (!succeeded(api().StreamSynchronize(stream), "convolving")) return -1;
    const std::chrono::duration<double> took = std::chrono::steady_clock::now() - start;
    if (i > 0 && (least < 0 || took.count() < least)) least = took.count();
  }
  return least;
}
