// A thread on a core of its own that runs functions for the simulating thread, which waits
// meanwhile. Its private caches hold only what it has used itself.
#pragma once
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <x86intrin.h>

enum { kPauses = 1 << 14 };  // between looks whether other programs want this CPU

static struct {
  cpu_set_t cpu;
  int32_t asked;
  void (*work)(int32_t);
  int32_t argument;
  void (*prepare)(void);
} g_second;

static void await(const int32_t* flag, int32_t value) {
  for (int i = 1; __atomic_load_n(flag, __ATOMIC_ACQUIRE) != value; ++i) {
    _mm_pause();
    if (i % kPauses == 0) syscall(SYS_sched_yield);
  }
}

// Have the second core run work(argument).
static void on_second_core(void (*work)(int32_t), int32_t argument) {
  g_second.work = work;
  g_second.argument = argument;
  __atomic_store_n(&g_second.asked, 1, __ATOMIC_RELEASE);
  await(&g_second.asked, 0);
}

static void* serve(void* unused) {
  sched_setaffinity(0, sizeof g_second.cpu, &g_second.cpu);
  g_second.prepare();
  for (;;) {
    __atomic_store_n(&g_second.asked, 0, __ATOMIC_RELEASE);
    await(&g_second.asked, 1);
    g_second.work(g_second.argument);
  }
  return unused;
}

// Bind the calling thread to the first CPU that it may use and start the thread of the second one,
// which calls prepare() first. Returns whether there are two CPUs.
static int begin_second_core(void (*prepare)(void)) {
  cpu_set_t usable, first;
  CPU_ZERO(&first);
  CPU_ZERO(&g_second.cpu);
  if (sched_getaffinity(0, sizeof usable, &usable) != 0 || CPU_COUNT(&usable) < 2) return 0;
  int cpu = 0;
  while (!CPU_ISSET(cpu, &usable)) ++cpu;
  CPU_SET(cpu, &first);
  do ++cpu;
  while (!CPU_ISSET(cpu, &usable));
  CPU_SET(cpu, &g_second.cpu);
  pthread_t thread;
  g_second.asked = 1;
  g_second.prepare = prepare;
  if (pthread_create(&thread, NULL, serve, NULL) != 0) return 0;
  await(&g_second.asked, 0);
  return sched_setaffinity(0, sizeof first, &first) == 0;
}
