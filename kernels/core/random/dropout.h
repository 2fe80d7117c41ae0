// Dropout masks.
#pragma once
#include "mxcy.h"

namespace mx {

// Fill mask with n values: 1 / (1 - p) with probability 1 - p, else 0.
void draw_dropout(mx_rng* rng, int threads, float p, int64_t n, float* mask);
void draw_dropout(mx_rng* rng, int threads, float p, int64_t n, double* mask);

}  // namespace mx
