// CUDA graphs of plans: the launches of consecutive steps, captured once and replayed as one.
//
// A graph contains addresses, so it can only be replayed for the same addresses of all bases. The
// first run of a range of steps launches them one by one; later runs capture new sets of addresses,
// unless captures have not paid off so far. The second run also captures the addresses of the
// first: loops that keep the previous results alternate between two sets.
#include "cuda/graphs.h"

#include <algorithm>
#include <cstdio>
#include <list>
#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "core/fork.h"
#include "cuda/alarms.h"
#include "cuda/blas.h"
#include "cuda/cudnn.h"
#include "cuda/driver.h"
#include "cuda/lanes.h"
#include "cuda/random.h"
#include "mxcy_gpu.h"
#include "mxcy_profiler.h"

namespace mx {
namespace cuda {
namespace {

constexpr int kThreadLocal = 1;     // CU_STREAM_CAPTURE_MODE_THREAD_LOCAL
constexpr size_t kMostGraphs = 16;  // per range of steps
constexpr int kUnpaid = 16;         // captures with fewer replays after which capturing stops

typedef std::vector<const void*> Key;  // addresses of the bases in use

// Memory of a run.
struct Places {
  Key key;
  std::vector<void*> bases;
  void* scratch = nullptr;
};

struct Graph {
  Key key;
  GraphExec exec = nullptr;
  std::vector<Use> uses;
  std::string name;  // in the profiler's trace
};

struct Range {
  std::vector<int32_t> bases;
  std::list<Graph> graphs;  // most recently used first
  Places first;             // of the first run
  int64_t runs = 0, captures = 0, replays = 0;
  bool is_refused = false;  // cannot be captured, or is a single launch
};

std::atomic<int64_t> captured_graphs{0}, replayed_graphs{0}, written_files{0};
thread_local Capture* this_capture = nullptr;

}  // namespace

Capture* capturing() { return this_capture; }

}  // namespace cuda
}  // namespace mx

using namespace mx::cuda;

struct mx_gpu_graphs {
  mx::ForkSafeMutex lock;
  int32_t device = 0;
  int64_t messages = 0;  // number of graphs to report, unless all are
  bool is_training = false, is_verbose = false;
  std::string file;  // prefix of file names
  uint32_t file_flags = 0;
  std::vector<std::string> labels;
  std::map<std::pair<int32_t, int32_t>, Range> ranges;

  ~mx_gpu_graphs() {
    for (const auto& entry : ranges)
      for (const Graph& graph : entry.second.graphs) drop(graph);
  }
  void drop(const Graph& graph) const {
    if (enter(device)) api().GraphExecDestroy(graph.exec);
  }
};

