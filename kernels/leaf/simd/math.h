// math.h: elementary functions on vectors of float and double, written once for both.
//
// NaN, infinities, denormals and signed zeros come out as in C's <math.h>; how far results may be
// off, in units in the last place, is data: tests/data/ulp_limits.csv. Coefficients are minimax
// fits of our own. special.h goes on from here with erf, gamma and activations.
#pragma once
#include "leaf/simd/exponential.h"
#include "leaf/simd/hyperbolic.h"
#include "leaf/simd/power.h"
#include "leaf/simd/trigonometric.h"
