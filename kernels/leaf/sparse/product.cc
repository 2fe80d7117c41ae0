// "csr_dot_dense" and "csr_transpose_dot_dense" (data, indices, indptr, matrix),
// "csr_dot_row_sparse" (.., rows, their indices) and "dense_dot_csr" (matrix, data, indices,
// indptr), also with the csr array transposed.
#include "leaf/sparse/product.h"

#include "core/memory/scratch.h"
#include "leaf/simd/transpose.h"
#include "leaf/sparse/by_column.h"
#include "leaf/sparse/places.h"
#include "leaf/sparse/scatter.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

template <class S>
int csr_dot_dense(const mx_call* call) {
  const Csr csr(call->in[1], call->in[2]);
  const mx_tensor& matrix = call->in[3];
  if (!csr.rows_fit()) return -1;
  const int64_t extent = matrix.shape[0], width = matrix.ndim == 1 ? 1 : matrix.shape[1];
  S* out = data<S>(call->out[0]);
  const RowProduct<S, S> product = {data<S>(call->in[0]), csr.indices, data<S>(matrix), width,
                                    csr.stored};
  return try_rows(call->threads, csr, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t begin = csr.indptr[row], end = csr.indptr[row + 1];
      if (!within(csr.indices + begin, end - begin, extent)) return Csr::columns_fail(extent) == 0;
      if (width) product(out + row * width, begin, end);
    }
    return true;
  });
}

// Compact the entries whose rows are stored, together with the positions of these rows.
template <class S>
int csr_dot_row_sparse(const mx_call* call) {
  const Csr csr(call->in[1], call->in[2]);
  const int64_t width = call->in[3].shape[1];
  if (!csr.rows_fit()) return -1;
  Places places(call->in[4]);
  if (!places.ready(csr.stored)) return -1;
  const S* values = data<S>(call->in[0]);
  S* out = data<S>(call->out[0]);
  int64_t* row_at = (int64_t*)call->workspace;
  S* kept = (S*)(row_at + csr.stored);
  const RowProduct<S, S> product = {kept, row_at, data<S>(call->in[3]), width, 0};
  return try_rows(call->threads, csr, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const int64_t begin = csr.indptr[row];
      int64_t end = begin;
      for (int64_t k = begin; k < csr.indptr[row + 1]; ++k) {
        if (csr.indices[k] < 0) return mx_fail("indices: must not be negative") == 0;
        const int64_t place = places.of(csr.indices[k]);
        row_at[end] = place;
        kept[end] = values[k];
        end += place >= 0;
      }
      if (width) product(out + row * width, begin, end);
    }
    return true;
  });
}

// --- the transposed csr array times a matrix -----------------------------------------------------

// From this number of columns on, entries are sorted first, so that each sum is computed at once.
constexpr int64_t kWorthSorting = 16;

template <class S>
int by_sorted_columns(const mx_call* call, const Csr& csr, int64_t columns, int64_t width) {
  int64_t* starts = (int64_t*)call->workspace;
  int64_t* rows = starts + columns + 1;
  S* values = (S*)(rows + csr.stored);
  by_column(call->threads, csr, data<S>(call->in[0]), columns, starts, values, rows);
  const Csr transposed(rows, starts, columns, starts[columns]);
  const RowProduct<S, S> product = {values, rows, data<S>(call->in[3]), width, transposed.stored};
  S* out = data<S>(call->out[0]);
  for_rows(call->threads, transposed, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row)
      product(out + row * width, starts[row], starts[row + 1]);
  });
  return 0;
}

template <class S>
int csr_transpose_dot_dense(const mx_call* call) {
  typedef Sum<S> T;
  const int64_t columns = ((const mx_csr_params*)call->params)->columns;
  const mx_tensor& matrix = call->in[3];
  const Csr csr(call->in[1], call->in[2]);
  if (!csr.rows_fit() || !csr.columns_fit(columns)) return -1;
  const int64_t width = matrix.ndim == 1 ? 1 : matrix.shape[1];
  if (!width) return 0;
  if (width >= kWorthSorting) return by_sorted_columns<S>(call, csr, columns, width);
  const Scatter<S, S> scatter = {csr, data<S>(call->in[0]), data<S>(matrix), width};
  S* out = data<S>(call->out[0]);
  if constexpr (is_half<S>) {
    return scatter_columns(call->threads, scatter, columns, (T*)nullptr,
                           [&](int64_t low, int64_t high, const T* sums) {
                             narrow_row(out + low * width, sums, (high - low) * width);
                           });
  } else {
    return scatter_columns(call->threads, scatter, columns, out, [](int64_t, int64_t, T*) {});
  }
}

// --- dense times csr ---------------------------------------------------------------------------
// Rows of the dense matrix processed at once, as columns of a packed matrix.

