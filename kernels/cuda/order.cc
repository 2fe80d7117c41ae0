// Streams of threads, events between them, and marks of memory; see order.h.
#include "cuda/order.h"

#include <atomic>
#include <deque>
#include <map>
#include <mutex>

#include "core/engine/urgent.h"
#include "core/fork.h"
#include "cuda/alarms.h"
#include "mxcy_gpu.h"

namespace mx {
namespace cuda {
namespace {

constexpr unsigned kNonBlocking = 1;  // independent of the default stream
constexpr unsigned kNoTiming = 2;     // events without times

struct Line {  // a stream
  Stream stream = nullptr;
  bool is_urgent = false;
  Event event = nullptr;
  uint64_t given = 0, recorded = 0;  // numbers of operations: launched, and covered by the event
  std::vector<uint64_t> passed;      // by stream: the last of its operations waited for
};

struct Mark {
  int32_t line;
  uint64_t number;
};

struct Chunk {
  size_t bytes;
  std::vector<Mark> writers, readers;  // at most one per stream
};

typedef std::map<uintptr_t, Chunk> Chunks;  // by the first byte

struct Order {
  ForkSafeMutex lock;
  std::atomic<int32_t> count{0};
  std::deque<Line> lines;
  std::vector<int32_t> idle;  // of threads that have ended
  std::deque<Line> lent;      // see LentStream
  std::vector<int32_t> lent_idle;
  Chunks chunks;
};

typedef std::lock_guard<ForkSafeMutex> Guard;

Order& order_of(int32_t device) {
  static ForkSafeMutex* lock = new ForkSafeMutex;
  static std::deque<Order>* orders = new std::deque<Order>;  // elements have stable addresses
  Guard guard(*lock);
  while ((int32_t)orders->size() <= device) orders->emplace_back();
  return (*orders)[device];
}

struct Own {
  Order* order = nullptr;
  int32_t line = -1;
};
// The streams of a thread, by device, for reuse by other threads after its end.
struct ThreadLines {
  std::vector<Own> of;
  ~ThreadLines() {
    for (const Own& own : of) {
      if (own.line < 0) continue;
      Guard guard(own.order->lock);
      own.order->idle.push_back(own.line);
    }
  }
};
thread_local ThreadLines own_lines;

// Have the line's event cover an operation; recorded again only if it is older.
bool record_after(Line* line, uint64_t number) {
  if (line->recorded >= number && line->recorded) return true;
  if (!line->event && !succeeded(api().EventCreate(&line->event, kNoTiming), "making an event"))
    return false;
  line->recorded = line->given;
  return succeeded(api().EventRecord(line->event, line->stream), "marking a stream");
}

bool wait_for_event(const Line& line, const Line& other) {
  return succeeded(api().StreamWaitEvent(line.stream, other.event, 0), "ordering streams");
}

bool wait_for(Order* order, Line* line, const std::vector<Mark>& marks) {
  for (const Mark& mark : marks) {
    Line& other = order->lines[mark.line];
    if (&other == line) continue;
    if ((int32_t)line->passed.size() <= mark.line) line->passed.resize(mark.line + 1);
    if (line->passed[mark.line] >= mark.number) continue;
    if (!record_after(&other, mark.number) || !wait_for_event(*line, other)) return false;
    line->passed[mark.line] = other.recorded;
  }
  return true;
}

bool open_line(Line* line, bool is_urgent) {
  int least = 0, greatest = 0;
  if (is_urgent &&
      !succeeded(api().CtxGetStreamPriorityRange(&least, &greatest), "getting priorities"))
    return false;
  line->is_urgent = is_urgent;
  return succeeded(api().StreamCreate(&line->stream, kNonBlocking, greatest), "making a stream");
}

// Take an idle stream; -1 if there is none.
int32_t take_idle(Order* order, bool is_urgent) {
  std::vector<int32_t>& idle = order->idle;
  for (auto at = idle.end(); at != idle.begin();)
    if (order->lines[*--at].is_urgent == is_urgent) {
      const int32_t number = *at;
      idle.erase(at);
      return number;
    }
  return -1;
}

// Get a stream for this thread; the lock is held. A single stream leaves no marks, so all others
// wait for everything launched on the first before there was a second.
int32_t take_line(Order* order) {
  const bool is_urgent = is_urgent_thread();
  const int32_t idle = take_idle(order, is_urgent);
  if (idle >= 0) return idle;
  Line line;
  if (!open_line(&line, is_urgent)) return -1;
  const int32_t number = (int32_t)order->lines.size();
  order->lines.push_back(line);
  order->count = number + 1;
  if (number == 1) ++order->lines[0].given;
  return number == 0 || wait_for(order, &order->lines[number], {{0, 1}}) ? number : -1;
}

Own* own_line(int32_t device) {
  std::vector<Own>& of = own_lines.of;
  if ((int32_t)of.size() <= device) of.resize(device + 1);
  Own& own = of[device];
  if (own.line < 0) {
    own.order = &order_of(device);
    Guard guard(own.order->lock);
    own.line = take_line(own.order);
  }
  return own.line < 0 ? nullptr : &own;
}

Chunks::iterator find_chunk(Order* order, const void* memory) {
  auto next = order->chunks.upper_bound((uintptr_t)memory);
  if (next == order->chunks.begin()) return order->chunks.end();
  --next;
  const bool is_inside = (uintptr_t)memory < next->first + next->second.bytes;
  return is_inside ? next : order->chunks.end();
}

Chunk* chunk_of(Order* order, const void* memory) {
  const auto found = find_chunk(order, memory);
  return found == order->chunks.end() ? nullptr : &found->second;
}

void put_mark(std::vector<Mark>* marks, Mark mark) {
  for (Mark& old : *marks)
    if (old.line == mark.line) {
      old = mark;
      return;
    }
  marks->push_back(mark);
}

// Wait for marks on the host.
bool settle(int32_t device, Order* order, const std::vector<Mark>& marks, const void* memory) {
  for (const Mark& mark : marks) {
    Event event = nullptr;
    {
      Guard guard(order->lock);
      Line& line = order->lines[mark.line];
      if (!record_after(&line, mark.number)) return false;
      event = line.event;
    }
    if (!succeeded(api().EventSynchronize(event), "computing")) return false;
  }
  return is_quiet(device, memory);
}

bool await_stream(int32_t device, Stream stream, const void* memory = nullptr) {
  return succeeded(api().StreamSynchronize(stream), "computing") && is_quiet(device, memory);
}

}  // namespace

bool has_order(int32_t device) {
  const Own* own = own_line(device);
  return own && own->order->count > 1;
}

bool await_turn(int32_t device, const std::vector<Use>& uses) {
  const Own* own = own_line(device);
  if (!own) return false;
  Guard guard(own->order->lock);
  for (const Use& use : uses) {
    const Chunk* chunk = chunk_of(own->order, use.memory);
    if (!chunk) continue;
    Line* line = &own->order->lines[own->line];
    if (!wait_for(own->order, line, chunk->writers)) return false;
    if (use.writes && !wait_for(own->order, line, chunk->readers)) return false;
  }
  return true;
}

bool leave_marks(int32_t device, const std::vector<Use>& uses) {
  const Own* own = own_line(device);
  if (!own) return false;
  Guard guard(own->order->lock);
  const Mark mark = {own->line, ++own->order->lines[own->line].given};
  for (const Use& use : uses) {
    Chunk* chunk = chunk_of(own->order, use.memory);
    if (!chunk) continue;
    if (use.writes) {
      chunk->writers.assign(1, mark);
      chunk->readers.clear();
    }
  }
  for (const Use& use : uses) {
    Chunk* chunk = use.writes ? nullptr : chunk_of(own->order, use.memory);
    if (chunk) put_mark(&chunk->readers, mark);
  }
  return true;
}

LentStream::LentStream(int32_t device) : device_(device) {
  if (!enter(device)) return;
  Order& order = order_of(device);
  Guard guard(order.lock);
  if (order.lent_idle.empty()) {
    Line line;
    if (!open_line(&line, false)) return;
    order.lent_idle.push_back((int32_t)order.lent.size());
    order.lent.push_back(line);
  }
  line_ = order.lent_idle.back();
  order.lent_idle.pop_back();
  stream_ = order.lent[line_].stream;
}

LentStream::~LentStream() {
  if (line_ < 0) return;
  Order& order = order_of(device_);
  Guard guard(order.lock);
  order.lent_idle.push_back(line_);
}

bool LentStream::await_turn(const Use& use) {
  Order& order = order_of(device_);
  Guard guard(order.lock);
  Line& line = order.lent[line_];
  if (order.lines.empty()) return true;
  // A single stream leaves no marks: wait for everything on it.
  if (order.lines.size() == 1)
    return record_after(&order.lines[0], 0) && wait_for_event(line, order.lines[0]);
  if (!wait_for(&order, &line, {{0, 1}})) return false;
  const Chunk* chunk = chunk_of(&order, use.memory);
  if (!chunk) return true;
  return wait_for(&order, &line, chunk->writers) &&
         (!use.writes || wait_for(&order, &line, chunk->readers));
}

void note_memory(int32_t device, const void* memory, size_t bytes) {
  Order& order = order_of(device);
  Guard guard(order.lock);
  order.chunks[(uintptr_t)memory] = Chunk{bytes, {}, {}};
}

void forget_memory(int32_t device, const void* memory) {
  forget_failure(device, memory);
  Order& order = order_of(device);
  Guard guard(order.lock);
  order.chunks.erase((uintptr_t)memory);
}

const void* chunk_begin(int32_t device, const void* memory) {
  Order& order = order_of(device);
  Guard guard(order.lock);
  const auto found = find_chunk(&order, memory);
  return found == order.chunks.end() ? nullptr : (const void*)found->first;
}

bool stream_of(int32_t device, Stream* stream) {
  if (!enter(device)) return false;
  const Own* own = own_line(device);
  if (!own) return false;
  // Only this thread changes its line's handle, and elements of a deque have stable addresses.
  *stream = own->order->lines[own->line].stream;
  return true;
}

}  // namespace cuda
}  // namespace mx

