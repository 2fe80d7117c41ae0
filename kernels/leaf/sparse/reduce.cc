// "csr_sum_rows" and "csr_sum_columns" (data, indices, indptr), also of squares; "csr_gather"
// (dense, indices, indptr), a dense array's elements at the entries.
#include "core/memory/scratch.h"
#include "leaf/simd/runs.h"
#include "leaf/sparse/parts.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

template <bool squares, class T>
MX_INLINE T term(T x) {
  return squares ? x * x : x;
}

// The sum of each row's entries.
template <class S, bool squares>
int sum_rows(const mx_call* call) {
  typedef Sum<S> T;
  const Csr csr(call->in[1], call->in[2]);
  const S* values = data<S>(call->in[0]);
  if (!csr.rows_fit()) return -1;
  for_rows(call->threads, csr, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t begin = csr.indptr[row], n = csr.indptr[row + 1] - begin;
      const double sum = sum_run<T>(n, [](auto x) { return term<squares>(x); }, values + begin);
      store_scalar(data<S>(call->out[0]) + row, (T)sum);
    }
  });
  return 0;
}

// The sum of each column's entries, in row order.
template <class S, bool squares>
int sum_columns(const mx_call* call) {
  typedef Sum<S> T;
  const int64_t columns = ((const mx_csr_params*)call->params)->columns;
  const Csr csr(call->in[1], call->in[2]);
  if (!csr.rows_fit()) return -1;
  S* out = data<S>(call->out[0]);
  T* sums = (T*)out;
  if constexpr (is_half<S>) {
    sums = (T*)scratch(kTempSlot, (size_t)(columns + 1) * sizeof(T));
    if (!sums) return -1;
  }
  memset(sums, 0, (size_t)columns * sizeof(T));
  const S* values = data<S>(call->in[0]);
  for (int64_t k = csr.indptr[0]; k < csr.indptr[csr.rows]; ++k) {
    const int64_t column = csr.indices[k];
    if ((uint64_t)column >= (uint64_t)columns) return Csr::columns_fail(columns);
    sums[column] += term<squares>(scalar_as<T>(values[k]));
  }
  if constexpr (is_half<S>) narrow_row(out, sums, columns);
  return 0;
}

template <class S>
int csr_gather(const mx_call* call) {
  const Csr csr(call->in[1], call->in[2]);
  const int64_t rows = call->in[0].shape[0], columns = call->in[0].shape[1];
  if (!csr.rows_fit() || (columns != 1 && !csr.columns_fit(columns))) return -1;
  if (csr.indptr[0] != 0 || csr.indptr[csr.rows] != csr.stored)
    return mx_fail("indptr: must go from 0 to %lld", (long long)csr.stored);
  const S* dense = data<S>(call->in[0]);
  S* out = data<S>(call->out[0]);
  for_rows(call->threads, csr, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const S* values = dense + (rows == 1 ? 0 : row * columns);
      for (int64_t k = csr.indptr[row]; k < csr.indptr[row + 1]; ++k)
        out[k] = values[columns == 1 ? 0 : csr.indices[k]];
    }
  });
  return 0;
}

template <class S>
void add_sums(uint32_t dtype) {
  mx_kernel_add("csr_sum_rows", sum_rows<S, false>, dtype, 0);
  mx_kernel_add("csr_sum_columns", sum_columns<S, false>, dtype, 0);
  mx_kernel_add("csr_sum_rows_squares", sum_rows<S, true>, dtype, 0);
  mx_kernel_add("csr_sum_columns_squares", sum_columns<S, true>, dtype, 0);
}

}  // namespace

void register_csr_reduce() {
  add_sums<float>(MX_BIT(F32));
  add_sums<double>(MX_BIT(F64));
  add_sums<f16>(MX_BIT(F16));
  add_sums<bf16>(MX_BIT(BF16));
  mx_kernel_add("csr_gather", csr_gather<uint8_t>, MX_BYTE_TYPES, 0);
  mx_kernel_add("csr_gather", csr_gather<uint16_t>, MX_HALF_TYPES, 0);
  mx_kernel_add("csr_gather", csr_gather<uint32_t>, MX_WORD_TYPES, 0);
  mx_kernel_add("csr_gather", csr_gather<uint64_t>, MX_LONG_TYPES, 0);
}
MX_LEAF_END
