// "linspace": evenly spaced numbers, computed in double.
#include "leaf/leaf.h"
#include "params/elementwise.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 4096;  // elements that make another thread worthwhile

template <class T>
int linspace(const mx_call* call) {
  const auto& p = *static_cast<const mx_linspace_params*>(call->params);
  T* out = data<T>(call->out[0]);
  const int64_t n = count(call->out[0]);
  parallel_for(call->threads, n, kGrain, [&](int64_t begin, int64_t end) {
    const double start = p.start, step = p.step;
#pragma GCC ivdep
    for (int64_t i = begin; i < end; ++i) out[i] = (T)((double)i * step + start);
  });
  if (p.has_last && n > 1) out[n - 1] = (T)p.last;
  return 0;
}

}  // namespace

void register_linspace() {
  mx_kernel_add("linspace", linspace<float>, MX_BIT(F32), 0);
  mx_kernel_add("linspace", linspace<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
