// The CUDA driver: opening, devices, errors.
#include "cuda/driver.h"

#include <dlfcn.h>
#include <unistd.h>

#include <deque>
#include <mutex>

#include "core/fork.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr int kNoDevice = 100;

struct Driver {
  ForkSafeMutex lock;
  bool opened = false;
  std::atomic<pid_t> started{0};  // the process that called cuInit
  int forks = 0;                  // number of forks before that
  std::deque<Device> devices;     // fixed once the driver has started
  Api api = {};
};

Driver& driver() {
  static Driver* one = new Driver;  // never destroyed: workers may use it during exit
  return *one;
}

template <class F>
bool load(void* library, const char* name, F* function) {
  *function = (F)dlsym(library, name);
  return *function != nullptr || mx_fail("the CUDA driver has no function %s", name) == 0;
}

bool load_all(void* library, Api* api) {
#define MX_LOAD(name, symbol, arguments) \
  if (!load(library, symbol, &api->name)) return false;
  MX_CUDA_FUNCTIONS(MX_LOAD)
#undef MX_LOAD
  return true;
}

// Start the driver and count its devices; the lock is held.
bool start(Driver* self) {
  const int status = self->api.Init(0);
  int count = 0;
  if (status != kNoDevice) {
    if (!succeeded(status, "starting the driver")) return false;
    if (!succeeded(self->api.DeviceGetCount(&count), "counting the devices")) return false;
  }
  for (int i = 0; i < count; ++i) self->devices.emplace_back();
  self->forks = forks();
  self->started = getpid();
  return true;
}

// Whether the driver has started in this process.
bool is_started() {
  Driver& self = driver();
  const pid_t process = self.started;
  if (process && self.forks == forks()) return true;
  if (process)
    return mx_fail(
               "CUDA cannot be used in this process: it was forked after the driver had started "
               "in process %d; start it by 'spawn'",
               (int)process) == 0;
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  if (!self.opened) return mx_fail("no CUDA driver was opened") == 0;
  return self.started || start(&self);
}

}  // namespace

const Api& api() { return driver().api; }

bool succeeded(int status, const char* doing) {
  if (status == 0) return true;
  const char* text = nullptr;
  driver().api.GetErrorString(status, &text);
  mx_fail("CUDA error %d (%s) while %s", status, text ? text : "unknown", doing);
  return false;
}

const Device* enter(int32_t number) {
  if (!is_started()) return nullptr;
  Driver& self = driver();
  if (number < 0 || number >= (int32_t)self.devices.size()) {
    mx_fail("there is no gpu(%d)", number);
    return nullptr;
  }
  Device& device = self.devices[number];
  Context context = device.context;
  if (!context) {
    std::lock_guard<ForkSafeMutex> guard(self.lock);
    int handle = 0;
    if (!device.context) {
      if (!succeeded(self.api.DeviceGet(&handle, number), "getting the device") ||
          !succeeded(self.api.PrimaryCtxRetain(&context, handle), "starting the device"))
        return nullptr;
      device.context = context;
    }
    context = device.context;
  }
  return succeeded(self.api.CtxSetCurrent(context), "selecting the device") ? &device : nullptr;
}

int32_t started_devices() {
  Driver& self = driver();
  return self.started && self.forks == forks() ? (int32_t)self.devices.size() : 0;
}

}  // namespace cuda
}  // namespace mx

extern "C" int mx_gpu_open(const char* path) {
  mx::cuda::Driver& self = mx::cuda::driver();
  std::lock_guard<mx::ForkSafeMutex> guard(self.lock);
  if (self.opened) return 0;
  void* library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return mx_fail("%s", dlerror());
  mx::cuda::Api api;
  if (!mx::cuda::load_all(library, &api)) {
    dlclose(library);
    return -1;
  }
  self.api = api;
  self.opened = true;
  return 0;
}

extern "C" int32_t mx_gpu_count(void) {
  return mx::cuda::is_started() ? (int32_t)mx::cuda::driver().devices.size() : -1;
}

extern "C" int32_t mx_gpu_driver_version(void) {
  int version = 0;
  const int status = mx::cuda::api().DriverGetVersion(&version);
  return mx::cuda::succeeded(status, "getting the driver's version") ? version : -1;
}
