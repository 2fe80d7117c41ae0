// The stand-in for the CUDA driver: a "GPU" on this CPU, slow and strict on purpose.
//
// * The host cannot touch device memory: it is mapped only while the device runs. It starts as NaN
//   (0xff) and ends with guard bytes; freed memory is never mapped again.
// * Work runs when the host waits, and then only what it waits for ("lazy"), or at random moments
//   ("random:SEED"), or at once ("eager"), which reveals missing waits.
// * A failing kernel breaks the context: every later call returns its error, as on a GPU.
// * A module's image is a shared library made by compiler.py.
//
// Names and numbers are those of cuda.h. The functions that mxcy and CuPy use are implemented.
#pragma once
#include <stdint.h>

#include <deque>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <vector>

#include "../cuda_text/launch_spec.h"

#define API extern "C" __attribute__((visibility("default")))

typedef int CUresult;
typedef uint64_t CUdeviceptr;

enum : CUresult {
  CUDA_SUCCESS = 0,
  CUDA_ERROR_INVALID_VALUE = 1,
  CUDA_ERROR_OUT_OF_MEMORY = 2,
  CUDA_ERROR_NOT_INITIALIZED = 3,
  CUDA_ERROR_INVALID_DEVICE = 101,
  CUDA_ERROR_INVALID_IMAGE = 200,
  CUDA_ERROR_INVALID_CONTEXT = 201,
  CUDA_ERROR_INVALID_HANDLE = 400,
  CUDA_ERROR_NOT_FOUND = 500,
  CUDA_ERROR_NOT_READY = 600,
  CUDA_ERROR_ILLEGAL_ADDRESS = 700,
  CUDA_ERROR_LAUNCH_FAILED = 719,
  CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED = 900,
  CUDA_ERROR_STREAM_CAPTURE_INVALIDATED = 901,
  CUDA_ERROR_STREAM_CAPTURE_UNMATCHED = 903,
};

namespace standin {

constexpr int kMaxDevices = 16;

struct Stream;
using Work = std::function<CUresult()>;

// A task; without work it waits until `stream` has finished `count` tasks.
struct Task {
  Work work;
  Stream* stream = nullptr;
  uint64_t count = 0;
};

struct Graph {
  std::vector<Work> nodes;
  std::vector<std::string> labels;  // one per task
};

struct Stream {
  int device = 0, priority = 0;
  std::deque<Task> tasks;
  uint64_t pushed = 0, finished = 0;
  Graph* capture = nullptr;
  bool began_capture = false, broke_capture = false;
};

struct Event {
  Stream* stream = nullptr;
  uint64_t count = 0;  // number of the stream's tasks before it
  Graph* capture = nullptr;
  bool reached = false;
  double time = 0;
};

struct Context {
  int device;
};

enum class Timing { kLazy, kEager, kRandom };

// Result of `standin_counts`.
struct Counts {
  int64_t launches, copies, graphs, waits, allocations, records, orders;
};

struct State {
  std::recursive_mutex mutex;
  bool initialized = false;
  int devices = 1;
  size_t memory_bytes = (size_t)1 << 30;
  Timing timing = Timing::kLazy;
  bool is_deaf = false;  // streams ignore events, for mutation tests
  uint64_t random = 1;
  CUresult sticky_error = CUDA_SUCCESS;
  std::string message;
  Counts counts{};
  Context contexts[kMaxDevices];
  std::set<Stream*> streams;
};

extern State state;
extern thread_local Context* current_context;
using Lock = std::lock_guard<std::recursive_mutex>;

// device.cc
CUresult error(CUresult status, const std::string& message);
void set_timing(const char* text);  // lazy, eager, random:SEED
uint64_t random_below(uint64_t limit);

// streams.cc
Stream* stream_of(Stream* handle);  // the default stream has handles 0 to 2
CUresult push(Stream* handle, Work work, const std::string& label = "work");
CUresult wait_for_stream(Stream* handle);
CUresult wait_for_device();

// memory.cc
// During its lifetime this thread's accesses to device memory map the memory.
class DeviceRuns {
 public:
  DeviceRuns();
  ~DeviceRuns();
};
bool open_memory(void* address);                   // handles a fault: whether to repeat the access
int device_of(CUdeviceptr address, size_t bytes);  // -1: not device memory
bool is_pinned(CUdeviceptr address, size_t bytes);

}  // namespace standin
