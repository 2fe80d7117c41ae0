// Batched matrix products: out = alpha * op(lhs) op(rhs) + beta * in[2].
#include "onednn/cache.h"
#include "onednn/halves.h"
#include "onednn/kernels.h"
#include "params/matrix.gen.h"

namespace mx {
namespace onednn {
namespace {

typedef mx_gemm_params P;

// `rows` x `columns` matrices; if transposed, stored as columns x rows.
Layout matrices(int type, int64_t batch, int64_t rows, int64_t columns, bool transposed) {
  const int64_t step = rows * columns;
  return transposed ? Layout::strided({batch, rows, columns}, {step, 1, rows}, type)
                    : Layout::strided({batch, rows, columns}, {step, columns, 1}, type);
}

bool build(const mx_call* call, Job* job) {
  const P& p = *static_cast<const P*>(call->params);
  const bool adds = call->nin > 2;
  const int type = data_type(call->in[0].dtype);
  if (adds && p.alpha != 1)
    return mx_fail("oneDNN: a scaled product plus an addend is not supported") == 0;
  Attributes attributes;
  if (adds) attributes.sum((float)p.beta);
  if (p.alpha != 1) attributes.eltwise(kLinear, (float)p.alpha, 0);
  Layout lhs = matrices(type, p.batch, p.m, p.k, p.transpose_a);
  Layout rhs = matrices(type, p.batch, p.k, p.n, p.transpose_b);
  Layout out = matrices(type, p.batch, p.m, p.n, false);
  dnnl_primitive_desc* description = nullptr;
  const int status = api().matmul_primitive_desc_create(&description, opened().engine, lhs, rhs,
                                                        Layout(), out, attributes.get());
  if (!job->primitive().take(status, description, "matmul") || !in_hardware(job->primitive(), type))
    return false;
  job->input(kSrc, 0, std::move(lhs));
  job->input(kWeights, 1, std::move(rhs));
  job->output(kDst, 0, std::move(out));
  if (adds) job->start_from(2, 0);
  return true;
}

}  // namespace

void register_product() { add_kernel<P, build>("gemm_onednn", kFloats); }

}  // namespace onednn
}  // namespace mx
