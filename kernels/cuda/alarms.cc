// Alarms of kernels; mxcy/gpu/texts/alarms.cuh sets them.
#include "cuda/alarms.h"

#include <atomic>
#include <deque>
#include <mutex>
#include <string>
#include <vector>

#include "core/fork.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr unsigned kPortable = 1;
constexpr int kMost = 256;               // alarms of a device, which have a text each
constexpr uint32_t kNone = 0, kSet = 2;  // between them: numbers are being written

struct Alarm {
  std::atomic<uint32_t> state;
  uint32_t unused;
  int64_t value[3];
};

struct Alarms {
  Alarm* memory = nullptr;
  std::vector<std::string> texts;
  std::atomic<int> count{0};
};

struct All {
  ForkSafeMutex lock;
  std::deque<Alarms> of;  // by device; elements stay where they are
};

All& all() {
  static All* one = new All;
  return *one;
}

Alarms* alarms_of(int32_t device) {
  All& self = all();
  std::lock_guard<ForkSafeMutex> guard(self.lock);
  while ((int32_t)self.of.size() <= device) self.of.emplace_back();
  return &self.of[device];
}

// A text with numbers in the places of "{}".
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

}  // namespace

Address alarm_at(int32_t device, int64_t number) {
  return (Address)(alarms_of(device)->memory + number);
}

bool is_quiet(int32_t device) {
  Alarms& own = *alarms_of(device);
  for (int i = 0; i < own.count; ++i) {
    Alarm& alarm = own.memory[i];
    if (__builtin_expect(alarm.state.load(std::memory_order_acquire) != kSet, 1)) continue;
    std::lock_guard<ForkSafeMutex> guard(all().lock);
    mx_fail("%s", filled(own.texts[i], alarm.value).c_str());
    alarm.state = kNone;
    return false;
  }
  return true;
}

}  // namespace cuda
}  // namespace mx

extern "C" int32_t mx_gpu_alarm(int32_t device, const char* text) {
  using namespace mx::cuda;
  if (!enter(device)) return -1;
  Alarms& own = *alarms_of(device);
  std::lock_guard<mx::ForkSafeMutex> guard(all().lock);
  for (int i = 0; i < own.count; ++i)
    if (own.texts[i] == text) return i;
  if (own.count == kMost) return mx_fail("there are too many alarms");
  void* memory = own.memory;
  if (!memory) {
    const int status = api().MemHostAlloc(&memory, kMost * sizeof(Alarm), kPortable);
    if (!succeeded(status, "pinning memory")) return -1;
    own.memory = (Alarm*)memory;
    for (int i = 0; i < kMost; ++i) own.memory[i].state = kNone;
  }
  own.texts.push_back(text);
  return own.count++;
}
