// "diagonal_sum": sums along the last of several nested strided loops, such as traces of matrices.
#include "leaf/leaf.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 2048;  // elements that make another thread worthwhile

template <class T, class Sum>
int diagonal_sum(const mx_call* call) {
  const auto* p = static_cast<const mx_copy_params*>(call->params);
  const int last = p->ndim - 1;
  const int64_t n = p->shape[last], step = p->src[last];
  const T* from = data<T>(call->in[0]) + p->src_offset;
  T* to = data<T>(call->out[0]);
  parallel_for(call->threads, count(call->out[0]), kGrain / (n + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const T* x = from;
                   int64_t row = i;
                   for (int d = last - 1; d >= 0; --d) {
                     x += row % p->shape[d] * p->src[d];
                     row /= p->shape[d];
                   }
                   Sum sum = 0;
                   for (int64_t k = 0; k < n; ++k) sum += (Sum)x[k * step];
                   to[i] = (T)sum;
                 }
               });
  return 0;
}

}  // namespace

void register_diagonal() {
  mx_kernel_add("diagonal_sum", diagonal_sum<float, double>, MX_BIT(F32), 0);
  mx_kernel_add("diagonal_sum", diagonal_sum<double, double>, MX_BIT(F64), 0);
  mx_kernel_add("diagonal_sum", diagonal_sum<int32_t, uint32_t>, MX_BIT(I32), 0);
  mx_kernel_add("diagonal_sum", diagonal_sum<int64_t, uint64_t>, MX_BIT(I64), 0);
}
MX_LEAF_END
