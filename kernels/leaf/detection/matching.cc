// "bipartite_matching" (scores of rows and columns): greedy pairs, best first, each row and column
// at most once.
#include "core/parallel_try.h"
#include "leaf/detection/boxes.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
void match(const mx_matching_params& p, const T* scores, T* partner, T* owner, void* memory) {
  const int64_t n = p.rows * p.columns;
  T* key = (T*)memory;
  int32_t* order = (int32_t*)(key + n);
  for (int64_t i = 0; i < p.rows; ++i) partner[i] = -1;
  for (int64_t i = 0; i < p.columns; ++i) owner[i] = -1;
  for (int64_t i = 0; i < n; ++i) {
    const T score = p.ascending ? -scores[i] : scores[i];
    key[i] = score == score ? score : (T)-__builtin_inf();  // NaN comes last
    order[i] = (int32_t)i;
  }
  const int32_t* sorted = by_score(key, order, order + n, n);
  const T threshold = (T)p.threshold;
  int64_t count = 0;
  for (int64_t k = 0; k < n; ++k) {
    const int64_t place = sorted[k], row = place / p.columns, column = place % p.columns;
    const T score = scores[place];
    if (p.ascending ? score > threshold : score < threshold) return;
    if (partner[row] != -1 || owner[column] != -1) continue;
    partner[row] = (T)column;
    owner[column] = (T)row;
    if (p.top > 0 && ++count > p.top) return;  // one more than topk, as in MXNet
  }
}

template <class T>
int bipartite_matching(const mx_call* call) {
  const auto& p = *(const mx_matching_params*)call->params;
  const int64_t n = p.rows * p.columns;
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, (size_t)n * (sizeof(T) + 2 * sizeof(int32_t)) + 1);
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      match(p, data<T>(call->in[0]) + b * n, data<T>(call->out[0]) + b * p.rows,
            data<T>(call->out[1]) + b * p.columns, memory);
    }
    return true;
  });
}

}  // namespace

void register_matching() {
  mx_kernel_add("bipartite_matching", bipartite_matching<float>, MX_BIT(F32), 0);
  mx_kernel_add("bipartite_matching", bipartite_matching<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
