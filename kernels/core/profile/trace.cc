// Writes the profiler's events as lines of a Chrome trace, which Perfetto opens as well.
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstring>
#include <map>
#include <mutex>

#include "core/profile/profiler.h"

namespace mx::profiler {
namespace {

constexpr size_t kFlush = 1 << 20;
constexpr int32_t kCategoryPid = 10000;  // categories are numbered after the devices

// What has been written to the file so far; writers hold the lock.
struct Trace {
  std::mutex lock;
  std::vector<int32_t> devices{0};                // cpu(0) is named in the file header
  std::map<std::string, int32_t> pids;            // of categories
  std::vector<std::pair<int32_t, int32_t>> rows;  // named (pid, thread) pairs
  int64_t next_id = 1, calls = 0;
};

Trace* g_trace = new Trace;  // never destroyed

// The events of a thread since the last write.
struct Recording {
  int32_t thread;
  std::string name;
  std::vector<Event> events;
};

std::vector<Recording> take_events() {
  std::vector<Recording> recordings;
  finish_before_reading();
  Guard guard;
  for (Buffer* buffer : buffers()) {
    Recording recording{buffer->thread, buffer->name, {}};
    advance(buffer->written, [&](const Event& event) { recording.events.push_back(event); });
    if (!recording.events.empty()) recordings.push_back(std::move(recording));
  }
  release_chunks();
  return recordings;
}

std::string escaped(const std::string& text) {
  std::string escaped;
  for (const char c : text) {
    if (c == '"' || c == '\\') escaped += '\\';
    if ((unsigned char)c >= 0x20) escaped += c;
  }
  return escaped;
}

class Writer {
 public:
  Writer(int fd, Trace* trace) : fd_(fd), trace_(trace) {}

  bool flush(bool all) {
    if (text_.size() < kFlush && !all) return ok_;
    const char* data = text_.data();
    size_t left = text_.size();
    while (left && ok_) {
      const ssize_t n = ::write(fd_, data, left);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) {
        mx_fail("cannot write the trace: %s", strerror(errno));
        ok_ = false;
      } else {
        data += n;
        left -= (size_t)n;
      }
    }
    text_.clear();
    return ok_;
  }

  void thread_events(const Recording& recording) {
    thread_ = &recording;
    std::vector<const Event*> nested;
    for (const Event& event : recording.events) {
      const Source& source = source_of(event.source);
      if (source.kind == MX_EVENT_OPERATOR || source.kind == MX_EVENT_SEGMENT ||
          source.kind == MX_EVENT_SPAN)
        nested.push_back(&event);
      if (source.kind != MX_EVENT_SEGMENT && source.kind != MX_EVENT_SPAN) one(event, source);
      if (source.kind == MX_EVENT_API) {
        calls_.push_back({event.begin, 1});
        calls_.push_back({event.end, -1});
      }
      flush(false);
    }
    nest(nested);
  }

  // Counters of API calls, summed over all threads.
  void call_counters() {
    std::sort(calls_.begin(), calls_.end());
    int64_t running = 0;
    for (const auto& [time, change] : calls_) {
      running += change;
      if (change > 0) counter("MXNET_C_API", "MXNet C API Calls", time, ++trace_->calls);
      counter("MXNET_C_API", "MXNet C API Concurrency", time, running);
      flush(false);
    }
  }

 private:
  void number(int64_t value) {
    char digits[24];
    text_.append(digits, std::to_chars(digits, digits + sizeof digits, value).ptr);
  }

  void time(int64_t value) {  // microseconds with three decimals
    text_ += ",\"ts\":";
    number(value / 1000);
    const int thousandths = (int)(value % 1000);
    const char decimals[] = {'.', (char)('0' + thousandths / 100),
                             (char)('0' + thousandths / 10 % 10), (char)('0' + thousandths % 10)};
    text_.append(decimals, 4);
  }

  void begin(char phase, const std::string& category, const std::string& name) {
    text_ += ",\n{\"ph\":\"";
    text_ += phase;
    text_ += "\",\"cat\":\"";
    text_ += escaped(category);
    text_ += "\",\"name\":\"";
    text_ += escaped(name);
    text_ += '"';
  }

  void place(int64_t when, int32_t pid, int32_t thread) {
    time(when);
    text_ += ",\"pid\":";
    number(pid);
    text_ += ",\"tid\":";
    number(thread);
  }

  void arguments(const std::string& members) {
    if (members.empty()) return;
    text_ += ",\"args\":{";
    text_ += members;
    text_ += '}';
  }

  void name_process(int32_t pid, const std::string& name) {
    text_ += ",\n{\"ph\":\"M\",\"name\":\"process_name\",\"pid\":";
    number(pid);
    text_ += ",\"args\":{\"name\":\"" + escaped(name) + "\"}}";
  }

  int32_t category_pid(const std::string& category) {
    const auto [process, added] =
        trace_->pids.emplace(category, kCategoryPid + (int32_t)trace_->pids.size());
    if (added) name_process(process->second, category);
    return process->second;
  }

