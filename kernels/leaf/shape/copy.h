// Copies and fills for other families, by element size (1, 2, 4 or 8 bytes).
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

// in[0] to out[0] over the shape of out[0]; both may have strides.
mx_kernel strided_copy(int32_t bytes);

// Copy `from` to `to`, a part of the dense out[0], and fill the rest of out[0] with the double at
// call->params.
int filled_copy(const mx_call* call, const mx_tensor& to, const mx_tensor& from);

MX_LEAF_END
