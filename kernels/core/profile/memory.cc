// The profiler's view of memory: live allocations, their names, and bytes per device over time.
#include <cstring>
#include <map>
#include <mutex>
#include <unordered_map>
#include <unordered_set>

#include "core/fork.h"
#include "core/profile/profiler.h"

namespace mx::profiler {
namespace {

struct Allocation {
  int64_t bytes, actual, order;
  int32_t device, scope, owner;
  bool reused;
};

struct Device {
  int64_t bytes = 0;
  int32_t source = 0;  // of its counter
};

struct Memory {
  ForkSafeMutex lock;
  std::unordered_map<const void*, Allocation> live;
  std::unordered_set<const void*> seen;
  std::map<int32_t, Device> devices;
  int64_t numbers = 0;
};

Memory& memory() {
  static Memory* instance = new Memory;  // never destroyed: pools outlive static objects
  return *instance;
}

constexpr size_t kMaxSeen = 1 << 20;

thread_local int32_t t_scope = 0, t_owner = 0;

// Update a device's counter, with the lock held.
void change(int32_t number, int64_t bytes) {
  Device& device = memory().devices[number];
  device.bytes += bytes;
  if (!mx_profiled(MX_PROFILE_RUNNING)) return;
  if (!device.source) {
    const std::string name = "Memory: " + device_name(number);
    device.source = mx_profile_source(MX_EVENT_COUNTER, "Device Storage", name.c_str(), nullptr);
  }
  mx_profile_add(device.source, mx_profile_now(), device.bytes);
}

void forget(const void* data, bool known_size) {
  const auto allocation = memory().live.find(data);
  if (allocation == memory().live.end()) return;
  if (known_size)
    change(allocation->second.device, -allocation->second.bytes);
  else
    memory().devices[allocation->second.device].bytes -= allocation->second.bytes;
  memory().live.erase(allocation);
}

}  // namespace

void forget_memory() {
  memory().live.clear();
  memory().seen.clear();
  memory().devices.clear();
}

void begin_memory() {
  std::lock_guard<std::mutex> guard(memory().lock);
  forget_memory();
}

}  // namespace mx::profiler

using namespace mx::profiler;

extern "C" void mx_profile_alloc(int32_t device_type, int32_t device_id, const void* data,
                                 int64_t bytes, int64_t actual) {
  if (!data) return;
  Memory& m = memory();
  const int32_t device = device_number(device_type, device_id);
  std::lock_guard<std::mutex> guard(m.lock);
  forget(data, false);  // its free was missed
  if (m.seen.size() >= kMaxSeen) m.seen.clear();
  const bool reused = !m.seen.insert(data).second;
  m.live[data] = {bytes, actual, ++m.numbers, device, t_scope, t_owner, reused};
  change(device, bytes);
}

extern "C" void mx_profile_free(const void* data) {
  if (!data) return;
  std::lock_guard<std::mutex> guard(memory().lock);
  forget(data, true);
}

// Scopes and owners are stored as sources because these keep texts.
extern "C" void mx_profile_scope(const char* scope) {
  t_scope = mx_profile_source(MX_EVENT_MARKER, "scope", scope, nullptr);
}

extern "C" void mx_profile_owner(int32_t source) { t_owner = source; }

extern "C" int64_t mx_profile_live(mx_allocation* rows, int64_t most) {
  Memory& m = memory();
  std::lock_guard<std::mutex> guard(m.lock);
  std::map<int64_t, const Allocation*> ordered;
  for (const auto& [data, x] : m.live) ordered[x.order] = &x;
  int64_t n = 0;
  for (const auto& [order, x] : ordered) {
    if (n++ >= most) break;
    rows[n - 1] = {x->bytes,
                   x->actual,
                   x->device / 1000 + 1,
                   x->device % 1000,
                   x->reused,
                   x->scope ? source_of(x->scope).name.c_str() : "<unk>:",
                   x->owner ? source_of(x->owner).name.c_str() : "unknown"};
  }
  return (int64_t)m.live.size();
}
