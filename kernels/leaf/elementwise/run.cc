// The runners of elemwise.h: how one call becomes rows.
#include "leaf/elementwise/functor.h"

MX_LEAF_BEGIN
namespace {

// A run of elements, shared among threads. Either operand may be one value.
int run(const mx_call* call, const Runner& runner, const void* a, const void* b) {
  char* dst = data<char>(call->out[0]);
  const int step_a = runner.step_a ? runner.in_size : 0,
            step_b = runner.step_b ? runner.in_size : 0;
  parallel_for(call->threads, count(call->out[0]), kGrain, [&](int64_t begin, int64_t end) {
    runner(dst + begin * runner.out_size, (const char*)a + begin * step_a,
           (const char*)b + begin * step_b, end - begin);
  });
  return 0;
}

bool plain(const mx_call* call, int32_t type) {
  return call->threads <= 1 && call->in[0].dtype == type && call->out[0].dtype == type &&
         !beyond_caches(call->out[0]);
}

}  // namespace

int run_unary(const mx_call* call, Row row, int32_t type) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  if (plain(call, type)) {
    row(out.data, in.data, nullptr, count(out));
    return 0;
  }
  return run(call, Runner(row, type, in.dtype, out, true, false), in.data, nullptr);
}

int run_with_scalars(const mx_call* call, Row row, int32_t type, int numbers, bool scalar_first) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  // By way of the array's type: MXNet rounds the scalar of a half or integer array first.
  uint64_t rounded[2], scalars[2];
  cast_row(in.dtype, MX_F64)(rounded, call->params, numbers);
  cast_row(type, in.dtype)(scalars, rounded, numbers);
  const void *a = in.data, *b = scalars;
  if (scalar_first) a = scalars, b = in.data;
  if (plain(call, type)) {
    row(out.data, a, b, count(out));
    return 0;
  }
  return run(call, Runner(row, type, in.dtype, out, !scalar_first, scalar_first), a, b);
}

int run_binary(const mx_call* call, const Rows& rows) {
  const mx_tensor *in = call->in, &out = call->out[0];
  if (plain(call, rows.type)) {
    rows.vv(out.data, in[0].data, in[1].data, count(out));
    return 0;
  }
  return run(call, Runner(rows.vv, rows.type, in[0].dtype, out, true, true), in[0].data,
             in[1].data);
}

MX_LEAF_END
