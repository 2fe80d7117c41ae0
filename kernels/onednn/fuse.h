// Activations in the epilogue of fused operators, numbered as in ops/fused/layer.py.
#pragma once
#include "onednn/job.h"

namespace mx {
namespace onednn {

// Append an activation; false with an error text for an unknown number.
bool append_activation(Attributes* attributes, int act, double alpha, double beta);
// Add the activation as a separate pass over the output of a job whose primitive is described.
bool describe_activation(int act, double alpha, double beta, Job* job);

}  // namespace onednn
}  // namespace mx
