// The error text of a team.
#include "core/parallel_try.h"

#include <cstdio>

#include "mxcy.h"

namespace mx {

void TeamFailure::keep() {
  if (__atomic_exchange_n(&failed_, 1, __ATOMIC_RELAXED)) return;
  snprintf(text_, sizeof text_, "%s", mx_last_error());
}

int TeamFailure::status() const { return failed_ ? mx_fail("%s", text_) : 0; }

}  // namespace mx