constexpr int64_t kSideBySide = 64;

// Rows [first, first + n) of a matrix of `width` columns, transposed, in the accumulation type.
template <class S>
void pack(Sum<S>* packed, const S* matrix, int64_t first, int64_t n, int64_t width, Sum<S>* spare) {
  const S* rows = matrix + first * width;
  if constexpr (is_half<S>) {
    for (int64_t row = 0; row < n; ++row) {
      widen_row(spare, rows + row * width, width);
      for (int64_t i = 0; i < width; ++i) packed[i * n + row] = spare[i];
    }
  } else {
    transpose(packed, n, rows, width, width, n);
  }
}

// Columns [at, at + width) of rows [first, first + n) of `out`, which has `columns` columns.
template <class S>
void unpack(S* out, int64_t columns, int64_t first, int64_t n, int64_t at, int64_t width,
            const Sum<S>* packed) {
  S* rows = out + first * columns + at;
  if constexpr (is_half<S>) {
    for (int64_t row = 0; row < n; ++row)
      for (int64_t i = 0; i < width; ++i)
        store_scalar(rows + row * columns + i, packed[i * n + row]);
  } else {
    transpose(rows, columns, packed, n, n, width);
  }
}

// out (batch, rows of the csr array) = matrix (batch, columns) . csr transposed.
template <class S>
int by_transposed(const mx_call* call, const Csr& csr, int64_t columns) {
  typedef Sum<S> T;
  constexpr int64_t kTile = 64;
  const S *matrix = data<S>(call->in[0]), *values = data<S>(call->in[1]);
  const int64_t batch = call->in[0].shape[0], most = least(batch, kSideBySide);
  T* packed = (T*)scratch(kSharedSlot, (size_t)((most + 1) * columns + 1) * sizeof(T));
  if (!packed) return -1;
  for (int64_t first = 0; first < batch; first += kSideBySide) {
    const int64_t n = least(batch - first, kSideBySide);
    pack(packed, matrix, first, n, columns, packed + most * columns);
    const RowProduct<S, T> product = {values, csr.indices, packed, n, csr.stored};
    const int status = try_rows(call->threads, csr, [&](int64_t low, int64_t high) {
      T* sums = (T*)scratch(kTempSlot, (size_t)(kTile * n) * sizeof(T));
      if (!sums) return false;
      for (int64_t row = low; row < high; row += kTile) {
        const int64_t tile = least(high - row, kTile);
        for (int64_t i = 0; i < tile; ++i)
          product(sums + i * n, csr.indptr[row + i], csr.indptr[row + i + 1]);
        unpack(data<S>(call->out[0]), csr.rows, first, n, row, tile, sums);
      }
      return true;
    });
    if (status) return status;
  }
  return 0;
}

// out (batch, columns) = matrix (batch, rows) . csr.
template <class S>
int by_rows(const mx_call* call, const Csr& csr, int64_t columns) {
  typedef Sum<S> T;
  const int64_t batch = call->in[0].shape[0], most = least(batch, kSideBySide);
  T* packed = (T*)scratch(kSharedSlot, (size_t)((most + 1) * csr.rows + 1) * sizeof(T));
  if (!packed) return -1;
  for (int64_t first = 0; first < batch; first += kSideBySide) {
    const int64_t n = least(batch - first, kSideBySide);
    pack(packed, data<S>(call->in[0]), first, n, csr.rows, packed + most * csr.rows);
    const Scatter<S, T> scatter = {csr, data<S>(call->in[1]), packed, n};
    const auto finish = [&](int64_t low, int64_t high, const T* sums) {
      unpack(data<S>(call->out[0]), columns, first, n, low, high - low, sums);
    };
    if (scatter_columns(call->threads, scatter, columns, (T*)nullptr, finish) != 0) return -1;
  }
  return 0;
}

template <class S>
int dense_dot_csr(const mx_call* call) {
  const auto& p = *(const mx_csr_params*)call->params;
  const Csr csr(call->in[2], call->in[3]);
  if (!csr.rows_fit() || !csr.columns_fit(p.columns)) return -1;
  if (count(call->out[0]) == 0) return 0;
  return p.transposed ? by_transposed<S>(call, csr, p.columns) : by_rows<S>(call, csr, p.columns);
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("csr_dot_dense", csr_dot_dense<S>, dtype, 0);
  mx_kernel_add("csr_transpose_dot_dense", csr_transpose_dot_dense<S>, dtype, 0);
  mx_kernel_add("csr_dot_row_sparse", csr_dot_row_sparse<S>, dtype, 0);
  mx_kernel_add("dense_dot_csr", dense_dot_csr<S>, dtype, 0);
}

}  // namespace

void register_csr_product() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
}
MX_LEAF_END
