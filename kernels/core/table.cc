// The kernel table: name -> kernels, each for a set of dtypes.
#include <cstring>
#include <deque>
#include <mutex>
#include <string>
#include <unordered_map>
#include <vector>

#include "core/fork.h"
#include "mxcy.h"
#include "onednn/library.h"

namespace {

struct Entry {
  std::string name;
  mx_kernel fn;
  uint32_t dtypes, flags;
};

// Function-local statics: modules may register while the library is still being loaded.
std::deque<Entry>& entries() {
  static auto* list = new std::deque<Entry>;
  return *list;
}
std::unordered_map<std::string, std::vector<int>>& index() {
  static auto* map = new std::unordered_map<std::string, std::vector<int>>;
  return *map;
}
std::unordered_map<std::string, mx_kernel_extra>& extras() {
  static auto* map = new std::unordered_map<std::string, mx_kernel_extra>;
  return *map;
}
mx::ForkSafeMutex g_lock;

// Whether another lookup may succeed: oneDNN names open the offered library.
bool opens_library(const char* name) { return strstr(name, "onednn") && mx::onednn::library(); }

const Entry* find(const char* name, int32_t dtype) {
  std::lock_guard<std::mutex> guard(g_lock);
  auto entry = index().find(name);
  if (entry == index().end()) return nullptr;
  for (int i : entry->second) {
    if (entries()[i].dtypes >> dtype & 1u) return &entries()[i];
  }
  return nullptr;
}

const mx_kernel_extra* find_extra(const char* name) {
  std::lock_guard<std::mutex> guard(g_lock);
  auto entry = extras().find(name);  // references stay valid: entries are never removed
  return entry == extras().end() ? nullptr : &entry->second;
}

}  // namespace

extern "C" int mx_kernel_add(const char* name, mx_kernel fn, uint32_t dtypes, uint32_t flags) {
  if (!name || !fn || !dtypes)
    return mx_fail("mx_kernel_add: name, function and dtypes are needed");
  std::lock_guard<std::mutex> guard(g_lock);
  for (int i : index()[name]) {
    if (entries()[i].dtypes & dtypes)
      return mx_fail("mx_kernel_add: kernel %s is already registered for these dtypes", name);
  }
  index()[name].push_back((int)entries().size());
  entries().push_back({name, fn, dtypes, flags});
  return 0;
}

extern "C" mx_kernel mx_kernel_find(const char* name, int32_t dtype, uint32_t* flags) {
  const Entry* entry = find(name, dtype);
  if (!entry && opens_library(name)) entry = find(name, dtype);
  if (entry && flags) *flags = entry->flags;
  return entry ? entry->fn : nullptr;
}

extern "C" int mx_kernel_extend(const char* name, const mx_kernel_extra* extra) {
  std::lock_guard<std::mutex> guard(g_lock);
  if (!index().count(name)) return mx_fail("mx_kernel_extend: unknown kernel %s", name);
  extras()[name] = *extra;
  return 0;
}

extern "C" const mx_kernel_extra* mx_kernel_extra_of(const char* name) {
  const mx_kernel_extra* extra = find_extra(name);
  return !extra && opens_library(name) ? find_extra(name) : extra;
}

extern "C" int64_t mx_kernel_query(const char* name, const mx_call* call, int32_t what) {
  const mx_kernel_extra* extra = mx_kernel_extra_of(name);
  if (extra && extra->query) return extra->query(call, what);
  if (what == MX_QUERY_ACCEPTS) return 1;
  if (what == MX_QUERY_WORKSPACE) return 0;
  return mx_fail("kernel %s has no packed weights", name);
}
