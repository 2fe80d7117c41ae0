// Trials: timing a kernel for a signature, on memory allocated for the purpose.
#include <time.h>

#include <algorithm>
#include <chrono>
#include <vector>

#include "core/cache.h"
#include "core/tensor.h"
#include "core/threads.h"
#include "machine.h"
#include "mxcy.h"
#include "mxcy_tuning.h"

namespace {

using Clock = std::chrono::steady_clock;

int64_t nanoseconds_since(Clock::time_point begin) {
  return std::chrono::duration_cast<std::chrono::nanoseconds>(Clock::now() - begin).count();
}

// CPU time of the calling thread, unaffected by other programs.
int64_t own_nanoseconds() {
  timespec now;
  clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return now.tv_sec * 1000000000LL + now.tv_nsec;
}

// Zero-filled memory that lives as long as the trial; no kernel is slower on zeros. It bypasses the
// pools, as its sizes do not recur.
class Blocks {
 public:
  ~Blocks() {
    for (void* block : blocks_) mx_system_free(block);
  }
  // NULL only if memory is exhausted; a spare page keeps vector loads at the end in bounds.
  void* take(size_t bytes) {
    bytes += 4096;
    void* data = mx_system_alloc(bytes);
    if (data) {
      __builtin_memset(data, 0, bytes);
      blocks_.push_back(data);
    }
    return data;
  }

 private:
  std::vector<void*> blocks_;
};

// A call of a kernel on its own memory.
class Trial {
 public:
  Trial() = default;
  Trial(const Trial&) = delete;
  ~Trial() {
    if (extra_ && extra_->drop && call_.state) extra_->drop(call_.state);
  }

  // 0, or -1 with an error text.
  int prepare(const char* name, int32_t dtype, const mx_call* call) {
    kernel_ = mx_kernel_find(name, dtype, nullptr);
    if (!kernel_) return mx_fail("trial: unknown kernel %s", name);
    tensors_.assign(call->in, call->in + call->nin);
    tensors_.insert(tensors_.end(), call->out, call->out + call->nout);
    for (mx_tensor& tensor : tensors_) {
      tensor.data = blocks_.take(mx::count(tensor) * mx::item_size(tensor.dtype));
      if (!tensor.data) return -1;
    }
    writes_.assign(call->nout, MX_WRITE);
    call_ = *call;
    call_.in = tensors_.data();
    call_.out = tensors_.data() + call->nin;
    call_.req = writes_.data();
    call_.state = nullptr;
    if (call_.workspace_size && !(call_.workspace = blocks_.take(call_.workspace_size))) return -1;
    extra_ = mx_kernel_extra_of(name);
    return extra_ && extra_->make ? extra_->make(&call_, &call_.state) : 0;
  }

  void* take(size_t bytes) { return blocks_.take(bytes); }
  const mx_tensor& input(int32_t i) const { return tensors_[i]; }

  // Nanoseconds of one run, or -1 with an error text.
  int64_t run(int32_t threads) {
    call_.threads = threads;
    const auto begin = Clock::now();
    if (kernel_(&call_) != 0) return -1;
    return nanoseconds_since(begin);
  }

  // The same with one thread, in CPU time.
  int64_t run_alone() {
    call_.threads = 1;
    const int64_t begin = own_nanoseconds();
    if (kernel_(&call_) != 0) return -1;
    return own_nanoseconds() - begin;
  }

 private:
  Blocks blocks_;
  std::vector<mx_tensor> tensors_;
  std::vector<int32_t> writes_;
  mx_kernel kernel_ = nullptr;
  const mx_kernel_extra* extra_ = nullptr;
  mx_call call_{};
};

// Within a network a layer finds its data outside the cores' private caches: evict it by
// overwriting enough other memory.
void push_out(char* other, int64_t bytes, int threads) {
  mx::parallel_for(threads, bytes, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 64) other[i] = (char)(other[i] + 1);
  });
}

// Weights even come from main memory, as those of all other layers were read in between, unless the
// shared cache holds those of most networks and of some dozens of layers like this one. (A virtual
// machine is told the size of the whole cache and gets a part of it.)
constexpr int64_t kHoldsNetworks = 128 << 20;
constexpr int64_t kLayers = 64;
int64_t bytes_of(const mx_tensor& tensor) {
  return mx::count(tensor) * mx::item_size(tensor.dtype);
}
bool is_read_from_memory(const mx_tensor& weights) {
  const int64_t cache = mx::third_cache();
  return cache < kHoldsNetworks || cache < kLayers * bytes_of(weights);
}
void flush(const mx_tensor& tensor, int threads) {
  const int64_t bytes = bytes_of(tensor);
  mx::parallel_for(threads, bytes, 4096, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; i += 64) mx::machine::evict((const char*)tensor.data + i);
  });
}

// Rounds after which newly started threads hold each other's flags in their caches, as in later
// regions.
constexpr int kWarmUp = 8;

}  // namespace

extern "C" int64_t mx_kernel_time(const char* name, int32_t dtype, const mx_call* call,
                                  int64_t budget) {
  Trial trial;
  if (trial.prepare(name, dtype, call) != 0) return -1;
  const int64_t swept = 2 * call->threads * mx::second_cache();
  char* other = (char*)trial.take(swept);
  if (!other) return -1;
  int64_t best = -1, spent = 0;
  for (int run = 0; run < 3 || (run < 100 && spent < budget); ++run) {
    push_out(other, swept, call->threads);
    if (call->nin > 1 && is_read_from_memory(trial.input(1))) flush(trial.input(1), call->threads);
    const int64_t took = call->threads == 1 ? trial.run_alone() : trial.run(call->threads);
    if (took < 0) return -1;
    spent += took;
    if (run > 0 && (best < 0 || took < best)) best = took;  // the first run warms up
  }
  return best;
}

extern "C" int mx_kernel_race(const char* name, int32_t dtype, const mx_call* call, int32_t team,
                              int64_t budget, double* times) {
  Trial trial;
  if (trial.prepare(name, dtype, call) != 0) return -1;
  for (int side = 0; side < 2; ++side) {
    int64_t best = -1, spent = 0;
    for (int run = 0; run < 2 || (run < 100 && spent < budget / 2); ++run) {
      const int64_t took = trial.run(side == 0 ? 1 : team);
      if (took < 0) return -1;
      spent += took;
      if (best < 0 || took < best) best = took;
      if (took >= budget) break;
    }
    times[side] = (double)best;
    if (best >= budget) {
      times[1] = times[0] / team;
      break;
    }
  }
  return 0;
}

extern "C" double mx_region_time(int32_t threads, int64_t budget) {
  std::vector<int64_t> times;
  int64_t spent = 0;
  for (int run = 0; run < kWarmUp + 8 || (run < 300 && spent < budget); ++run) {
    const auto begin = Clock::now();
    mx::parallel_for(threads, threads, 1, [](int64_t, int64_t) { asm volatile("" ::: "memory"); });
    const int64_t took = nanoseconds_since(begin);
    spent += took;
    if (run >= kWarmUp) times.push_back(took);
  }
  std::sort(times.begin(), times.end());
  return (double)times[times.size() / 4];
}

extern "C" int64_t mx_second_cache(void) { return mx::second_cache(); }
