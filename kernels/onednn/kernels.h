// Functions that register each family's kernels once the library is open.
#pragma once

namespace mx {
namespace onednn {

void register_conv();
void register_conv_train();
void register_int8();
void register_fc();
void register_pool();
void register_norm();
void register_softmax();
void register_product();
void register_elementwise();
void register_rnn();

}  // namespace onednn
}  // namespace mx
