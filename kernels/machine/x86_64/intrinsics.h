// The instructions of vectors by the names that compilers give them.
#pragma once

// GCC 12 warns of operands that its own header leaves undefined on purpose.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wuninitialized"
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop

#define MX_FUSED (MX_ISA_LEVEL >= 3)  // whether a product and a sum are one instruction
