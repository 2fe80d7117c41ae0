// The profiler: sources, per-thread events, statistics.
#include "core/profile/profiler.h"

#include <pthread.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <deque>
#include <mutex>
#include <new>
#include <unordered_map>

#include "core/fork.h"

extern "C" {
MX_API int32_t mx_profile_bits = 0;
}

namespace mx::profiler {
namespace {

constexpr int32_t kMaxSources = 1 << 17;  // further sources lose their arguments, then their names

int64_t read_clock(clockid_t clock) {
  timespec t;
  clock_gettime(clock, &t);
  return (int64_t)t.tv_sec * 1000000000 + t.tv_nsec;
}

// Never destroyed: threads may record while the process ends.
struct State {
  ForkSafeMutex lock;  // guards everything but the sources
  std::vector<Buffer*> buffers;
  int32_t threads = 0;  // numbers assigned so far
  int64_t epoch = 0;    // 0 before the first use

  ForkSafeMutex sources_lock;
  std::deque<Source> sources;
  std::unordered_map<std::string, int32_t> numbers;
};

State& state() {
  static State* instance = new State;
  return *instance;
}

std::atomic<int64_t> g_chunks{0}, g_max_chunks{4096}, g_dropped{0};

Chunk* new_chunk() {
  if (g_chunks.fetch_add(1, std::memory_order_relaxed) < g_max_chunks.load())
    if (Chunk* fresh = new (std::nothrow) Chunk) return fresh;
  g_chunks.fetch_sub(1, std::memory_order_relaxed);
  return nullptr;
}

void free_chunk(Chunk* chunk) {
  delete chunk;
  g_chunks.fetch_sub(1, std::memory_order_relaxed);
}

// A thread's buffer, which outlives the thread until its events are read.
struct Own {
  Buffer* buffer = nullptr;
  bool gone = false;
  ~Own() {
    if (buffer) buffer->done.store(true, std::memory_order_release);
    buffer = nullptr;
    gone = true;
  }
};
thread_local Own t_own;
thread_local int32_t t_device = 0;
thread_local int32_t t_whole = 0;  // the source that following operators belong to

thread_local int32_t t_running = 0;  // the source of the running kernel
std::atomic<void (*)()> g_report{nullptr};

Buffer* new_buffer() {
  Chunk* chunk = new_chunk();
  Buffer* buffer = chunk ? new (std::nothrow) Buffer : nullptr;
  if (!buffer) {
    if (chunk) free_chunk(chunk);
    return nullptr;
  }
  buffer->head = buffer->tail = chunk;
  buffer->counted = buffer->written = {chunk, 0};
  return buffer;
}

void show(Buffer* buffer) {
  Guard guard;
  buffer->thread = ++state().threads;
  state().buffers.push_back(buffer);
}

Buffer* enlist() {
  Buffer* buffer = t_own.gone ? nullptr : new_buffer();
  if (!buffer) return nullptr;
  if (getpid() == (pid_t)syscall(SYS_gettid))
    strcpy(buffer->name, "main");
  else if (pthread_getname_np(pthread_self(), buffer->name, sizeof buffer->name) != 0)
    strcpy(buffer->name, "thread");
  show(buffer);
  return t_own.buffer = buffer;
}

void append_to(Buffer* own, const Event& event) {
  if (!own) {
    g_dropped.fetch_add(1, std::memory_order_relaxed);
    return;
  }
  Chunk* chunk = own->tail;
  uint32_t count = chunk->count.load(std::memory_order_relaxed);
  if (count == Chunk::kEvents) {
    Chunk* next = new_chunk();
    if (!next) {
      g_dropped.fetch_add(1, std::memory_order_relaxed);
      return;
    }
    chunk->next.store(next, std::memory_order_release);
    own->tail = chunk = next;
    count = 0;
  }
  chunk->events[count] = event;
  chunk->count.store(count + 1, std::memory_order_release);
}

void append(const Event& event) { append_to(t_own.buffer ? t_own.buffer : enlist(), event); }

void count_event(const Event& event) {
  Source& source = const_cast<Source&>(source_of(event.source));
  const int64_t value = source.kind == MX_EVENT_COUNTER ? event.end : event.end - event.begin;
  if (source.count == 0 || value < source.least) source.least = value;
  if (source.count == 0 || value > source.most) source.most = value;
  source.total += value;
  source.last = value;
  ++source.count;
}

// --- forks: the child starts afresh, without the threads of its parent

void in_child() {
  __atomic_store_n(&mx_profile_bits, 0, __ATOMIC_RELAXED);
  for (Buffer* buffer : state().buffers) {
    for (Chunk* chunk = buffer->head; chunk;) {
      Chunk* next = chunk->next;
      free_chunk(chunk);
      chunk = next;
    }
    delete buffer;
  }
  state().buffers.clear();
  t_own.buffer = nullptr;
  for (Source& source : state().sources) source.count = source.total = 0;
  g_dropped = 0;
  forget_memory();
  forget_trace();
}

}  // namespace

void lock() { state().lock.lock(); }
void unlock() { state().lock.unlock(); }
std::vector<Buffer*>& buffers() { return state().buffers; }

Buffer* make_lane(const char* name) {
  Buffer* buffer = new_buffer();
  if (!buffer) return nullptr;
  snprintf(buffer->name, sizeof buffer->name, "%s", name);
  show(buffer);
  return buffer;
}

void append_to_lane(Buffer* lane, const Event& event) { append_to(lane, event); }
void before_reading(void (*report)()) { g_report = report; }

void finish_before_reading() {
  if (void (*report)() = g_report.load()) report();
}

const Source& source_of(int32_t number) {
  std::lock_guard<std::mutex> guard(state().sources_lock);
  return state().sources[number - 1];
}

void release_chunks() {
  std::vector<Buffer*>& all = state().buffers;
  for (size_t i = 0; i < all.size();) {
    Buffer* buffer = all[i];
    const bool done = buffer->done.load(std::memory_order_acquire);
    while (buffer->head != buffer->counted.chunk && buffer->head != buffer->written.chunk) {
      Chunk* next = buffer->head->next;
      free_chunk(buffer->head);
      buffer->head = next;
    }
    const uint32_t last = buffer->head->count.load(std::memory_order_acquire);
    if (done && !buffer->head->next && buffer->counted.at == last && buffer->written.at == last) {
      free_chunk(buffer->head);
      delete buffer;
      all[i] = all.back();
      all.pop_back();
    } else {
      ++i;
    }
  }
}

}  // namespace mx::profiler

