/* Print the machine's GFLOP/s of float32 multiply-adds with a given number of threads: chains
 * of independent vector multiply-adds in registers, the best of some rounds. */
#include <omp.h>
#include <stdio.h>
#include <stdlib.h>

#ifdef __AVX512F__
typedef float vector __attribute__((vector_size(64)));
#else
typedef float vector __attribute__((vector_size(32)));
#endif
enum { CHAINS = 12, LANES = sizeof(vector) / sizeof(float) };

/* Keeps the compiler from removing the chains. */
static volatile float sink;

static void chains(long steps) {
  vector sum[CHAINS], factor, summand;
  for (int lane = 0; lane < LANES; ++lane) {
    factor[lane] = 0.999f;
    summand[lane] = 0.001f * (lane + 1);
    for (int i = 0; i < CHAINS; ++i) sum[i][lane] = (float)i;
  }
  for (long step = 0; step < steps; ++step)
#pragma GCC unroll 12
    for (int i = 0; i < CHAINS; ++i) sum[i] = sum[i] * factor + summand;
  for (int i = 0; i < CHAINS; ++i) sink = sum[i][i % LANES];
}

int main(int count, char** arguments) {
  const int threads = count > 1 ? atoi(arguments[1]) : 1;
  const long steps = 2000000;
  double best = 1e30;
  for (int round = 0; round < 10; ++round) {
    const double begin = omp_get_wtime();
#pragma omp parallel num_threads(threads)
    chains(steps);
    const double took = omp_get_wtime() - begin;
    if (took < best) best = took;
  }
  printf("%.1f\n", 2.0 * LANES * CHAINS * (double)steps * threads / best * 1e-9);
  return 0;
}
