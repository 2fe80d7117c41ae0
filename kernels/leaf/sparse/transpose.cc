// "csr_transpose" and "csr_transpose_compact" (data, indices, indptr): entries by column and,
// within a column, by row.
#include "leaf/sparse/by_column.h"
#include "leaf/sparse/groups.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

template <class S>
void clear_beyond(const mx_call* call, int64_t used) {
  const int64_t rest = count(call->in[0]) - used;
  memset(data<S>(call->out[0]) + used, 0, (size_t)rest * sizeof(S));
  memset(data<int64_t>(call->out[1]) + used, 0, (size_t)rest * sizeof(int64_t));
}

template <class S>
int csr_transpose(const mx_call* call) {
  const int64_t columns = ((const mx_csr_params*)call->params)->columns;
  const Csr csr(call->in[1], call->in[2]);
  if (!csr.rows_fit() || !csr.columns_fit(columns)) return -1;
  by_column(call->threads, csr, data<S>(call->in[0]), columns, data<int64_t>(call->out[2]),
            data<S>(call->out[0]), data<int64_t>(call->out[1]));
  clear_beyond<S>(call, csr.indptr[csr.rows] - csr.indptr[0]);
  return 0;
}

// --- without empty columns ---------------------------------------------------------------------

struct Compact {
  int64_t *starts, *ids, n;
  void add(int64_t id, int64_t start) {
    ids[n] = id;
    starts[n++] = start;
  }
};

template <class S>
bool compact_by_column(const mx_call* call, const Csr& csr, int64_t columns, Compact* used) {
  int64_t* starts = (int64_t*)scratch(kTempSlot, (size_t)(columns + 1) * sizeof *starts);
  if (!starts) return false;
  by_column(call->threads, csr, data<S>(call->in[0]), columns, starts, data<S>(call->out[0]),
            data<int64_t>(call->out[1]));
  for (int64_t c = 0; c < columns; ++c)
    if (starts[c] < starts[c + 1]) used->add(c, starts[c]);
  return true;
}

template <class S>
bool compact_by_sorting(const mx_call* call, const Csr& csr, int64_t columns, Compact* used) {
  if (csr.stored > UINT32_MAX) return mx_fail("indices: more than %u", UINT32_MAX) == 0;
  const int64_t first = csr.indptr[0], n = csr.indptr[csr.rows] - first;
  Numbered* entries = (Numbered*)scratch(kTempSlot, (size_t)(2 * n + 1) * sizeof *entries);
  int64_t* row_of = (int64_t*)scratch(kSharedSlot, (size_t)(n + 1) * sizeof *row_of);
  if (!entries || !row_of) return false;
  for (int64_t row = 0; row < csr.rows; ++row)
    for (int64_t k = csr.indptr[row]; k < csr.indptr[row + 1]; ++k) row_of[k - first] = row;
  for (int64_t k = 0; k < n; ++k) entries[k] = {csr.indices[first + k], k};
  const Numbered* sorted = sort_ids(entries, entries + n, n, columns);
  const S* values = data<S>(call->in[0]) + first;
  for (int64_t k = 0; k < n; ++k) {
    data<S>(call->out[0])[k] = values[sorted[k].at];
    data<int64_t>(call->out[1])[k] = row_of[sorted[k].at];
    if (!k || sorted[k].id != sorted[k - 1].id) used->add(sorted[k].id, k);
  }
  return true;
}

template <class S>
int csr_transpose_compact(const mx_call* call) {
  const int64_t columns = ((const mx_csr_params*)call->params)->columns;
  const Csr csr(call->in[1], call->in[2]);
  if (!csr.rows_fit() || !csr.columns_fit(columns)) return -1;
  const int64_t entries = csr.indptr[csr.rows] - csr.indptr[0], most = count(call->out[3]);
  Compact used = {data<int64_t>(call->out[2]), data<int64_t>(call->out[3]), 0};
  const bool ok = columns / 8 <= csr.stored ? compact_by_column<S>(call, csr, columns, &used)
                                            : compact_by_sorting<S>(call, csr, columns, &used);
  if (!ok) return -1;
  used.starts[used.n] = entries;
  memset(used.starts + used.n + 1, 0, (size_t)(most - used.n) * sizeof(int64_t));
  memset(used.ids + used.n, 0, (size_t)(most - used.n) * sizeof(int64_t));
  *data<int64_t>(call->out[4]) = used.n;
  clear_beyond<S>(call, entries);
  return 0;
}

// Elements are only moved, so dispatch by size.
template <class S>
void add_kernels(uint32_t dtypes) {
  mx_kernel_add("csr_transpose", csr_transpose<S>, dtypes, 0);
  mx_kernel_add("csr_transpose_compact", csr_transpose_compact<S>, dtypes, 0);
}

}  // namespace

void register_csr_transpose() {
  add_kernels<uint8_t>(MX_BYTE_TYPES);
  add_kernels<uint16_t>(MX_HALF_TYPES);
  add_kernels<uint32_t>(MX_WORD_TYPES);
  add_kernels<uint64_t>(MX_LONG_TYPES);
}
MX_LEAF_END
