// Measures what threads of different cores cost each other: the transfer of a cache line, and a
// barrier inside a parallel region. Compiled with OpenMP, apart from team.c, which replaces it.
#include <omp.h>
#include <pthread.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>
#include <x86intrin.h>

enum { kHands = 1000, kBatch = 100, kTurns = 20 };

static int64_t g_line[16];

static int64_t real_time(void) {
  struct timespec t;
  clock_gettime(CLOCK_MONOTONIC, &t);
  return t.tv_sec * 1000000000LL + t.tv_nsec;
}

static void* answer(void* unused) {
  for (int64_t i = 1; i < kHands; i += 2) {
    while (__atomic_load_n(g_line, __ATOMIC_ACQUIRE) != i) _mm_pause();
    __atomic_store_n(g_line, i + 1, __ATOMIC_RELEASE);
  }
  return unused;
}

// Nanoseconds for transferring a cache line between cores: two threads pass it back and forth. -1
// without a second thread.
double simulate_handover(void) {
  double best = 1e9;
  for (int turn = 0; turn < kTurns; ++turn) {
    pthread_t other;
    g_line[0] = 0;
    if (pthread_create(&other, NULL, answer, NULL) != 0) return -1;
    int64_t began = 0;
    for (int64_t i = 0; i < kHands; i += 2) {
      if (i % kBatch == 0) began = real_time();
      __atomic_store_n(g_line, i + 1, __ATOMIC_RELEASE);
      while (__atomic_load_n(g_line, __ATOMIC_ACQUIRE) != i + 2) _mm_pause();
      const double each = (double)(real_time() - began) / kBatch;
      if (i % kBatch == kBatch - 2 && each < best) best = each;
    }
    pthread_join(other, NULL);
  }
  return best;
}

// Nanoseconds of a barrier of two threads inside a region.
double simulate_meeting(void) {
  double best = 1e9;
#pragma omp parallel num_threads(2)
  {
    for (int turn = 0; turn < kTurns * kBatch; ++turn) {
      const int64_t began = real_time();
      for (int i = 0; i < kBatch; ++i) {
#pragma omp barrier
      }
      const double each = (double)(real_time() - began) / kBatch;
      if (omp_get_thread_num() == 0 && each < best) best = each;
    }
  }
  return best;
}
