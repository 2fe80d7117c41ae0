// What follows a fused operator: the activations of ops/fused.py by number.
#pragma once
#include "onednn/layout.h"

namespace mx {
namespace onednn {

// Append an activation; false with an error text when there is none of that number.
bool append_activation(Attributes* attributes, int act, double alpha, double beta);

}  // namespace onednn
}  // namespace mx