  int32_t device_pid(int32_t device) {
    std::vector<int32_t>& known = trace_->devices;
    if (std::find(known.begin(), known.end(), device) == known.end()) {
      known.push_back(device);
      name_process(device, device_name(device));
    }
    return device;
  }

  // The thread's number, once the thread is named in the process.
  int32_t row(int32_t pid) {
    const std::pair<int32_t, int32_t> here(pid, thread_->thread);
    auto& known = trace_->rows;
    if (std::find(known.begin(), known.end(), here) == known.end()) {
      known.push_back(here);
      text_ += ",\n{\"ph\":\"M\",\"name\":\"thread_name\",\"pid\":";
      number(pid);
      text_ += ",\"tid\":";
      number(thread_->thread);
      text_ += ",\"args\":{\"name\":\"" + escaped(thread_->name) + "\"}}";
    }
    return thread_->thread;
  }

  void with_id(char phase, const std::string& category, const Source& source, int64_t when,
               int32_t pid, int64_t id) {
    begin(phase, category, source.name);
    place(when, pid, thread_->thread);
    text_ += ",\"id\":";
    number(id);
    if (phase == 'b') arguments(source.args);
    text_ += '}';
  }

  void pair(char first, char second, const std::string& category, const Source& source,
            const Event& event, int32_t pid) {
    const int64_t id = trace_->next_id++;
    with_id(first, category, source, event.begin, pid, id);
    with_id(second, category, source, event.end, pid, id);
  }

  void counter(const std::string& category, const std::string& name, int64_t when, int64_t value) {
    const int32_t pid = category_pid(category);
    begin('C', category, name);
    place(when, pid, 0);
    text_ += ",\"args\":{\"" + escaped(name) + "\":";
    number(value);
    text_ += "}}";
  }

  void one(const Event& event, const Source& source) {
    if (source.kind == MX_EVENT_COUNTER)
      return counter(source.category, source.name, event.begin, event.end);
    const int32_t pid = category_pid(source.category);
    row(pid);
    if (source.kind == MX_EVENT_MARKER) {
      begin('n', source.category, source.name);
      place(event.begin, pid, thread_->thread);
      text_ += ",\"id\":";
      number(trace_->next_id++);
      text_ += ",\"s\":\"" + source.args + "\"}";
      return;
    }
    pair('b', 'e', source.category, source, event, pid);
    if (source.kind == MX_EVENT_FRAME) pair('(', ')', source.category, source, event, pid);
  }

  void edge(char phase, const Event& event) {
    const Source& source = source_of(event.source);
    const bool span = source.kind == MX_EVENT_SPAN;
    const int32_t pid = span ? category_pid(source.category) : device_pid(event.device);
    const int32_t thread = row(pid);
    begin(phase, source.category, source.name);
    place(phase == 'B' ? event.begin : event.end, pid, thread);
    if (phase == 'B') arguments(source.args);
    text_ += '}';
  }

  // Write nested events as B and E records, in the order viewers require.
  void nest(std::vector<const Event*>& events) {
    // Events are recorded when they end: of two with equal times the later one is the outer one.
    std::reverse(events.begin(), events.end());
    std::stable_sort(events.begin(), events.end(), [](const Event* a, const Event* b) {
      return a->begin != b->begin ? a->begin < b->begin : a->end > b->end;
    });
    std::vector<const Event*> open;
    for (const Event* event : events) {
      while (!open.empty() && open.back()->end <= event->begin) {
        edge('E', *open.back());
        open.pop_back();
      }
      edge('B', *event);
      open.push_back(event);
      flush(false);
    }
    for (; !open.empty(); open.pop_back()) edge('E', *open.back());
  }

  int fd_;
  bool ok_ = true;
  std::string text_;
  Trace* trace_;
  const Recording* thread_ = nullptr;
  std::vector<std::pair<int64_t, int32_t>> calls_;  // (time, +1 or -1)
};

}  // namespace

std::string device_name(int32_t number) {
  const char* const types[] = {"cpu/", "gpu/", "cpu pinned/", "", "cpu shared/"};
  const int32_t type = number / 1000;
  const char* const name = type < 5 ? types[type] : "";
  return type < 2 ? name + std::to_string(number % 1000) : name;
}

void forget_trace() { g_trace = new Trace; }  // the old lock may be held forever

}  // namespace mx::profiler

using namespace mx::profiler;

extern "C" int mx_profile_write(int32_t fd, int32_t fresh) {
  const std::vector<Recording> recordings = take_events();
  if (fd < 0) return 0;
  std::lock_guard<std::mutex> guard(g_trace->lock);
  if (fresh) {
    g_trace->devices.assign(1, 0);
    g_trace->pids.clear();
    g_trace->rows.clear();
    g_trace->next_id = 1;
    g_trace->calls = 0;
  }
  Writer writer(fd, g_trace);
  for (const Recording& thread : recordings) writer.thread_events(thread);
  writer.call_counters();
  return writer.flush(true) ? 0 : -1;
}
