// Interface between kernels and their callers: driver/modules.cc, and compiler.py by ctypes.
#pragma once

namespace cuda_text {

constexpr unsigned kMaxSharedBytes = 227u << 10;
enum Order { kForward = 0, kBackward = 1, kShuffled = 2 };

struct LaunchSpec {
  unsigned grid[3], block[3];
  unsigned shared_bytes;
  int order, seed;
  bool (*open_memory)(void* address);  // may handle a fault, or null
  char error[256];
};

}  // namespace cuda_text
