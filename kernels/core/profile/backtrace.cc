// Native stack frames of the calling thread, with demangled C++ names.
#include "mxcy_backtrace.h"

#include <cxxabi.h>
#include <dlfcn.h>
#include <execinfo.h>

#include <cstdio>
#include <cstdlib>

namespace {

constexpr int kMaxFrames = 256;

// Format one line; the return value is snprintf's.
int describe(char* line, size_t size, int number, void* address) {
  Dl_info symbol;
  if (!dladdr(address, &symbol) || !symbol.dli_fname)
    return snprintf(line, size, "  [bt] (%d) [%p]\n", number, address);
  const bool known = symbol.dli_sname;
  int status = -1;
  char* plain = known ? abi::__cxa_demangle(symbol.dli_sname, nullptr, nullptr, &status) : nullptr;
  const void* from = known ? symbol.dli_saddr : symbol.dli_fbase;
  const int written =
      snprintf(line, size, "  [bt] (%d) %s(%s+0x%zx) [%p]\n", number, symbol.dli_fname,
               plain ? plain : (known ? symbol.dli_sname : ""),
               (size_t)(static_cast<char*>(address) - static_cast<const char*>(from)), address);
  free(plain);
  return written;
}

}  // namespace

extern "C" int32_t mx_backtrace(char* text, size_t size, int32_t depth) {
  if (size == 0) return 0;
  text[0] = 0;
  void* frames[kMaxFrames];
  const int most = depth + 1 < kMaxFrames ? depth + 1 : kMaxFrames;
  const int count = depth > 0 ? backtrace(frames, most) : 0;
  int number = 0;
  for (int i = 1; i < count; ++i) {  // skips this function
    const int written = describe(text, size, number, frames[i]);
    if (written < 0 || (size_t)written >= size) {
      text[0] = 0;  // omit a line that does not fit
      break;
    }
    text += written;
    size -= (size_t)written;
    ++number;
  }
  return number;
}
