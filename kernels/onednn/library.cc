// Checks that a file is a usable oneDNN, and looks up its functions.
#include "onednn/library.h"

#include <dlfcn.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <mutex>
#include <string>

#include "core/fork.h"
#include "mxcy.h"
#include "onednn/cache.h"
#include "onednn/kernels.h"

namespace mx {
namespace onednn {

std::atomic<const Library*> g_library;

namespace {

ForkSafeMutex g_lock;
std::atomic<bool> g_offered;  // paths are waiting to be opened
std::string g_offered_paths;

template <class F>
bool load(void* file, const char* name, F* function) {
  *function = (F)dlsym(file, name);
  return *function != nullptr || mx_fail("function %s is missing", name) == 0;
}

bool load_all(void* file, Api* api) {
#define MX_LOAD(name, ...) \
  if (!load(file, "dnnl_" #name, &api->name)) return false;
  MX_DNNL_FUNCTIONS(MX_LOAD)
  const Version* v = api->version();
  if (v->major != 3 || v->cpu_runtime != kOpenMp) {
    mx_fail("oneDNN %d.%d with CPU runtime %u: version 3 with the OpenMP runtime (%u) is needed",
            v->major, v->minor, v->cpu_runtime, kOpenMp);
    return false;
  }
  MX_DNNL_STATUS_FUNCTIONS(MX_LOAD)
#undef MX_LOAD
  return true;
}

// The numbers of layout tags are not stable; their names are.
bool find_tags(Library* library) {
  const char* names[2][2] = {{"aBcd8b", "aBcde8b"}, {"aBcd16b", "aBcde16b"}};
  int found = 0;
  for (int tag = 2; tag < 2000 && found < 4; ++tag) {
    const char* text = library->api.fmt_tag2str(tag);
    for (int i = 0; i < 4; ++i) {
      if (strcmp(text, names[i / 2][i % 2]) == 0) {
        library->tags[i / 2][i % 2] = tag;
        ++found;
      }
    }
  }
  return found == 4 || mx_fail("blocked channel layouts are missing") == 0;
}

const Library* take(const char* path) {
  static Library library;
  void* file = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!file) {
    mx_fail("%s", dlerror());
    return nullptr;
  }
  Api& api = library.api;
  if (!load_all(file, &api) || !find_tags(&library)) {
    const std::string reason = mx_last_error();
    mx_fail("%s: %s", path, reason.c_str());
    dlclose(file);
    return nullptr;
  }
  if (!ok(api.engine_create(&library.engine, kCpu, 0), "engine") ||
      !ok(api.stream_create(&library.stream, library.engine, kInOrder), "stream"))
    return nullptr;
  library.threads = mx_threads();
  return &library;
}

// Open the library, of which a process uses only one; g_lock is held.
const Library* open(const char* path) {
  const Library* library = g_library;
  if (library) return library;
  library = take(path);
  if (library) {
    g_library = library;
    set_capacity_of_library();
    register_conv();
    register_conv_train();
    register_int8();
    register_fc();
    register_pool();
    register_norm();
    register_softmax();
    register_product();
    register_elementwise();
    register_rnn();
  }
  return library;
}

}  // namespace

const Library* library() {
  if (g_offered.load(std::memory_order_acquire)) {
    std::lock_guard<std::mutex> guard(g_lock);
    for (size_t begin = 0; g_offered && begin < g_offered_paths.size();) {
      const size_t end = std::min(g_offered_paths.find(':', begin), g_offered_paths.size());
      if (open(g_offered_paths.substr(begin, end - begin).c_str())) break;
      begin = end + 1;
    }
    g_offered.store(false, std::memory_order_release);
  }
  return g_library.load(std::memory_order_acquire);
}

bool ok(int status, const char* what) {
  if (status == 0) return true;
  const Library* library = g_library;
  mx_fail("oneDNN %s: %s (status %d)", what, library ? library->api.status2str(status) : "failed",
          status);
  return false;
}

Team::Team(int threads) : before_(omp_get_max_threads()), threads_(threads) {
  if (before_ != threads_) omp_set_num_threads(threads_);
}

Team::~Team() {
  if (before_ != threads_) omp_set_num_threads(before_);
}

}  // namespace onednn
}  // namespace mx

extern "C" int mx_onednn_open(const char* path) {
  using namespace mx::onednn;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered = false;
  return open(path) ? 0 : -1;
}

extern "C" void mx_onednn_offer(const char* paths) {
  using namespace mx::onednn;
  std::lock_guard<std::mutex> guard(g_lock);
  g_offered_paths = paths;
  g_offered = true;
}

extern "C" const char* mx_onednn_version(void) {
  static thread_local char text[32];
  const mx::onednn::Library* library = mx::onednn::library();
  if (!library) return "";
  const mx::onednn::Version* v = library->api.version();
  snprintf(text, sizeof text, "%d.%d.%d", v->major, v->minor, v->patch);
  return text;
}
