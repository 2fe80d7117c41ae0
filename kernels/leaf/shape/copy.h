// Copies and fills for other families, by the bytes of one element (1, 2, 4 or 8).
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

// in[0] to out[0] over the shape of out[0]; both may have strides.
mx_kernel strided_copy(int32_t bytes);

// out[0] filled with the double at call->params.
mx_kernel filler(int32_t bytes);

MX_LEAF_END
