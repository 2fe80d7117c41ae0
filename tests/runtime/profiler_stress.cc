// The profiler with everything at once: threads that record, come and go, memory, switches, and a
// thread that takes events out meanwhile. No event may be lost or counted twice.
//
// Built from kernels/core alone; `make sanitize` runs it with the thread sanitizer.
#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <string>
#include <thread>
#include <vector>

#include "mxcy_profiler.h"

namespace {

constexpr int kThreads = 4;

int kernel(const mx_call*) { return 0; }

void require(bool condition, const char* what) {
  if (condition) return;
  printf("failed: %s\n", what);
  exit(1);
}

int64_t counted(int32_t kind) {
  mx_profile_count(1);
  int64_t sum = 0;
  mx_profile_row row;
  for (int32_t i = 0; mx_profile_stats(i, &row); ++i)
    if (row.kind == kind) sum += row.count;
  return sum;
}

void record(int thread, int events) {
  const std::string name = "op" + std::to_string(thread);
  const int32_t source = mx_profile_source(MX_EVENT_OPERATOR, "operator", name.c_str(), nullptr);
  for (int i = 0; i < events; ++i) {
    mx_run_kernel(kernel, nullptr, source, MX_PROFILE_RUNNING);
    if (i % 16 == 0) {
      const void* data = (const void*)(intptr_t)(i + 1 + thread * (events + 1));
      mx_profile_alloc(1, 0, data, 64, 4096);
      mx_profile_free(data);
    }
    if (i % 500 == 0)
      std::thread([=] { mx_run_kernel(kernel, nullptr, source, MX_PROFILE_RUNNING); }).join();
  }
}

// Runs `work` while another thread takes events out again and again.
template <class Work>
void drained(int fd, Work&& work) {
  std::atomic<bool> over{false};
  std::thread reader([&] {
    mx_allocation rows[8];
    for (int32_t fresh = 1; !over; fresh = 0) {
      require(mx_profile_write(fd, fresh) == 0, "writing");
      counted(MX_EVENT_OPERATOR);
      mx_profile_live(rows, 8);
    }
  });
  work();
  over = true;
  reader.join();
  require(mx_profile_write(fd, 0) == 0, "writing the rest");
}

void all_threads(int events) {
  std::vector<std::thread> threads;
  for (int t = 0; t < kThreads; ++t) threads.emplace_back(record, t, events);
  for (std::thread& thread : threads) thread.join();
}

}  // namespace

int main(int argc, char** argv) {
  const int events = argc > 1 ? atoi(argv[1]) : 20000;
  const int fd = open("/dev/null", O_WRONLY);
  mx_profile_limit(1 << 24);

  mx_profile_set(MX_PROFILE_RUNNING | MX_PROFILE_IMPERATIVE | MX_PROFILE_MEMORY);
  drained(fd, [&] { all_threads(events); });
  const int64_t short_lived = (events + 499) / 500;
  require(counted(MX_EVENT_OPERATOR) == (int64_t)kThreads * (events + short_lived), "every event");
  require(counted(MX_EVENT_COUNTER) == (int64_t)kThreads * 2 * ((events + 15) / 16), "all memory");
  require(mx_profile_live(nullptr, 0) == 0 && mx_profile_dropped() == 0, "nothing is left");

  drained(fd, [&] {  // switches in the middle: only that nothing breaks
    std::thread switches([&] {
      for (int i = 0; i < 200; ++i) {
        mx_profile_set(i % 3 ? MX_PROFILE_RUNNING | MX_PROFILE_MEMORY : 0);
        usleep(500);
      }
    });
    all_threads(events);
    switches.join();
  });

  mx_profile_set(MX_PROFILE_RUNNING);
  drained(fd, [&] {  // children start afresh, whatever the other threads hold
    std::thread busy(record, 0, events);
    for (int i = 0; i < 20; ++i) {
      const pid_t child = fork();
      if (child == 0) {
        const bool off = mx_profiled(-1) == 0 && counted(MX_EVENT_OPERATOR) == 0;
        mx_profile_set(MX_PROFILE_RUNNING);
        mx_profile_add(mx_profile_source(MX_EVENT_OPERATOR, "operator", "child", ""), 1, 2);
        _exit(off && counted(MX_EVENT_OPERATOR) == 1 && mx_profile_write(fd, 1) == 0 ? 0 : 1);
      }
      int status = 1;
      require(waitpid(child, &status, 0) == child && status == 0, "a forked child");
    }
    busy.join();
  });
  printf("ok\n");
  return 0;
}
