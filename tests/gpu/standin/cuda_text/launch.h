// A launch: blocks one by one, warps and lanes in the requested order.
#pragma once
#include <signal.h>

#include "block.h"

// Static shared memory is an ELF section, so each block can start with NaN contents.
extern "C" char __start_cuda_shared[] __attribute__((weak, visibility("hidden")));
extern "C" char __stop_cuda_shared[] __attribute__((weak, visibility("hidden")));

namespace cuda_text {

inline uint64_t random_below(uint64_t limit) {
  block.random = block.random * 6364136223846793005u + 1442695040888963407u;
  return (block.random >> 33) % limit;
}

inline void order_numbers(int* numbers, int count, int order) {
  for (int i = 0; i < count; ++i) numbers[i] = order == kBackward ? count - 1 - i : i;
  if (order == kShuffled)
    for (int i = count - 1; i > 0; --i) std::swap(numbers[i], numbers[random_below(i + 1)]);
}

inline void resume(Thread* thread) {
  running = thread;
  cuda_text_switch(&block.scheduler, thread->stack_pointer);
}

// Run each runnable lane of a warp until it waits; returns whether there was one.
inline bool run_warp(int warp, int order) {
  const int first = warp * kWarpSize, count = std::min(kWarpSize, block.threads - first);
  int lanes[kWarpSize];
  order_numbers(lanes, count, order);
  bool progress = false;
  for (int i = 0; i < count && !block.failed; ++i) {
    Thread& thread = block.thread[first + lanes[i]];
    if (thread.finished || (thread.awaited && *thread.awaited == thread.generation)) continue;
    thread.awaited = nullptr, progress = true;
    resume(&thread);
  }
  return progress;
}

inline void start_block(const LaunchSpec& spec) {
  block.live = block.threads;
  block.barrier.arrived = block.barrier.votes = 0;
  memset(block.shared, 0xff, spec.shared_bytes);
  memset(__start_cuda_shared, 0xff, __stop_cuda_shared - __start_cuda_shared);
  const unsigned width = block.size.x, height = block.size.y;
  for (int i = 0; i < block.threads; ++i) {
    const unsigned u = (unsigned)i;
    void* stack = fresh_stack(block.stacks + (size_t)i * kStackBytes, fiber_entry);
    block.thread[i] = {
        {u % width, u / width % height, u / (width * height)}, i, false, stack, nullptr, 0};
  }
  for (Warp& warp : block.warp) warp.arrived = warp.returned = 0;
}

inline void run_block(const LaunchSpec& spec) {
  start_block(spec);
  if (!block.fibers) return resume(&block.thread[0]);
  const int warps = (block.threads + kWarpSize - 1) / kWarpSize;
  while (block.live && !block.failed) {
    int numbers[kMaxWarps];
    order_numbers(numbers, warps, spec.order);
    bool progress = false;
    for (int i = 0; i < warps; ++i)
      while (!block.failed && run_warp(numbers[i], spec.order)) {
        progress = true;  // a warp runs as far as it can, or randomly less far
        if (!block.live || (spec.order == kShuffled && random_below(8) == 0)) break;
      }
    if (progress || block.failed) continue;
    snprintf(block.error, sizeof(LaunchSpec::error),
             "block %u,%u,%u: %d threads wait for ever, at line %d", block.index.x, block.index.y,
             block.index.z, block.live,
             block.barrier.arrived ? block.barrier.line : block.warp[0].line);
    block.failed = true;
  }
}

// During its lifetime bad addresses (also misaligned vectors) end the launch, as on a GPU.
class FaultHandlers {
 public:
  explicit FaultHandlers(bool (*handle)(void*)) {
    open_memory = handle;
    struct sigaction action{};
    action.sa_sigaction = [](int, siginfo_t* info, void*) {
      if (open_memory && open_memory(info->si_addr)) return;
      fail("illegal or misaligned address %p", info->si_addr);
    };
    action.sa_flags = SA_SIGINFO | SA_NODEFER;
    sigaction(SIGSEGV, &action, &segv_);
    sigaction(SIGBUS, &action, &bus_);
  }
  ~FaultHandlers() {
    sigaction(SIGSEGV, &segv_, nullptr);
    sigaction(SIGBUS, &bus_, nullptr);
  }

