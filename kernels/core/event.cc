// Events in memory that processes share.
#include "mxcy_event.h"

#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

namespace {

long futex(int32_t* word, int what, int32_t value, const timespec* most) {
  return syscall(SYS_futex, word, what, value, most, nullptr, 0);
}

}  // namespace

extern "C" void mx_event_set(mx_event* event) {
  const bool before = __atomic_exchange_n(&event->set, 1, __ATOMIC_SEQ_CST) != 0;
  if (!before && __atomic_load_n(&event->awaited, __ATOMIC_SEQ_CST))
    futex(&event->set, FUTEX_WAKE, 1, nullptr);
}

extern "C" bool mx_event_clear(mx_event* event) {
  return __atomic_exchange_n(&event->set, 0, __ATOMIC_SEQ_CST) != 0;
}

extern "C" bool mx_event_wait(mx_event* event, int64_t nanoseconds) {
  const timespec most = {nanoseconds / 1000000000, nanoseconds % 1000000000};
  __atomic_store_n(&event->awaited, 1, __ATOMIC_SEQ_CST);
  if (!__atomic_load_n(&event->set, __ATOMIC_SEQ_CST)) futex(&event->set, FUTEX_WAIT, 0, &most);
  __atomic_store_n(&event->awaited, 0, __ATOMIC_SEQ_CST);
  return mx_event_clear(event);
}
