// Operators that are a single copy between two strided sides, lowered by mxcy/ops/shape/strided.py.
#include "leaf/shape/copy.h"
#include "leaf/simd/cast.h"
#include "leaf/simd/stream.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

enum { NOTHING = 0, FILL = 1, BASE = 2 };  // contents of the output before the copy
constexpr int64_t kGrain = 4096;           // bytes of a contiguous copy

void copy_all(const mx_tensor& from, mx_tensor& to, int64_t bytes, int threads) {
  if (from.data == to.data) return;
  parallel_for(threads, bytes, kGrain, [&](int64_t begin, int64_t end) {
    copy_bytes(data<char>(to) + begin, data<char>(from) + begin, end - begin);
  });
}

int copy_loops(const mx_call* call) {
  const auto* p = static_cast<const mx_copy_params*>(call->params);
  mx_tensor& out = call->out[0];
  const int32_t bytes = element_size(out.dtype);
  if (p->before == BASE) copy_all(call->in[0], out, count(out) * bytes, call->threads);

  char constant[8];
  mx_tensor from = {nullptr, p->shape, p->src, p->ndim, out.dtype};
  if (p->source < 0) {
    cast_row(out.dtype, MX_F64)(constant, &p->scalar, 1);
    from.data = constant;
  } else {
    from.data = data<char>(call->in[p->source]) + p->src_offset * bytes;
  }
  mx_tensor to = {data<char>(out) + p->dst_offset * bytes, p->shape, p->dst, p->ndim, out.dtype};
  mx_call part = *call;
  part.params = &p->scalar;
  if (p->before == FILL) return filled_copy(&part, to, from);
  part.in = &from;
  part.out = &to;
  return strided_copy(bytes)(&part);
}

}  // namespace

void register_copy_loops() { mx_kernel_add("copy_loops", copy_loops, MX_REAL_DTYPES, 0); }
MX_LEAF_END