using namespace mx::cuda;

extern "C" void* mx_gpu_stream(int32_t device) {
  Stream stream = nullptr;
  return stream_of(device, &stream) ? stream : nullptr;
}

extern "C" int mx_gpu_wait(int32_t device) {
  Stream stream;
  if (!stream_of(device, &stream)) return -1;
  return await_stream(device, stream) ? 0 : -1;
}

extern "C" int mx_gpu_turn(int32_t device, const void* memory, int32_t writes) {
  if (!enter(device)) return -1;
  const std::vector<Use> uses = {{memory, writes != 0}};
  if (writes && has_failures(device)) pass_failures_on(device, uses);
  if (!writes && has_failed(device, memory)) return -1;
  return !has_order(device) || await_turn(device, uses) ? 0 : -1;
}

extern "C" int mx_gpu_settle(int32_t device, const void* memory, int32_t writes) {
  if (!enter(device)) return -1;
  Order& order = order_of(device);
  if (order.count == 0) return 0;
  std::vector<Mark> marks;
  Stream only = nullptr;
  {
    Guard guard(order.lock);
    if (order.lines.size() == 1) {
      only = order.lines[0].stream;
    } else if (const Chunk* chunk = chunk_of(&order, memory)) {
      marks = chunk->writers;
      if (writes) marks.insert(marks.end(), chunk->readers.begin(), chunk->readers.end());
      // Work of the first stream while it was the only one has left no marks.
      if (marks.empty()) marks.push_back({0, 1});
    }
  }
  if (only) return await_stream(device, only, memory) ? 0 : -1;
  return settle(device, &order, marks, memory) ? 0 : -1;
}

extern "C" int mx_gpu_wait_all(void) {
  const int32_t count = started_devices();
  for (int32_t device = 0; device < count; ++device) {
    Order& order = order_of(device);
    if (order.count == 0) continue;
    if (!enter(device)) return -1;
    std::vector<Stream> streams;
    {
      Guard guard(order.lock);
      for (const Line& line : order.lines) streams.push_back(line.stream);
    }
    for (Stream stream : streams)
      if (!await_stream(device, stream)) return -1;
  }
  return 0;
}

extern "C" int64_t mx_gpu_streams(int32_t device) { return order_of(device).count; }