 private:
  static inline bool (*open_memory)(void*) = nullptr;
  struct sigaction segv_, bus_;
};

inline bool valid(const LaunchSpec& spec) {
  const unsigned *g = spec.grid, *b = spec.block;
  const uint64_t threads = (uint64_t)b[0] * b[1] * b[2];
  return threads && threads <= kMaxThreads && b[2] <= 64 && g[0] && g[1] && g[2] &&
         g[0] <= INT32_MAX && g[1] <= 65535 && g[2] <= 65535 &&
         spec.shared_bytes <= kMaxSharedBytes;
}

// 0, or -1 with spec->error.
inline int launch(LaunchSpec* spec, bool fibers, void (*body)(void*), void* arguments) {
  const unsigned *g = spec->grid, *b = spec->block;
  if (!valid(*spec))
    return snprintf(spec->error, sizeof spec->error, "invalid launch configuration"), -1;
  if (!block.stacks) block.stacks = reserve(kStackBytes * kMaxThreads);
  if (!block.shared) block.shared = reserve(kMaxSharedBytes);
  block.size = dim3(b[0], b[1], b[2]), block.grid = dim3(g[0], g[1], g[2]);
  block.threads = (int)(b[0] * b[1] * b[2]), block.fibers = fibers, block.failed = false;
  block.body = body, block.arguments = arguments, block.error = spec->error;
  block.random = 0x9e3779b97f4a7c15u * ((uint64_t)spec->seed + 1);
  const FaultHandlers handlers(spec->open_memory);
  const uint64_t blocks = (uint64_t)g[0] * g[1] * g[2];
  for (uint64_t i = 0; i < blocks && !block.failed; ++i) {
    const uint64_t at = spec->order == kForward ? i : blocks - 1 - i;
    block.index = {(unsigned)(at % g[0]), (unsigned)(at / g[0] % g[1]),
                   (unsigned)(at / g[0] / g[1])};
    run_block(*spec);
  }
  return block.failed ? -1 : 0;
}

// Properties of a kernel, deduced from its type.
template <class Function>
struct Signature;
template <class... Parameters>
struct Signature<void (*)(Parameters...)> {
  struct Call {
    void (*kernel)(Parameters...);
    void** arguments;
  };
  static int sizes(int* out) {
    ((*out++ = (int)sizeof(Parameters)), ...);
    return (int)sizeof...(Parameters);
  }
  static void body(void* pointer) {
    const Call& call = *(const Call*)pointer;
    apply(call, std::index_sequence_for<Parameters...>{});
  }

 private:
  template <size_t... I>
  static void apply(const Call& call, std::index_sequence<I...>) {
    call.kernel(*(std::remove_reference_t<Parameters>*)call.arguments[I]...);
  }
};

}  // namespace cuda_text

// The two exported functions of a kernel or template instance.
#define CUDA_TEXT_KERNEL(name, fibers, ...)                                             \
  extern "C" __attribute__((visibility("default"))) int cuda_launch_##name(             \
      cuda_text::LaunchSpec* spec, void** arguments) {                                  \
    using Signature = cuda_text::Signature<decltype(&__VA_ARGS__)>;                     \
    Signature::Call call{&__VA_ARGS__, arguments};                                      \
    return cuda_text::launch(spec, fibers, Signature::body, &call);                     \
  }                                                                                     \
  extern "C" __attribute__((visibility("default"))) int cuda_sizes_##name(int* sizes) { \
    return cuda_text::Signature<decltype(&__VA_ARGS__)>::sizes(sizes);                  \
  }
