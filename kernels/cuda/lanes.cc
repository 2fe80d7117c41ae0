// Lanes of the trace for streams; see lanes.h.
#include "cuda/lanes.h"

#include <algorithm>
#include <deque>
#include <map>
#include <memory>
#include <mutex>
#include <utility>
#include <vector>

#include "core/fork.h"
#include "core/profile/profiler.h"
#include "cuda/order.h"

namespace mx {
namespace cuda {
namespace {

constexpr size_t kMostWaiting = 4096;  // pending spans, after which the older half is resolved
constexpr int64_t kLongBase = 4'000'000'000;  // times since an event are float32 milliseconds
constexpr char kKernels[] = "gpu kernel";

// An event with a known time on the host's clock.
struct Base {
  Event event = nullptr;
  int64_t time = 0;
};

struct Waiting {
  int32_t device, source;
  profiler::Buffer* lane;
  std::shared_ptr<Base> base;
  Event begin, end;
};

struct Lanes {
  ForkSafeMutex lock;
  std::deque<Waiting> waiting;
  std::vector<std::pair<int32_t, Event>> spare;  // by device
  std::map<int32_t, std::shared_ptr<Base>> bases;
  std::map<std::pair<int32_t, Stream>, profiler::Buffer*> streams;
  std::map<profiler::Buffer*, int64_t> ends;  // last reported end
  int32_t named = 0;                          // number of named lanes
};

Lanes& lanes() {
  static Lanes* one = new Lanes;
  return *one;
}

typedef std::lock_guard<ForkSafeMutex> Guard;

Event take_event(Lanes* self, int32_t device) {
  for (auto at = self->spare.begin(); at != self->spare.end(); ++at)
    if (at->first == device) {
      const Event event = at->second;
      self->spare.erase(at);
      return event;
    }
  Event event = nullptr;
  return api().EventCreate(&event, 0) == 0 ? event : nullptr;
}

// The reference event of a device, renewed before float32 times lose precision.
std::shared_ptr<Base> base_of(Lanes* self, int32_t device) {
  std::shared_ptr<Base>& base = self->bases[device];
  if (base && mx_profile_now() - base->time < kLongBase) return base;
  const LentStream lent(device);  // idle, so the event completes at once
  auto fresh = std::make_shared<Base>();
  fresh->event = take_event(self, device);
  if (!lent.get() || !fresh->event || api().EventRecord(fresh->event, lent.get()) != 0 ||
      api().EventSynchronize(fresh->event) != 0)
    return nullptr;
  fresh->time = mx_profile_now();
  return base = fresh;
}

bool time_of(const Waiting& span, Event event, int64_t* time) {
  float milliseconds = 0;
  if (api().EventElapsedTime(&milliseconds, span.base->event, event) != 0) return false;
  *time = span.base->time + (int64_t)((double)milliseconds * 1e6);
  return true;
}

// Report the oldest spans to the profiler; the lock is held.
void tell(Lanes* self, size_t count) {
  for (; count > 0 && !self->waiting.empty(); --count) {
    const Waiting span = self->waiting.front();
    self->waiting.pop_front();
    profiler::Event event = {0, 0, span.source, profiler::device_number(2, span.device)};
    // A failed device has no times.
    if (enter(span.device) && api().EventSynchronize(span.end) == 0 &&
        time_of(span, span.begin, &event.begin) && time_of(span, span.end, &event.end)) {
      int64_t& last = self->ends[span.lane];  // times from two bases may overlap a little
      event.begin = std::max(event.begin, last);
      last = event.end = std::max(event.begin, event.end);
      profiler::append_to_lane(span.lane, event);
    }
    self->spare.emplace_back(span.device, span.begin);
    self->spare.emplace_back(span.device, span.end);
  }
}

void tell_all() {
  if (!started_devices()) return;  // also in a forked child
  Lanes& self = lanes();
  Guard guard(self.lock);
  tell(&self, self.waiting.size());
}

profiler::Buffer* lane_of(Lanes* self, int32_t device, Stream stream, const char* category) {
  profiler::Buffer*& lane = self->streams[{device, stream}];
  if (!lane) {
    const bool is_first = self->streams.size() == 1;
    const std::string kind = std::string(category) == kKernels ? "stream" : category;
    lane = profiler::make_lane((kind + " " + std::to_string(++self->named)).c_str());
    if (is_first) profiler::before_reading(tell_all);
  }
  return lane;
}

}  // namespace

void Span::begin(int32_t device, Stream stream) {
  Lanes& self = lanes();
  Guard guard(self.lock);
  device_ = device, stream_ = stream, begin_ = nullptr;
  if (!base_of(&self, device)) return;
  begin_ = take_event(&self, device);
  if (begin_ && api().EventRecord(begin_, stream) != 0) begin_ = nullptr;
}

void Span::end(const char* category, const std::string& name, const std::string& args) {
  if (!begin_) return;
  const int32_t source = mx_profile_source(MX_EVENT_SEGMENT, category, name.c_str(),
                                           args.empty() ? nullptr : args.c_str());
  Lanes& self = lanes();
  Guard guard(self.lock);
  const Event end = take_event(&self, device_);
  profiler::Buffer* lane = lane_of(&self, device_, stream_, category);
  if (end && lane && api().EventRecord(end, stream_) == 0)
    self.waiting.push_back({device_, source, lane, self.bases[device_], begin_, end});
  begin_ = nullptr;
  if (self.waiting.size() > kMostWaiting) tell(&self, kMostWaiting / 2);
}

void Span::end(int32_t source) {
  if (!begin_) return;
  const profiler::Source& of = profiler::source_of(source);
  end(kKernels, of.name, of.args);
}

}  // namespace cuda
}  // namespace mx
