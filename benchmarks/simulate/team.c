// An OpenMP runtime in which one thread plays a team of N, and a clock that tells what N would have
// taken. Loaded before others (LD_PRELOAD), so that libmxcy and oneDNN find these functions in the
// place of libgomp's: every rank of a region runs in turn, alone on its core, and is timed.
//
// The clock stands still while a rank runs that others would have run at the same time: a region
// takes as long as its longest rank and the barrier. So what the library decides by measuring (one
// thread or all, which algorithm) it decides as on a machine with N cores.
#define _GNU_SOURCE
#include <dlfcn.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>
#include <x86intrin.h>

#define SHOWN __attribute__((visibility("default")))
#define OWN_TO_THREAD static __thread

typedef void (*Body)(void*);

// What a region was; its ranks' times are `ranks` floats of the log, from `first` on.
typedef struct {
  int64_t began;    // nanoseconds, of the simulated clock
  int64_t longest;  // what it took by that clock: its longest rank and the barrier
  int64_t first;
  int32_t ranks, unused;
} Region;

enum { kRegions = 1 << 16, kTimes = 1 << 22, kMostRanks = 1024, kStuck = 5, kHands = 1000, kBatch = 100 };

static struct {
  int32_t team;
  double fixed, each;  // nanoseconds of a barrier, and of each of its threads
  int64_t sweep;       // bytes written over before each rank, so that it finds cold caches
  char* swept;
  int64_t saved;  // nanoseconds that the simulated clock is behind the thread's
  int32_t logging;
  int64_t regions, times;
  Region* log;
  float* took;
  volatile int64_t rank_began;  // for the watchdog; 0: no rank is running
  const void* volatile body;
} g;

OWN_TO_THREAD int32_t t_most;  // what omp_set_num_threads said, 0: nothing
OWN_TO_THREAD int32_t t_inside, t_rank, t_ranks = 1;
OWN_TO_THREAD int64_t t_began, t_rank_began;
OWN_TO_THREAD const void* t_body;
static float t_took[kMostRanks];  // one thread at a time computes

