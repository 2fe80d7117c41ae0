// The runners of functor.h: how one call becomes rows.
#include "leaf/elementwise/functor.h"

MX_LEAF_BEGIN
namespace {

// Run over all elements, shared among threads. Either operand may be a single value.
int run(const mx_call* call, const Runner& runner, const void* a, const void* b) {
  char* dst = data<char>(call->out[0]);
  const int step_a = runner.step_a ? runner.size_a : 0, step_b = runner.step_b ? runner.size_b : 0;
  parallel_for(call->threads, count(call->out[0]), kGrain, [&](int64_t begin, int64_t end) {
    runner(dst + begin * runner.out_size, (const char*)a + begin * step_a,
           (const char*)b + begin * step_b, end - begin);
  });
  return 0;
}

bool plain(const mx_call* call, int32_t type) {
  return call->threads <= 1 && call->in[0].dtype == type && call->in[call->nin - 1].dtype == type &&
         call->out[0].dtype == type && !beyond_caches(call->out[0]);
}

// Whether a scalar is first cast to the array's dtype, as in classic MXNet; not if that would lose
// more than precision, as in `integer_array + 0.5` of mx.np.
bool rounds_number(const mx_tensor& in, const mx_tensor& out) {
  return in.dtype == MX_F16 || in.dtype == MX_BF16 ||
         (in.dtype == out.dtype && in.dtype != MX_BOOL);
}

}  // namespace

int run_unary(const mx_call* call, const TypedRow& typed) {
  const mx_tensor &in = call->in[0], &out = call->out[0];
  if (plain(call, typed.type)) {
    typed.row(out.data, in.data, nullptr, count(out));
    return 0;
  }
  return run(call, Runner(typed, in.dtype, typed.type, out, true, false), in.data, nullptr);
}

int run_with_scalars(const mx_call* call, const TypedRow& typed, int numbers, bool scalar_first) {
  const int32_t type = typed.type;
  const mx_tensor &in = call->in[0], &out = call->out[0];
  uint64_t rounded[2], scalars[2];
  if (rounds_number(in, out)) {
    cast_row(in.dtype, MX_F64)(rounded, call->params, numbers);
    cast_row(type, in.dtype)(scalars, rounded, numbers);
  } else {
    cast_row(type, MX_F64)(scalars, call->params, numbers);
  }
  for (int i = 0; type == MX_I64 && i < numbers; ++i)  // the cast gives INT64_MIN
    if (((const double*)call->params)[i] >= 0x1p63) scalars[i] = INT64_MAX;
  const void *a = in.data, *b = scalars;
  if (scalar_first) a = scalars, b = in.data;
  if (plain(call, type)) {
    typed.row(out.data, a, b, count(out));
    return 0;
  }
  const int32_t type_a = scalar_first ? type : in.dtype, type_b = scalar_first ? in.dtype : type;
  return run(call, Runner(typed, type_a, type_b, out, !scalar_first, scalar_first), a, b);
}

int run_binary(const mx_call* call, const Rows& rows) {
  const mx_tensor *in = call->in, &out = call->out[0];
  if (plain(call, rows.vv.type)) {
    rows.vv.row(out.data, in[0].data, in[1].data, count(out));
    return 0;
  }
  return run(call, Runner(rows.vv, in[0].dtype, in[1].dtype, out, true, true), in[0].data,
             in[1].data);
}

MX_LEAF_END
