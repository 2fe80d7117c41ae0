// Pushes trivial operations from one thread, everything on one core. Prints the best rate per second
// over several runs, for operations on one variable, on two of eight, and in bulks.
#include <sched.h>

#include <chrono>
#include <cstdio>

#include "mxcy_engine.h"

namespace {

mx_var* vars[8];

int run(void*) { return 0; }

void push(int i, int nvars) {
  mx_var* const used[] = {vars[nvars == 1 ? 0 : i & 7], vars[(i >> 1 | 1) & 7]};
  const int32_t access[] = {MX_WRITES, MX_READS};
  mx_operation operation{};
  operation.run = run;
  operation.name = "trivial";
  operation.place = "program.py:1";
  operation.vars = used;
  operation.access = access;
  operation.nvars = nvars;
  mx_engine_push(&operation);
}

double measure(int nvars, int bulk) {
  constexpr int kPushes = 200000;
  double best = 0;
  mx_engine_set_bulk(bulk);
  for (int k = 0; k < 7; ++k) {
    const auto start = std::chrono::steady_clock::now();
    for (int i = 0; i < kPushes; ++i) push(i, nvars);
    mx_engine_wait_all(-1);
    const std::chrono::duration<double> seconds = std::chrono::steady_clock::now() - start;
    if (kPushes / seconds.count() > best) best = kPushes / seconds.count();
  }
  return best;
}

}  // namespace

int main() {
  cpu_set_t one;
  CPU_ZERO(&one);
  CPU_SET(sched_getcpu(), &one);
  sched_setaffinity(0, sizeof one, &one);
  for (mx_var*& var : vars) var = mx_var_create();
  printf("%.0f\n", measure(1, 0));
  printf("%.0f\n", measure(2, 0));
  printf("%.0f\n", measure(2, 16));
  return 0;
}
