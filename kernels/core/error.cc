// The error text of the calling thread.
#include <cstdarg>
#include <cstdio>

#include "mxcy.h"

static thread_local char g_error[1024];

extern "C" const char* mx_last_error(void) { return g_error; }

extern "C" int mx_fail(const char* format, ...) {
  va_list args;
  va_start(args, format);
  vsnprintf(g_error, sizeof g_error, format, args);
  va_end(args);
  return -1;
}
