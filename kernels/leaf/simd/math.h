// math.h: elementary functions on vectors of float and double, written once for both.
//
// NaN, infinities, denormals and signed zeros are handled as in C's <math.h>; error limits in ulp
// are listed in tests/data/ulp_limits.csv. Coefficients are our own minimax fits. special.h
// continues with erf, gamma and activations.
#pragma once
#include "leaf/simd/exponential.h"
#include "leaf/simd/hyperbolic.h"
#include "leaf/simd/power.h"
#include "leaf/simd/trigonometric.h"
