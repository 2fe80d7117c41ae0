// An OpenMP runtime that simulates a team of N on one thread, with a clock that shows the time N
// threads would have taken. It is preloaded (LD_PRELOAD), so that libmxcy and oneDNN use these
// functions instead of libgomp's: the ranks of a region run one after the other and are timed.
//
// With a second CPU, one rank at a time has a core of its own, which runs nothing else: the data
// that it has used before is in that core's caches, and no other data. The other ranks share a
// core.
//
// A rank that spins until another rank writes, as in oneDNN's generated barriers, is detected by a
// timer: if there is a pause instruction near the interrupted one, another rank runs first. When a
// program is run again, the timer looks whether the rank has begun to spin earlier than known.
//
// The clock hides the time of ranks that would have run concurrently: a region takes as long as its
// slowest rank plus the barrier. The library's own measurements (one thread or all, which
// algorithm) therefore decide as on a machine with N cores.
#define _GNU_SOURCE
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <time.h>
#include <ucontext.h>
#include <unistd.h>
#include <x86intrin.h>

#include "second_core.h"

#define SHOWN __attribute__((visibility("default")))
#define OWN_TO_THREAD static __thread

typedef void (*Body)(void*);

// A logged region, or a part of one between barriers; the times of its ranks are `ranks` floats of
// the log, from `first` on.
typedef struct {
  int64_t began;    // nanoseconds, of the simulated clock
  int64_t longest;  // its duration on that clock: the slowest rank plus the barrier
  int64_t first;
  int32_t ranks;
  int32_t ends;  // whether a barrier inside the region follows (0), or its end
} Region;

enum {
  kRegions = 1 << 16,
  kTimes = 1 << 22,
  kMostRanks = 256,
  kStack = (2 << 20) + (5 << 12),  // so that the ends of stacks do not share cache sets
  kStuck = 60,
  kCheck = 1000,   // microseconds between checks of a rank
  kIdle = 1000000  // consecutive checks that find every rank waiting
};

static const double kGolden = .6180339887498949;  // its multiples, modulo 1, are evenly spread

static struct {
  int32_t team;
  double fixed, each;  // nanoseconds of a region: constant, and per thread
  double inner;        // as `fixed`, of a barrier inside a region
  int32_t apart;       // the rank with a core of its own; -1: none
  int64_t saved;       // nanoseconds by which the simulated clock is behind the thread's
  int32_t logging;
  int64_t regions, times;
  Region* log;
  float* took;
  float* spins;                 // the earliest time of all runs at which each rank spun; 0: none
  double part;                  // of the time at which a rank spun, for the next check
  volatile int64_t rank_began;  // CPU time, for the watchdog; 0: no rank is running
  int64_t idle;                 // consecutive checks that found a rank waiting
} g = {.apart = -1};

OWN_TO_THREAD int32_t t_most;  // limit set by omp_set_num_threads; 0: none
OWN_TO_THREAD int32_t t_inside, t_rank, t_ranks = 1;
OWN_TO_THREAD int64_t t_began, t_rank_began;
OWN_TO_THREAD volatile int32_t t_computes;  // whether this thread is running a rank
static float t_took[kMostRanks];            // one thread at a time computes

