// Data shared by the profiler's files: sources and per-thread events.
//
// A thread appends events to its own chunks and publishes them through a counter, without locks.
// Readers hold a Guard and follow with two cursors, one for the statistics and one for the trace; a
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
  int64_t begin, end;  // end: for a counter, its value
  int32_t source;
  int32_t device;  // see device_number
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
  Chunk *head, *tail;  // tail belongs to the thread, everything else to readers
  Cursor counted, written;
  int32_t thread;                 // small sequential number
  char name[32];                  // name of the thread
  std::atomic<bool> done{false};  // the thread has ended
};

// Device types as in contexts: 1 cpu, 2 gpu, 3 cpu_pinned, 5 cpu_shared.
inline int32_t device_number(int32_t type, int32_t id) { return (type - 1) * 1000 + id; }
std::string device_name(int32_t number);

// A row of the trace for a device's stream; only one thread at a time may add events to it.
Buffer* make_lane(const char* name);  // NULL without memory; does not survive a fork
void append_to_lane(Buffer* lane, const Event& event);
// Register a function called before events are read, to add those completed by then.
void before_reading(void (*report)());
void finish_before_reading();

const Source& source_of(int32_t number);
std::vector<Buffer*>& buffers();  // requires a Guard
void lock();
void unlock();
struct Guard {
  Guard() { lock(); }
  ~Guard() { unlock(); }
};

// Visit the published events after a cursor and advance the cursor past them.
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

void release_chunks();  // frees what both cursors have passed; requires a Guard
void forget_memory();   // in a forked child
void begin_memory();    // a new recording of memory starts
void forget_trace();    // in a forked child

}  // namespace mx::profiler
