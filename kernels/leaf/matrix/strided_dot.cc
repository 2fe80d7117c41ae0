// Products of matrices embedded in longer rows, such as the heads of attention.
#include <cstring>

#include "core/parallel_try.h"
#include "leaf/matrix/gemm.h"
#include "params/matrix.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_strided_dot_params P;
constexpr int64_t kMoved = 1 << 14;  // minimum number of elements that a thread clears or copies

// Initialise the output that products are added to: with the third input's elements, or zeros.
template <class T>
void start_output(const mx_call* call, const P& p, T* out) {
  const T* base = p.base ? data<T>(call->in[2]) : nullptr;
  if (base == out || (!base && !p.clear)) return;
  parallel_for(call->threads, count(call->out[0]), kMoved, [&](int64_t begin, int64_t end) {
    const size_t bytes = (size_t)(end - begin) * sizeof(T);
    if (base) {
      memcpy(out + begin, base + begin, bytes);
    } else {
      memset(out + begin, 0, bytes);
    }
  });
}

template <class T>
int strided_dot(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const T *lhs = data<T>(call->in[p.lhs]), *rhs = data<T>(call->in[p.rhs]);
  T* out = data<T>(call->out[0]);
  start_output(call, p, out);
  // If there are too few matrices to share evenly, rows are distributed as well.
  const int64_t matrices = p.outer * p.inner, shares = 4 * call->threads;
  const int64_t most = call->threads > 1 && matrices < shares ? matrices * p.m / shares : p.m;
  const int64_t rows = balanced(p.m, most < kTileRows ? kTileRows : most, kTileRows);
  const int64_t blocks = ceil_div(p.m, rows);
  return parallel_try(call->threads, matrices * blocks, 1, [&](int64_t begin, int64_t end) {
    for (int64_t task = begin; task < end; ++task) {
      const int64_t matrix = task / blocks, i = task % blocks * rows;
      auto start = [&](int operand) {
        return p.offset[operand] + matrix / p.inner * p.outer_step[operand] +
               matrix % p.inner * p.inner_step[operand];
      };
      const Matrix<T> left = {lhs + start(0), p.row[0], p.transpose_lhs != 0};
      const Matrix<T> right = {rhs + start(1), p.row[1], p.transpose_rhs == 0};
      if (!gemm_serial(least(rows, p.m - i), p.n, p.k, (T)p.scale, left.from(i), right, (T)0,
                       out + start(2) + i * p.row[2], p.row[2]))
        return false;
    }
    return true;
  });
}

}  // namespace

void register_strided_dot() {
  mx_kernel_add("strided_dot", strided_dot<float>, MX_BIT(F32), 0);
  mx_kernel_add("strided_dot", strided_dot<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
