// Alarms of kernels and the memory they mark as failed; texts/alarms.cuh sets them.
#include "cuda/alarms.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>
#include <string>

#include "core/fork.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr unsigned kPortable = 1;
constexpr int kMost = 256;               // alarms of a device, each of which has a text
constexpr uint32_t kNone = 0, kSet = 2;  // in between a kernel writes the report

struct Report {
  std::atomic<uint32_t> state;
  uint32_t unused;
  int64_t value[3];
  Address output;
};

struct DeviceAlarms {
  Report* reports = nullptr;
  std::vector<std::string> texts;
  std::atomic<int> count{0};
  std::atomic<int> failed{0};                 // errors in the two below
  std::map<const void*, std::string> chunks;  // of memory, by their first byte
  std::deque<std::string> untold;             // errors not raised so far
};

struct All {
  ForkSafeMutex lock;
  std::deque<DeviceAlarms> devices;  // elements have stable addresses
};
typedef std::lock_guard<ForkSafeMutex> Guard;

All& all() {
  static All* one = new All;
  return *one;
}

DeviceAlarms& alarms_of(int32_t number) {
  All& self = all();
  Guard guard(self.lock);
  while ((int32_t)self.devices.size() <= number) self.devices.emplace_back();
  return self.devices[number];
}

// Replace each "{}" of a text by a number.
std::string filled(const std::string& text, const int64_t* value) {
  std::string out;
  for (size_t i = 0; i < text.size(); ++i) {
    if (text.compare(i, 2, "{}") != 0) {
      out += text[i];
    } else {
      out += std::to_string(*value++);
      ++i;
    }
  }
  return out;
}

std::atomic<int> all_failed{0};  // of all devices: all that launches check

void count_failures(DeviceAlarms* own) {
  const int failed = (int)(own->chunks.size() + own->untold.size());
  all_failed += failed - own->failed;
  own->failed = failed;
}

// Collect the reports of kernels that have run.
void collect(int32_t number, DeviceAlarms* own) {
  for (int i = 0; i < own->count; ++i) {
    Report& report = own->reports[i];
    if (__builtin_expect(report.state.load(std::memory_order_acquire) != kSet, 1)) continue;
    Guard guard(all().lock);
    const std::string text = filled(own->texts[i], report.value);
    const void* chunk = chunk_begin(number, (const void*)report.output);
    if (chunk) own->chunks[chunk] = text;
    own->untold.push_back(text);
    count_failures(own);
    report.state = kNone;
  }
}

}  // namespace

Alarm alarm_of(int32_t device, int64_t number, const void* output) {
  if (number < 0) return {0, 0};
  return {(Address)(alarms_of(device).reports + number), (Address)output};
}

bool has_failures(int32_t device) { return all_failed != 0 && alarms_of(device).failed != 0; }

bool has_failed(int32_t device, const void* memory) {
  DeviceAlarms& own = alarms_of(device);
  if (own.failed == 0) return false;
  const void* chunk = chunk_begin(device, memory);
  Guard guard(all().lock);
  const auto found = own.chunks.find(chunk);
  if (!chunk || found == own.chunks.end()) return false;
  for (auto text = own.untold.begin(); text != own.untold.end(); ++text)
    if (*text == found->second) {
      own.untold.erase(text);
      break;
    }
  count_failures(&own);
  mx_fail("%s", found->second.c_str());
  return true;
}

bool is_quiet(int32_t device, const void* memory) {
  DeviceAlarms& own = alarms_of(device);
  collect(device, &own);
  if (__builtin_expect(own.failed == 0, 1)) return true;
  if (memory && has_failed(device, memory)) return false;
  Guard guard(all().lock);
  if (own.untold.empty()) return true;
  mx_fail("%s", own.untold.front().c_str());
  own.untold.pop_front();
  count_failures(&own);
  return false;
}

void pass_failures_on(int32_t device, const std::vector<Use>& uses) {
  DeviceAlarms& own = alarms_of(device);
  std::string text;
  bool is_failed = false;
  std::vector<const void*> chunks;
  for (const Use& use : uses) chunks.push_back(chunk_begin(device, use.memory));
  Guard guard(all().lock);
  for (size_t i = 0; i < uses.size(); ++i) {
    const auto found = own.chunks.find(chunks[i]);
    if (uses[i].writes || found == own.chunks.end()) continue;
    is_failed = true;
    text = found->second;
  }
  for (size_t i = 0; i < uses.size(); ++i) {
    if (!uses[i].writes || !chunks[i]) continue;
    if (is_failed) {
      own.chunks[chunks[i]] = text;
    } else {
      own.chunks.erase(chunks[i]);
    }
  }
  count_failures(&own);
}

void forget_failure(int32_t device, const void* memory) {
  DeviceAlarms& own = alarms_of(device);
  if (own.failed == 0) return;
  Guard guard(all().lock);
  own.chunks.erase(memory);
  count_failures(&own);
}

}  // namespace cuda
}  // namespace mx

extern "C" int32_t mx_gpu_alarm(int32_t device, const char* text) {
  using namespace mx::cuda;
  if (!enter(device)) return -1;
  DeviceAlarms& own = alarms_of(device);
  Guard guard(all().lock);
  for (int i = 0; i < own.count; ++i)
    if (own.texts[i] == text) return i;
  if (own.count == kMost) return mx_fail("a device has at most %d alarms", kMost);
  void* memory = own.reports;
  if (!memory) {
    const int status = api().MemHostAlloc(&memory, kMost * sizeof(Report), kPortable);
    if (!succeeded(status, "pinning memory")) return -1;
    own.reports = (Report*)memory;
    for (int i = 0; i < kMost; ++i) own.reports[i].state = kNone;
  }
  own.texts.push_back(text);
  return own.count++;
}