using namespace mx::profiler;

extern "C" int64_t mx_profile_now(void) { return read_clock(CLOCK_MONOTONIC); }

extern "C" int64_t mx_profile_epoch(void) { return state().epoch; }

extern "C" void mx_profile_limit(int64_t events) { g_max_chunks = events / Chunk::kEvents + 1; }

extern "C" int64_t mx_profile_waiting(void) { return g_chunks.load() * Chunk::kEvents; }

extern "C" int64_t mx_profile_dropped(void) { return g_dropped.load(); }

extern "C" void mx_profile_set(int32_t bits) {
  {
    Guard guard;
    if (!state().epoch) {
      state().epoch = read_clock(CLOCK_REALTIME) - read_clock(CLOCK_MONOTONIC);
      pthread_atfork(nullptr, nullptr, in_child);
    }
  }
  if (bits & MX_PROFILE_MEMORY && !mx_profiled(MX_PROFILE_MEMORY)) begin_memory();
  __atomic_store_n(&mx_profile_bits, bits, __ATOMIC_RELAXED);
}

extern "C" int32_t mx_profile_source(int32_t kind, const char* category, const char* name,
                                     const char* args) {
  State& s = state();
  std::string key;
  std::lock_guard<std::mutex> guard(s.sources_lock);
  if ((int32_t)s.sources.size() >= kMaxSources && kind != MX_EVENT_MARKER) args = nullptr;
  if ((int32_t)s.sources.size() >= 2 * kMaxSources) category = name = "(too many names)";
  key.append(1, (char)('a' + kind)).append(category).append(1, '\0').append(name);
  key.append(1, '\0').append(args ? args : "");
  const auto [number, added] = s.numbers.emplace(key, (int32_t)s.sources.size() + 1);
  if (added) s.sources.push_back({kind, category, name, args ? args : ""});
  return number->second;
}

extern "C" int32_t mx_profile_segment(const int32_t* sources, int32_t n) {
  constexpr int32_t kShown = 16;
  std::string name = "[", args = "\"operators\":" + std::to_string(n);
  for (int32_t i = 0; i < n && i < kShown; ++i) {
    if (i) name += ',';
    name += sources[i] ? source_of(sources[i]).name : "?";
  }
  if (n > kShown) name += ",...";
  name += ']';
  return mx_profile_source(MX_EVENT_SEGMENT, "segment", name.c_str(), args.c_str());
}

extern "C" void mx_profile_device(int32_t type, int32_t id) {
  t_device = type > 0 ? device_number(type, id) : 0;
}

extern "C" int32_t mx_profile_inside(int32_t source) {
  const int32_t before = t_whole;
  t_whole = source;
  return before;
}

extern "C" int32_t mx_profile_part(int32_t source) {
  if (t_whole == 0 || source <= 0) return source;
  const Source &part = source_of(source), &whole = source_of(t_whole);
  if (part.kind > MX_EVENT_SEGMENT || part.category == whole.category) return source;
  const std::string name = whole.name.substr(0, whole.name.find("::") + 2) + part.name;
  return mx_profile_source(part.kind, whole.category.c_str(), name.c_str(), part.args.c_str());
}

extern "C" void mx_profile_add(int32_t source, int64_t begin, int64_t end) {
  if (source > 0) append({begin, end, mx_profile_part(source), t_device});
}

extern "C" int mx_profile_kernel(mx_kernel kernel, const mx_call* call, int32_t source) {
  const int64_t begin = mx_profile_now();
  t_running = mx_profile_part(source);
  const int status = kernel(call);
  t_running = 0;
  mx_profile_add(source, begin, mx_profile_now());
  return status;
}

extern "C" int32_t mx_profile_running(void) { return t_running; }

extern "C" void mx_profile_count(int32_t wanted) {
  finish_before_reading();
  Guard guard;
  for (Buffer* buffer : buffers())
    advance(buffer->counted, [&](const Event& event) {
      if (wanted) count_event(event);
    });
  release_chunks();
}

extern "C" int32_t mx_profile_stats(int32_t index, mx_profile_row* row) {
  Guard guard;
  State& s = state();
  std::lock_guard<std::mutex> names(s.sources_lock);
  if (index < 0 || index >= (int32_t)s.sources.size()) return 0;
  const Source& x = s.sources[index];
  *row = {x.category.c_str(), x.name.c_str(), x.count, x.total, x.least, x.most, x.last, x.kind};
  return 1;
}

extern "C" void mx_profile_reset(void) {
  Guard guard;
  std::lock_guard<std::mutex> names(state().sources_lock);
  for (Source& source : state().sources) source.count = source.total = 0;
}