static int64_t real_clock(clockid_t clock) {
  struct timespec t;
  syscall(SYS_clock_gettime, clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The clock of the simulating thread is its CPU time, so that other programs do not count. The cost
// of reading it is subtracted.
static int64_t g_cost, g_origin;
OWN_TO_THREAD int32_t t_simulates;
static int64_t now(void) {
  const int64_t told = real_clock(CLOCK_THREAD_CPUTIME_ID);
  g.saved += g_cost;
  return told - g.saved;
}

static void calibrate(void) {
  int64_t before = real_clock(CLOCK_THREAD_CPUTIME_ID);
  g_cost = 1000000;
  for (int i = 0; i < 10000; ++i) {
    const int64_t told = real_clock(CLOCK_THREAD_CPUTIME_ID);
    if (told - before < g_cost) g_cost = told - before;
    before = told;
  }
}

// --- the clock --------------------------------------------------------------------------------
SHOWN int clock_gettime(clockid_t clock, struct timespec* t) {
  if (clock != CLOCK_MONOTONIC || !t_simulates) return (int)syscall(SYS_clock_gettime, clock, t);
  const int64_t told = g_origin + now();
  t->tv_sec = told / 1000000000;
  t->tv_nsec = told % 1000000000;
  return 0;
}

// --- checks of ranks --------------------------------------------------------------------------
OWN_TO_THREAD timer_t t_timer;  // signals the thread itself

// Check the running rank after some nanoseconds, and from then on regularly.
static void check_after(double wait) {
  const int64_t least = wait > 1000 ? (int64_t)wait : 1000;
  const struct itimerspec times = {{0, kCheck * 1000}, {least / 1000000000, least % 1000000000}};
  timer_settime(t_timer, 0, &times, NULL);
}

// When the running rank was seen to spin; NULL: it did so in this phase, or runs are not logged.
static float* spin_of_rank(void) {
  const int known = g.logging && t_inside && t_took[t_rank] == 0 && g.times + t_ranks <= kTimes;
  return known ? &g.spins[g.times + t_rank] : NULL;
}

// --- regions ----------------------------------------------------------------------------------
static void begin_rank(int32_t rank) {
  t_rank = rank;
  const float* spin = spin_of_rank();
  if (spin && *spin) {
    g.part += kGolden;
    if (g.part >= 1) g.part -= 1;
    check_after(*spin * (1 - g.part * g.part / 2));
  }
  t_computes = 1;
  g.rank_began = real_clock(CLOCK_PROCESS_CPUTIME_ID);
  t_rank_began = now();
}

static void end_rank(void) {
  t_computes = 0;
  t_took[t_rank] += (float)(now() - t_rank_began);
  g.rank_began = 0;
}

// Account for the work of all ranks up to a barrier or the end of the region.
static void end_phase(int ends) {
  float longest = 0;
  for (int32_t i = 0; i < t_ranks; ++i)
    if (t_took[i] > longest) longest = t_took[i];
  const int64_t took = (int64_t)(longest + (ends ? g.fixed : g.inner) + g.each * t_ranks);
  if (g.logging && g.regions < kRegions && g.times + t_ranks <= kTimes) {
    memcpy(g.took + g.times, t_took, (size_t)t_ranks * sizeof *t_took);
    g.log[g.regions++] = (Region){g_origin + t_began, took, g.times, t_ranks, ends};
    g.times += t_ranks;
  }
  memset(t_took, 0, (size_t)t_ranks * sizeof *t_took);
  const int64_t saved = now() - t_began - took;
  g.saved += saved;
  t_began = now();
}

// All ranks but 0 are fibers, so that one can stop at a barrier while others continue.
static struct {
  ucontext_t contexts[kMostRanks], callers[2];  // of either core
  char* stacks;
  enum { kNew, kReady, kAtBarrier, kDone } states[kMostRanks];
  int32_t ranks;
  Body body;
  void* data;
} g_fibers;

// Whether a rank runs on the second core. Rank 0 runs where serial code does, on the first one.
static int is_second(int32_t rank) { return g.apart == 0 ? rank != 0 : rank && rank == g.apart; }

static void leave(int state) {
  const int32_t rank = t_rank;
  g_fibers.states[rank] = state;
  swapcontext(&g_fibers.contexts[rank], &g_fibers.callers[is_second(rank)]);
}

static void fiber(void) {
  begin_rank(t_rank);
  g_fibers.body(g_fibers.data);
  end_rank();
  leave(kDone);
}

// Continue a rank on the calling thread until it waits or ends.
static void resume(int32_t rank) {
  ucontext_t* context = &g_fibers.contexts[rank];
  if (g_fibers.states[rank] == kNew) {
    getcontext(context);
    context->uc_stack.ss_sp = g_fibers.stacks + (int64_t)rank * kStack;
    context->uc_stack.ss_size = kStack;
    makecontext(context, fiber, 0);
    g_fibers.states[rank] = kReady;
  }
  t_inside = 1, t_rank = rank, t_ranks = g_fibers.ranks;
  swapcontext(&g_fibers.callers[is_second(rank)], context);
  t_rank = 0;
}

// Run all ranks but 0 until they wait or end; returns whether one waits, but not at a barrier.
static int run_others(void) {
  int ready = 0;
  for (int32_t i = 1; i < t_ranks; ++i) {
    if (g_fibers.states[i] > kReady) continue;
    if (is_second(i)) {
      on_second_core(resume, i);
    } else {
      resume(i);
    }
    ready |= g_fibers.states[i] == kReady;
  }
  return ready;
}

// End the phase when rank 0 reaches a barrier; returns whether other ranks continue.
static int meet(void) {
  while (run_others()) continue;
  int go_on = 0;
  for (int32_t i = 1; i < t_ranks; ++i) go_on |= g_fibers.states[i] == kAtBarrier;
  end_phase(!go_on);
  for (int32_t i = 1; i < t_ranks; ++i) {
    if (g_fibers.states[i] != kAtBarrier) continue;
    g_fibers.states[i] = kReady;
  }
  return go_on;
}

static void begin_region(Body body, void* data, unsigned ranks) {
  t_began = now();
  if (!g_fibers.stacks) {
    const int map = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;
    g_fibers.stacks = mmap(NULL, (size_t)kMostRanks * kStack, PROT_READ | PROT_WRITE, map, -1, 0);
  }
  t_inside = 1;
  t_ranks = g_fibers.ranks = (int32_t)ranks;
  g_fibers.body = body;
  g_fibers.data = data;
  for (int32_t i = 1; i < t_ranks; ++i) g_fibers.states[i] = kNew;
  run_others();
  begin_rank(0);
}

static void end_region(void) {
  end_rank();
  while (meet()) continue;
  t_inside = t_rank = 0;
  t_ranks = 1;
}

SHOWN void GOMP_barrier(void) {
  if (t_ranks <= 1) return;
  end_rank();
  if (t_rank) {
    leave(kAtBarrier);
  } else {
    meet();
  }
  begin_rank(t_rank);
}

// Let other ranks run, since this one waits for them.
static void switch_rank(void) {
  end_rank();
  if (t_rank) {
    leave(kReady);
  } else {
    run_others();
  }
  begin_rank(t_rank);
}
SHOWN int sched_yield(void) {
  if (t_ranks <= 1) return (int)syscall(SYS_sched_yield);
  switch_rank();
  return 0;
}

// Whether there is a pause instruction nearby, as in spin loops. Other pages may not be
// readable.
static int pauses(const unsigned char* at) {
  const uintptr_t page = (uintptr_t)at / 4096;
  for (int i = -16; i < 16; ++i) {
    if ((uintptr_t)(at + i) / 4096 != page || (uintptr_t)(at + i + 1) / 4096 != page) continue;
    if (at[i] == 0xF3 && at[i + 1] == 0x90) return 1;
  }
  return 0;
}

// Handler of the timer's signal. The time spent spinning so far counts as work: at most one check
// interval, and half of that with each further run.
static void check_rank(int number, siginfo_t* info, void* given) {
  (void)number, (void)info;
  const ucontext_t* context = given;
  if (!t_computes) return;
  float* spin = spin_of_rank();
  const float took = (float)(now() - t_rank_began);
  if (!pauses((const unsigned char*)context->uc_mcontext.gregs[REG_RIP])) {
    g.idle = 0;
    t_computes = 0;  // a check due at once must not interrupt this one: they would fill the stack
    if (spin && *spin) check_after(*spin > took ? *spin - took : *spin / 10);
    t_computes = 1;
    return;
  }
  if (spin && (!*spin || took < *spin)) *spin = took;
  if (++g.idle > kIdle) {
    static const char text[] = "ranks wait for each other in a way that cannot be simulated\n";
    (void)!write(2, text, sizeof text - 1);
    _exit(3);
  }
  switch_rank();
}

// Have the calling thread's ranks checked.
static void begin_checks(void) {
  struct sigaction action = {0};
  action.sa_sigaction = check_rank;
  action.sa_flags = SA_SIGINFO | SA_RESTART | SA_NODEFER;
  sigaction(SIGALRM, &action, NULL);
  struct sigevent event = {0};
  event.sigev_notify = SIGEV_THREAD_ID;
  event.sigev_signo = SIGALRM;
  event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
  timer_create(CLOCK_MONOTONIC, &event, &t_timer);
  check_after(kCheck * 1000.0);
}

static int32_t most(void) { return t_most ? t_most : g.team ? g.team : 1; }

// Nested regions have a single rank.
static int is_serial(unsigned ranks) { return t_inside || ranks <= 1 || ranks > kMostRanks; }

SHOWN void GOMP_parallel(Body body, void* data, unsigned ranks, unsigned flags) {
  (void)flags;
  if (!ranks) ranks = (unsigned)most();
  if (is_serial(ranks)) {
    const int32_t inside = t_inside, rank = t_rank, outer = t_ranks;
    t_inside = 1, t_rank = 0, t_ranks = 1;
    body(data);
    t_inside = inside, t_rank = rank, t_ranks = outer;
    return;
  }
  begin_region(body, data, ranks);
  body(data);
  end_region();
}

// The older form: the caller runs rank 0 between the two.
OWN_TO_THREAD int32_t t_depth, t_outer_rank, t_outer_ranks;
SHOWN void GOMP_parallel_start(Body body, void* data, unsigned ranks) {
  if (!ranks) ranks = (unsigned)most();
  if (!is_serial(ranks)) {
    begin_region(body, data, ranks);
  } else if (t_depth++ == 0) {
    t_outer_rank = t_rank, t_outer_ranks = t_ranks;
    t_rank = 0, t_ranks = 1;
  }
}
SHOWN void GOMP_parallel_end(void) {
  if (!t_depth) {
    end_region();
  } else if (--t_depth == 0) {
    t_rank = t_outer_rank, t_ranks = t_outer_ranks;
  }
}

SHOWN int omp_get_max_threads(void) { return most(); }
SHOWN int omp_get_num_threads(void) { return t_ranks; }
SHOWN int omp_get_thread_num(void) { return t_rank; }
SHOWN int omp_in_parallel(void) { return t_inside; }
SHOWN void omp_set_num_threads(int threads) { t_most = threads; }
SHOWN int omp_get_initial_device(void) { return 0; }
SHOWN int omp_pause_resource(int kind, int device) { return (void)kind, (void)device, 0; }

// Each rank has its own CPU.
SHOWN int sched_getcpu(void) { return g.team ? t_rank : 0; }

// --- interface of the benchmark --------------------------------------------------------------
// A rank that runs for seconds is spinning without a pause instruction.
static void* watch(void* unused) {
  for (;; usleep(500000)) {
    const int64_t began = g.rank_began;
    const int64_t took = real_clock(CLOCK_PROCESS_CPUTIME_ID) - began;
    if (!began || took < kStuck * 1000000000LL) continue;
    fputs("ranks wait for each other in a way that cannot be simulated\n", stderr);
    _exit(3);
  }
  return unused;
}

SHOWN void simulate_begin(int32_t team, double fixed, double each, double inner) {
  g.team = team;
  g.fixed = fixed;
  g.each = each;
  g.inner = inner;
  g.log = malloc(kRegions * sizeof *g.log);
  g.took = malloc(kTimes * sizeof *g.took);
  g.spins = calloc(kTimes, sizeof *g.spins);
  pthread_t thread;
  pthread_create(&thread, NULL, watch, NULL);
  t_simulates = 1;
  calibrate();
  if (team > 1) begin_checks();
  g_origin = real_clock(CLOCK_MONOTONIC) - now();
}

// Have a rank run on a core of its own from now on; returns whether there are two.
SHOWN int32_t simulate_apart(int32_t rank) {
  static int began, two;
  if (!began) two = g.team > 1 && begin_second_core(begin_checks);
  began = 1;
  if (two) g.apart = rank;
  return two;
}

SHOWN void simulate_log(int32_t on) {
  g.logging = on;
  if (on) g.regions = g.times = 0;
}
SHOWN int64_t simulate_regions(const Region** regions, const float** took) {
  *regions = g.log;
  *took = g.took;
  return g.regions;
}
