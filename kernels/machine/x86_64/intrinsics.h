// The instructions of vectors by the names that compilers give them.
#pragma once
#include <immintrin.h>

#define MX_FUSED (MX_ISA_LEVEL >= 3)  // whether a product and a sum are one instruction