static int64_t real_clock(clockid_t clock) {
  struct timespec t;
  syscall(SYS_clock_gettime, clock, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

// The clock of the thread that plays: its time on a CPU, so that others' programs do not count.
// What reading it costs is taken off again.
static int64_t g_cost, g_origin;
OWN_TO_THREAD int32_t t_plays;
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
  if (clock != CLOCK_MONOTONIC || !t_plays) return (int)syscall(SYS_clock_gettime, clock, t);
  const int64_t told = g_origin + now();
  t->tv_sec = told / 1000000000;
  t->tv_nsec = told % 1000000000;
  return 0;
}

// --- regions ----------------------------------------------------------------------------------
static void begin_rank(int32_t rank) {
  t_rank = rank;
  if (g.sweep) {
    for (int64_t i = 0; i < g.sweep; i += 64) ++g.swept[i];
  }
  g.body = t_body;
  t_rank_began = now();
  g.rank_began = real_clock(CLOCK_MONOTONIC);
}

static void end_rank(void) {
  t_took[t_rank] = (float)(now() - t_rank_began);
  g.rank_began = 0;
}

static void begin_region(Body body, unsigned ranks) {
  t_inside = 1;
  t_ranks = (int32_t)ranks;
  t_body = (const void*)body;
  t_began = now();
}

static double barrier(int32_t ranks) { return g.fixed + g.each * ranks; }

static void end_region(void) {
  float longest = 0;
  for (int32_t i = 0; i < t_ranks; ++i)
    if (t_took[i] > longest) longest = t_took[i];
  const int64_t took = (int64_t)(longest + barrier(t_ranks));
  if (g.logging && g.regions < kRegions && g.times + t_ranks <= kTimes) {
    memcpy(g.took + g.times, t_took, (size_t)t_ranks * sizeof *t_took);
    g.log[g.regions++] = (Region){g_origin + t_began, took, g.times, t_ranks, 0};
    g.times += t_ranks;
  }
  const int64_t saved = now() - t_began - took;
  g.saved += saved;
  t_inside = t_rank = 0;
  t_ranks = 1;
}

static int32_t most(void) { return t_most ? t_most : g.team ? g.team : 1; }

SHOWN void GOMP_parallel(Body body, void* data, unsigned ranks, unsigned flags) {
  (void)flags;
  if (!ranks) ranks = (unsigned)most();
  if (t_inside || ranks <= 1 || ranks > kMostRanks) {
    const int32_t inside = t_inside, rank = t_rank, outer = t_ranks;
    t_inside = 1, t_rank = 0, t_ranks = 1;
    body(data);
    t_inside = inside, t_rank = rank, t_ranks = outer;
    return;
  }
  begin_region(body, ranks);
  for (int32_t i = 0; i < (int32_t)ranks; ++i) {
    begin_rank(i);
    body(data);
    end_rank();
  }
  end_region();
}

// The older form: the caller runs rank 0 between the two. Nested regions are of one rank.
OWN_TO_THREAD int32_t t_depth, t_outer_rank, t_outer_ranks;
SHOWN void GOMP_parallel_start(Body body, void* data, unsigned ranks) {
  if (!ranks) ranks = (unsigned)most();
  if (t_inside || ranks <= 1 || ranks > kMostRanks) {
    if (t_depth++ == 0) {
      t_outer_rank = t_rank, t_outer_ranks = t_ranks;
      t_rank = 0, t_ranks = 1;
    }
    return;
  }
  begin_region(body, ranks);
  for (int32_t i = 1; i < (int32_t)ranks; ++i) {
    begin_rank(i);
    body(data);
    end_rank();
  }
  begin_rank(0);
}
SHOWN void GOMP_parallel_end(void) {
  if (t_depth) {
    if (--t_depth == 0) t_rank = t_outer_rank, t_ranks = t_outer_ranks;
    return;
  }
  end_rank();
  end_region();
}

// A barrier inside a region would need all ranks at once; nothing here uses one.
SHOWN void GOMP_barrier(void) {
  if (t_inside && t_ranks > 1) {
    fputs("a barrier inside a region cannot be played\n", stderr);
    _exit(3);
  }
}
SHOWN int omp_get_max_threads(void) { return most(); }
SHOWN int omp_get_num_threads(void) { return t_ranks; }
SHOWN int omp_get_thread_num(void) { return t_rank; }
SHOWN int omp_in_parallel(void) { return t_inside; }
SHOWN void omp_set_num_threads(int threads) { t_most = threads; }
SHOWN int omp_get_initial_device(void) { return 0; }
SHOWN int omp_pause_resource(int kind, int device) { return (void)kind, (void)device, 0; }

// Ranks are on CPUs of their own.
SHOWN int sched_getcpu(void) { return g.team ? t_rank : 0; }

// --- what the benchmark calls -----------------------------------------------------------------
// A rank that runs for seconds waits for one that has not begun.
static void* watch(void* unused) {
  for (;; usleep(500000)) {
    const int64_t began = g.rank_began;
    if (!began || real_clock(CLOCK_MONOTONIC) - began < kStuck * 1000000000LL) continue;
    Dl_info info = {0};
    dladdr(g.body, &info);
    fprintf(stderr, "ranks of %s+%#lx wait for each other: that cannot be played\n",
            info.dli_fname ? info.dli_fname : "?", (char*)g.body - (char*)info.dli_fbase);
    _exit(3);
  }
  return unused;
}

SHOWN void simulate_begin(int32_t team, double fixed, double each, int64_t sweep) {
  g.fixed = fixed;
  g.each = each;
  g.sweep = sweep;
  free(g.swept);
  g.swept = calloc((size_t)sweep + 64, 1);
  if (!g.log) {
    g.log = malloc(kRegions * sizeof *g.log);
    g.took = malloc(kTimes * sizeof *g.took);
    pthread_t thread;
    pthread_create(&thread, NULL, watch, NULL);
  }
  g.team = team;
  t_plays = 1;
  calibrate();
  g_origin = real_clock(CLOCK_MONOTONIC) - now();
}

// Nanoseconds in which a line of memory goes from one core to another: two threads hand it to and fro.
static volatile int64_t g_line[16];
static void* answer(void* unused) {
  for (int64_t i = 1; i < kHands; i += 2) {
    while (__atomic_load_n(g_line, __ATOMIC_ACQUIRE) != i) _mm_pause();
    __atomic_store_n(g_line, i + 1, __ATOMIC_RELEASE);
  }
  return unused;
}
SHOWN double simulate_handover(void) {
  double best = 1e9;
  for (int turn = 0; turn < 20; ++turn) {
    pthread_t other;
    g_line[0] = 0;
    if (pthread_create(&other, NULL, answer, NULL) != 0) return -1;
    int64_t began = 0;
    for (int64_t i = 0; i < kHands; i += 2) {
      if (i % kBatch == 0) began = real_clock(CLOCK_MONOTONIC);
      __atomic_store_n(g_line, i + 1, __ATOMIC_RELEASE);
      while (__atomic_load_n(g_line, __ATOMIC_ACQUIRE) != i + 2) _mm_pause();
      const double each = (double)(real_clock(CLOCK_MONOTONIC) - began) / kBatch;
      if (i % kBatch == kBatch - 2 && each < best) best = each;
    }
    pthread_join(other, NULL);
  }
  return best;
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
