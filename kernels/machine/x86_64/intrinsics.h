// Vector instructions by their intrinsics' names.
#pragma once

// GCC 12 warns about operands that its own header leaves undefined on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#define MX_FUSED (MX_ISA_LEVEL >= 3)  // whether a multiply-add is one instruction
