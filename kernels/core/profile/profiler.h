// What the profiler's files share: sources, and the events of each thread.
//
// A thread appends events to chunks of its own and publishes them by a counter, without locks.
// Readers hold a Guard and follow with two cursors, one of the statistics and one of the trace; a
// chunk that both have passed is freed.
#pragma once
#include <atomic>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "mxcy_profiler.h"

namespace mx::profiler {

struct Source {
  int32_t kind;
  std::string category, name, args;
  // statistics
  int64_t count = 0, total = 0, least = 0, most = 0, last = 0;
};

struct Event {
  int64_t begin, end;  // end: the value of a counter
  int32_t source;
  int32_t device;  // device_number
};

struct Chunk {
  static constexpr uint32_t kEvents = 2048;
  std::atomic<uint32_t> count{0};
  std::atomic<Chunk*> next{nullptr};
  Event events[kEvents];
};

struct Cursor {
  Chunk* chunk;
  uint32_t at;
};

struct Buffer {
  Chunk *head, *tail;  // tail belongs to the thread, all else to readers
  Cursor counted, written;
  int32_t thread;                 // small number of the thread
  char name[32];                  // of the thread
  std::atomic<bool> done{false};  // the thread is gone
};

// Device types are those of contexts: 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared.
inline int32_t device_number(int32_t type, int32_t id) { return (type - 1) * 1000 + id; }
std::string device_name(int32_t number);

// A row for what no thread does: a device's stream. Whoever knows tells of it, one at a time.
Buffer* make_lane(const char* name);  // NULL without memory; in a forked child it is gone
void append_to_lane(Buffer* lane, const Event& event);
// Have a function called before events are read, which adds those that are complete by then.
void before_reading(void (*tell)());
void finish_before_reading();

const Source& source_of(int32_t number);
std::vector<Buffer*>& buffers();  // under a Guard
void lock();
void unlock();
struct Guard {
  Guard() { lock(); }
  ~Guard() { unlock(); }
};

// Visit the events between a cursor and the end of what was published, and move the cursor there.
template <class Visit>
void advance(Cursor& cursor, Visit&& visit) {
  for (;;) {
    const uint32_t count = cursor.chunk->count.load(std::memory_order_acquire);
    for (; cursor.at < count; ++cursor.at) visit(cursor.chunk->events[cursor.at]);
    Chunk* next = cursor.chunk->next.load(std::memory_order_acquire);
    if (!next) return;
    // The count may have grown between the two loads; a chunk with a successor is complete.
    if (cursor.at < Chunk::kEvents) continue;
    cursor = {next, 0};
  }
}

void release_chunks();  // frees what both cursors have passed; under a Guard
void forget_memory();   // in a forked child
void begin_memory();    // following memory starts
void forget_trace();    // in a forked child

}  // namespace mx::profiler