namespace {

Range& range_of(mx_gpu_graphs* self, const mx_plan* plan, int32_t first, int32_t last) {
  Range& range = self->ranges[{first, last}];
  if (range.bases.empty()) {
    range.bases.resize(mx_plan_bases(plan, first, last, nullptr));
    mx_plan_bases(plan, first, last, range.bases.data());
    range.is_refused = last - first < 2;
  }
  return range;
}

Graph* find(Range* range, const Key& key) {
  for (auto at = range->graphs.begin(); at != range->graphs.end(); ++at)
    if (at->key == key) {
      range->graphs.splice(range->graphs.begin(), range->graphs, at);
      return &range->graphs.front();
    }
  return nullptr;
}

// Merge uses within a base, which lies in one chunk of memory.
std::vector<Use> by_bases(const std::vector<Use>& uses, const Key& key) {
  Key sorted = key;
  std::sort(sorted.begin(), sorted.end());
  std::map<const void*, bool> writes;
  for (const Use& use : uses) {
    auto next = std::upper_bound(sorted.begin(), sorted.end(), use.memory);
    const void* base = next == sorted.begin() ? use.memory : *(next - 1);
    writes[base] |= use.writes;
  }
  std::vector<Use> found;
  for (const auto& entry : writes) found.push_back({entry.first, entry.second});
  return found;
}

// Name of a range of steps in the profiler.
std::string name_of(const mx_gpu_graphs* self, int32_t first, int32_t last) {
  constexpr int32_t kShown = 8;
  std::string name = "CUDA graph [";
  for (int32_t i = first; i < last && i < first + kShown; ++i)
    name += (i > first ? "," : "") + self->labels[i].substr(0, self->labels[i].find(' '));
  return name + (last - first > kShown ? ",...]" : "]");
}

void tell(mx_gpu_graphs* self, int32_t first, int32_t last, int64_t launches, CuGraph captured) {
  const char* mode = self->is_training ? "trn" : "inf";
  const int64_t number = captured_graphs;
  if (self->is_verbose || number <= self->messages) {
    std::string names;
    for (int32_t i = first; i < last; ++i)
      if (i < (int32_t)self->labels.size()) names += (names.empty() ? "" : ", ") + self->labels[i];
    fprintf(stderr, "mxcy CUDA graph %lld on gpu(%d), %s: %lld launches of %s\n", (long long)number,
            (int)self->device, mode, (long long)launches, names.c_str());
  }
  if (self->file.empty()) return;
  const std::string name = self->file + "-dev" + std::to_string(self->device) + "-" + mode + "." +
                           std::to_string(written_files++) + ".dot";
  api().GraphDebugDotPrint(captured, name.c_str(), self->file_flags);
}

// A range of steps of a plan.
struct Part {
  const mx_plan* plan;
  int32_t first, last;
  mx_rng* rng;
};

Places places_of(const Range& range, void* const* bases, void* scratch) {
  Places places;
  places.key.push_back(scratch);
  places.scratch = scratch;
  for (int32_t base : range.bases) {
    places.key.push_back(bases[base]);
    if ((int32_t)places.bases.size() <= base) places.bases.resize(base + 1);
    places.bases[base] = bases[base];
  }
  return places;
}

// Capture the launches of a range; NULL if that failed, and nothing has run.
Graph* record(mx_gpu_graphs* self, Range* range, const Part& part, const Places& places) {
  Capture capture;
  CuGraph captured = nullptr;
  GraphExec exec = nullptr;
  int32_t failed = 0;
  const LentStream lent(self->device);
  capture.stream = lent.get();
  if (!lent.get() || !ready_blas(self->device, lent.get()) ||
      !ready_cudnn(self->device, lent.get()))
    return nullptr;
  if (api().StreamBeginCapture(lent.get(), kThreadLocal) != 0) return nullptr;
  this_capture = &capture;
  const int status = mx_plan_run(part.plan, part.first, part.last, places.bases.data(),
                                 places.scratch, part.rng, &failed);
  this_capture = nullptr;
  const int ended = api().StreamEndCapture(lent.get(), &captured);
  const bool complete = status == 0 && ended == 0 && capture.launches > 1 &&
                        api().GraphInstantiate(&exec, captured, 0) == 0;
  if (complete) {
    range->graphs.push_front({places.key, exec, by_bases(capture.uses, places.key),
                              name_of(self, part.first, part.last)});
    ++range->captures;
    ++captured_graphs;
    tell(self, part.first, part.last, capture.launches, captured);
  }
  if (captured) api().GraphDestroy(captured);
  if (!complete) return nullptr;
  while (range->graphs.size() > kMostGraphs) {
    self->drop(range->graphs.back());
    range->graphs.pop_back();
  }
  return &range->graphs.front();
}

int replay(const mx_gpu_graphs* self, const Graph& graph, Stream stream) {
  if (has_order(self->device) && !await_turn(self->device, graph.uses)) return -1;
  const bool is_told = mx_profiled(MX_PROFILE_SYMBOLIC) != 0;
  Span span;
  if (is_told) span.begin(self->device, stream);
  if (!succeeded(api().GraphLaunch(graph.exec, stream), "launching a graph")) return -1;
  if (is_told) span.end("gpu kernel", graph.name);
  if (has_failures(self->device)) pass_failures_on(self->device, graph.uses);
  return !has_order(self->device) || leave_marks(self->device, graph.uses) ? 0 : -1;
}

}  // namespace

extern "C" mx_gpu_graphs* mx_gpu_graphs_create(int32_t device, int32_t is_training,
                                               int32_t is_verbose, int64_t messages,
                                               const char* file, uint32_t file_flags, int32_t count,
                                               const char* const* labels) {
  mx_gpu_graphs* self = new mx_gpu_graphs;
  self->device = device, self->is_training = is_training != 0, self->messages = messages;
  self->is_verbose = is_verbose != 0;
  self->file = file, self->file_flags = file_flags;
  self->labels.assign(labels, labels + count);
  return self;
}

extern "C" void mx_gpu_graphs_destroy(mx_gpu_graphs* graphs) { delete graphs; }

extern "C" void mx_gpu_graphs_counts(int64_t* captured, int64_t* replayed) {
  *captured = captured_graphs, *replayed = replayed_graphs;
}

extern "C" int mx_gpu_graphs_run(mx_gpu_graphs* self, const mx_plan* plan, int32_t first,
                                 int32_t last, void* const* bases, void* scratch, mx_rng* rng,
                                 int32_t* failed) {
  Stream stream;
  *failed = first;
  if (!stream_of(self->device, &stream)) return -1;
  if (rng && !refresh_random(rng, self->device)) return -1;
  std::lock_guard<mx::ForkSafeMutex> guard(self->lock);
  Range& range = range_of(self, plan, first, last);
  const Places places = places_of(range, bases, scratch);
  if (range.runs++ == 0) {
    range.first = places;
  } else if (!range.is_refused) {
    Graph* graph = find(&range, places.key);
    if (graph) {
      ++range.replays, ++replayed_graphs;
      return replay(self, *graph, stream);
    }
    if (range.captures < kUnpaid || range.captures <= range.replays) {
      const Part part = {plan, first, last, rng};
      if (range.runs == 2 && places.key != range.first.key) record(self, &range, part, range.first);
      graph = record(self, &range, part, places);
      if (graph) return replay(self, *graph, stream);
      range.is_refused = true;
    }
  }
  return mx_plan_run(plan, first, last, bases, scratch, rng, failed);
}
