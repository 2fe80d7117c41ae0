// The calling thread's OpenMP team.
#include <omp.h>

#include "core/fork.h"
#include "core/threads.h"

void mx::dismiss_team() {
  // A forked process has no team, but the OpenMP runtime would wait for it.
  if (!mx::forked()) omp_pause_resource(omp_pause_soft, omp_get_initial_device());
}
