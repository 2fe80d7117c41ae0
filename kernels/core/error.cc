// The error text of the calling thread.
#include <atomic>
#include <cstdarg>
#include <cstdio>
#include <cstring>
#include <string>

#include "mxcy.h"
#include "mxcy_backtrace.h"

static thread_local std::string g_error;  // not an array: static TLS is scarce in shared libraries
static std::atomic<int32_t> g_depth{0};

extern "C" const char* mx_last_error(void) { return g_error.c_str(); }

extern "C" int mx_fail(const char* format, ...) {
  char text[1024];
  va_list args;
  va_start(args, format);
  vsnprintf(text, sizeof text, format, args);
  va_end(args);
  g_error = text;
  const int32_t depth = g_depth.load(std::memory_order_relaxed);
  char frames[1 << 13];
  if (depth > 0 && *text && !strstr(text, "\n  [bt] (0)") &&
      mx_backtrace(frames, sizeof frames, depth) > 0) {
    g_error += "\nStack trace:\n";
    g_error += frames;
  }
  return -1;
}

extern "C" void mx_backtrace_failures(int32_t depth) {
  g_depth.store(depth, std::memory_order_relaxed);
}
