// parallel_for and parallel_team: the only two uses of OpenMP.
#pragma once
#include <omp.h>
#include <sched.h>

#include <cstdint>

#include "core/integers.h"

namespace mx {

// Set the calling thread's team to max(1, N / share) for `share` concurrent threads.
void divide_team(int32_t share);

// Threads that the system wakes on the CPU of a spinning waiter stay there for seconds, and a
// region of one microsecond takes hundreds. Such a thread moves off that CPU for as long as it
// meets nobody elsewhere; not if the user binds threads.
void leave_cpu(int cpu);

// End the calling thread's team. While the idle teams together have more threads than there are
// CPUs, the OpenMP runtime puts idle threads to sleep at once, and waking one takes tens of
// microseconds.
void dismiss_team();

// Run body(begin, end) over [0, n) in at most `threads` contiguous chunks whose sizes, except the
// last, are multiples of `grain`. threads is 1 or the team size N; 1 costs a branch.
template <class Body>
inline void parallel_for(int threads, int64_t n, int64_t grain, const Body& body) {
  if (threads <= 1 || n <= grain) {
    if (n > 0) body((int64_t)0, n);
    return;
  }
  const int64_t blocks = ceil_div(n, grain);
  const int64_t each = ceil_div(blocks, threads) * grain;
  const int home = sched_getcpu();
#pragma omp parallel for num_threads(threads) schedule(static, 1)
  for (int t = 0; t < threads; ++t) {
    if (t > 0 && sched_getcpu() == home) leave_cpu(home);
    const int64_t begin = t * each, end = begin + each < n ? begin + each : n;
    if (begin < end) body(begin, end);
  }
}

// A thread of parallel_team.
struct TeamMember {
  int rank, ranks;

  // Wait for all members, which costs far less than a new region.
  void barrier() const {
    if (ranks == 1) return;
#pragma omp barrier
  }
  // Where this member's equal part of [0, n) begins; it ends where that of rank + 1 begins.
  int64_t begin(int64_t n) const { return n * rank / ranks; }
  int64_t end(int64_t n) const { return n * (rank + 1) / ranks; }
};

// Run body(member) in each of at most `threads` threads.
template <class Body>
inline void parallel_team(int threads, const Body& body) {
  if (threads <= 1) return body(TeamMember{0, 1});
  const int home = sched_getcpu();
#pragma omp parallel num_threads(threads)
  {
    const TeamMember member = {omp_get_thread_num(), omp_get_num_threads()};
    if (member.rank > 0 && sched_getcpu() == home) leave_cpu(home);
    body(member);
  }
}

}  // namespace mx
