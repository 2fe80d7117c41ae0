// Copies to memory that other cores read next.
#include "mxcy_stream.h"

#include "machine.h"

extern "C" void mx_stream(int64_t bytes, const void* from, void* to) {
  mx::machine::stream(to, from, static_cast<size_t>(bytes));
  mx::machine::order_streams();
}
