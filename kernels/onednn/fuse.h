// What follows a fused operator: the activations of ops/fused/layer.py by number.
#pragma once
#include "onednn/job.h"

namespace mx {
namespace onednn {

// Append an activation; false with an error text when there is none of that number.
bool append_activation(Attributes* attributes, int act, double alpha, double beta);
// The same as a pass of its own over the output of a job whose primitive is described.
bool describe_activation(int act, double alpha, double beta, Job* job);

}  // namespace onednn
}  // namespace mx
