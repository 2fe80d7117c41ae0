// Conversion between dense and sparse arrays: "csr_to_dense", "csr_count_nonzero",
// "csr_from_dense", "row_sparse_to_dense", "nonzero_rows".
#include "leaf/simd/cast.h"
#include "leaf/sparse/parts.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

// Whether an element is neither 0 nor -0.
template <class S>
MX_INLINE bool is_nonzero(S x) {
  if constexpr (is_half<S>)
    return (x.bits & 0x7fff) != 0;
  else
    return x != 0;
}

template <class S>
int64_t count_nonzero(const S* elements, int64_t n) {
  int64_t nonzero = 0;
  for (int64_t i = 0; i < n; ++i) nonzero += is_nonzero(elements[i]);
  return nonzero;
}

// --- csr ---------------------------------------------------------------------------------------

template <class S>
int csr_to_dense(const mx_call* call) {
  const int64_t columns = ((const mx_csr_params*)call->params)->columns;
  const Csr csr(call->in[1], call->in[2]);
  if (!csr.rows_fit() || !csr.columns_fit(columns)) return -1;
  const S* values = data<S>(call->in[0]);
  S* out = data<S>(call->out[0]);
  parallel_for(call->threads, csr.rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row) {
      S* dense = out + row * columns;
      memset(dense, 0, (size_t)columns * sizeof(S));
      for (int64_t k = csr.indptr[row]; k < csr.indptr[row + 1]; ++k)
        dense[csr.indices[k]] = values[k];
    }
  });
  return 0;
}

template <class S>
int csr_count_nonzero(const mx_call* call) {
  const int64_t rows = call->in[0].shape[0], columns = call->in[0].shape[1];
  const S* dense = data<S>(call->in[0]);
  int64_t* indptr = data<int64_t>(call->out[0]);
  parallel_for(call->threads, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      indptr[row + 1] = count_nonzero(dense + row * columns, columns);
  });
  indptr[0] = 0;
  for (int64_t row = 0; row < rows; ++row) indptr[row + 1] += indptr[row];
  return 0;
}

// Store the non-zero elements of a row; false unless there are n.
template <class S>
bool pick_nonzero(const S* dense, int64_t columns, S* out, int64_t* indices, int64_t n) {
  constexpr int64_t kStep = 16;
  int64_t k = 0;
  for (int64_t i = 0; i < columns; i += kStep) {
    const int64_t end = least(i + kStep, columns);
    if (!count_nonzero(dense + i, end - i)) continue;
    for (int64_t c = i; c < end; ++c) {
      if (!is_nonzero(dense[c])) continue;
      if (k == n) return false;
      out[k] = dense[c];
      indices[k++] = c;
    }
  }
  return k == n;
}

template <class S>
int csr_from_dense(const mx_call* call) {
  const int64_t columns = call->in[0].shape[1];
  const Csr csr(call->out[1], call->in[1]);
  if (!csr.rows_fit()) return -1;
  bool counted = csr.indptr[0] == 0 && csr.indptr[csr.rows] == csr.stored;
  if (counted) {
    parallel_for(call->threads, csr.rows, 1, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const int64_t begin = csr.indptr[row];
        if (!pick_nonzero(data<S>(call->in[0]) + row * columns, columns,
                          data<S>(call->out[0]) + begin, data<int64_t>(call->out[1]) + begin,
                          csr.indptr[row + 1] - begin)) {
          counted = false;
          return;
        }
      }
    });
  }
  return counted ? 0 : mx_fail("indptr: does not match the number of non-zero elements of data");
}

// --- row_sparse --------------------------------------------------------------------------------

int row_sparse_to_dense(const mx_call* call) {
  const int64_t rows = call->out[0].shape[0], n = count(call->in[1]);
  const int64_t bytes = row_size(call->out[0]) * element_size(call->out[0].dtype);
  const int64_t* indices = data<int64_t>(call->in[1]);
  const char* stored = data<char>(call->in[0]);
  char* out = data<char>(call->out[0]);
  if (!ascending(indices, n)) return mx_fail("indices: must be sorted and distinct");
  if (!within(indices, n, rows))
    return mx_fail("indices: out of bounds for %lld rows", (long long)rows);
  parallel_for(call->threads, rows, 1, [&](int64_t begin, int64_t end) {
    int64_t k = first_from(indices, n, begin);
    for (int64_t row = begin; row < end;) {
      if (k < n && indices[k] == row) {
        memcpy(out + row++ * bytes, stored + k++ * bytes, (size_t)bytes);
        continue;
      }
      const int64_t next = k < n ? least(indices[k], end) : end;
      memset(out + row * bytes, 0, (size_t)((next - row) * bytes));
      row = next;
    }
  });
  return 0;
}

template <class S>
bool any_nonzero(const S* elements, int64_t n) {
  constexpr int64_t kStep = 256;
  for (int64_t i = 0; i < n; i += kStep)
    if (count_nonzero(elements + i, least(n - i, kStep))) return true;
  return false;
}

// Mark non-zero rows first, then list their indices.
template <class S>
int nonzero_rows(const mx_call* call) {
  const int64_t rows = call->in[0].shape[0], size = row_size(call->in[0]);
  const S* dense = data<S>(call->in[0]);
  int64_t* indices = data<int64_t>(call->out[0]);
  parallel_for(call->threads, rows, 1, [&](int64_t begin, int64_t end) {
    for (int64_t row = begin; row < end; ++row)
      indices[row] = any_nonzero(dense + row * size, size);
  });
  int64_t n = 0;
  for (int64_t row = 0; row < rows; ++row)
    if (indices[row]) indices[n++] = row;
  memset(indices + n, 0, (size_t)(rows - n) * sizeof *indices);
  *data<int64_t>(call->out[1]) = n;
  return 0;
}

template <class S>
void add_tests(uint32_t dtype) {
  mx_kernel_add("csr_count_nonzero", csr_count_nonzero<S>, dtype, 0);
  mx_kernel_add("csr_from_dense", csr_from_dense<S>, dtype, 0);
  mx_kernel_add("nonzero_rows", nonzero_rows<S>, dtype, 0);
}

}  // namespace

void register_sparse_casts() {
  mx_kernel_add("csr_to_dense", csr_to_dense<uint8_t>, MX_BYTE_TYPES, 0);
  mx_kernel_add("csr_to_dense", csr_to_dense<uint16_t>, MX_HALF_TYPES, 0);
  mx_kernel_add("csr_to_dense", csr_to_dense<uint32_t>, MX_WORD_TYPES, 0);
  mx_kernel_add("csr_to_dense", csr_to_dense<uint64_t>, MX_LONG_TYPES, 0);
  mx_kernel_add("row_sparse_to_dense", row_sparse_to_dense, MX_REAL_DTYPES, 0);
  add_tests<float>(MX_BIT(F32));
  add_tests<double>(MX_BIT(F64));
  add_tests<f16>(MX_BIT(F16));
  add_tests<bf16>(MX_BIT(BF16));
  add_tests<uint8_t>(MX_BYTE_TYPES);
  add_tests<uint16_t>(MX_BIT(I16) | MX_BIT(U16));
  add_tests<uint32_t>(MX_BIT(I32) | MX_BIT(U32));
  add_tests<uint64_t>(MX_BIT(I64) | MX_BIT(U64));
}
MX_LEAF_END
