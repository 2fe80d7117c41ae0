// "unique_ids", "group_ids", "row_union" and "positions": lists of row indices, which serial code
// sorts faster than memory is read.
#include "leaf/sparse/groups.h"

#include "leaf/sparse/places.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

// Store `n` ids and their number in the outputs, padding the list with zeros.
void finish(const mx_call* call, int outputs, int64_t n) {
  int64_t* ids = data<int64_t>(call->out[0]);
  memset(ids + n, 0, (size_t)(count(call->out[0]) - n) * sizeof *ids);
  *data<int64_t>(call->out[outputs - 1]) = n;
}

// Whether there are few enough ids to sort; sets an error text if not.
bool can_sort(int64_t n) {
  if (n > UINT32_MAX) mx_fail("ids: more than %u", UINT32_MAX);
  return n <= UINT32_MAX;
}
// Sort the numbered ids in the workspace.
const Numbered* sorted_ids(const mx_call* call, const int64_t* ids, int64_t n, int64_t extent) {
  Numbered *numbered = (Numbered*)call->workspace, *spare = numbered + n;
  for (int64_t i = 0; i < n; ++i) numbered[i] = {ids[i], i};
  return sort_ids(numbered, spare, n, extent);
}

int unique_ids(const mx_call* call) {
  const auto& p = *(const mx_ids_params*)call->params;
  const int64_t n = count(call->in[0]);
  int64_t *ids = data<int64_t>(call->out[0]), unique = 0;
  if (!read_ids(ids, call->in[0], p.extent, p.clips)) return -1;
  if (suits_bits(n, p.extent)) {
    IdSet set(p.extent);
    if (!set.ready()) return -1;
    set.add(ids, n);
    unique = set.list(ids);
  } else {
    if (!can_sort(n)) return -1;
    const Numbered* sorted = sorted_ids(call, ids, n, p.extent);
    for (int64_t i = 0; i < n; ++i)
      if (!i || sorted[i].id != sorted[i - 1].id) ids[unique++] = sorted[i].id;
  }
  finish(call, 2, unique);
  return 0;
}

int group_ids(const mx_call* call) {
  const auto& p = *(const mx_ids_params*)call->params;
  const int64_t n = count(call->in[0]);
  int64_t *ids = data<int64_t>(call->out[0]), *starts = data<int64_t>(call->out[1]);
  int64_t *order = data<int64_t>(call->out[2]), unique = 0;
  if (!read_ids(order, call->in[0], p.extent, p.clips)) return -1;
  if (!can_sort(n)) return -1;
  const Numbered* sorted = sorted_ids(call, order, n, p.extent);
  for (int64_t i = 0; i < n; ++i) {
    order[i] = sorted[i].at;
    if (i && sorted[i].id == sorted[i - 1].id) continue;
    starts[unique] = i;
    ids[unique++] = sorted[i].id;
  }
  starts[unique] = n;
  memset(starts + unique + 1, 0, (size_t)(n - unique) * sizeof *starts);
  finish(call, 4, unique);
  return 0;
}

// Merge two ascending lists.
int64_t merge(int64_t* out, const int64_t* a, int64_t na, const int64_t* b, int64_t nb) {
  int64_t i = 0, j = 0, n = 0;
  while (i < na && j < nb) {
    const int64_t x = a[i], y = b[j];
    out[n++] = x < y ? x : y;
    i += x <= y;
    j += y <= x;
  }
  memcpy(out + n, a + i, (size_t)(na - i) * sizeof *out);
  n += na - i;
  memcpy(out + n, b + j, (size_t)(nb - j) * sizeof *out);
  return n + nb - j;
}

int row_union(const mx_call* call) {
  int64_t *ids = data<int64_t>(call->out[0]), *other = (int64_t*)call->workspace;
  int64_t n = 0;
  for (int32_t k = 0; k < call->nin; ++k) {
    const int64_t *list = data<int64_t>(call->in[k]), length = count(call->in[k]);
    if (!ascending(list, length) || (length && list[0] < 0))
      return mx_fail("indices%d: must be sorted, distinct and not negative", k);
    if (n == length && (n == 0 || memcmp(ids, list, (size_t)n * sizeof *ids) == 0)) continue;
    memcpy(other, ids, (size_t)n * sizeof *ids);
    n = merge(ids, other, n, list, length);
  }
  finish(call, 2, n);
  return 0;
}

int positions(const mx_call* call) {
  const int64_t *ids = data<int64_t>(call->in[0]), n = count(call->in[0]);
  const int64_t absent = count(call->in[1]);
  int64_t* out = data<int64_t>(call->out[0]);
  Places places(call->in[1]);
  if (!places.ready(n)) return -1;
  parallel_for(call->threads, n, 1024, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = places.of(ids[i]);
      out[i] = place < 0 ? absent : place;
    }
  });
  return 0;
}

}  // namespace

void register_row_ids() {
  const uint32_t all = MX_REAL_DTYPES;
  mx_kernel_add("unique_ids", unique_ids, all, 0);
  mx_kernel_add("group_ids", group_ids, all, 0);
  mx_kernel_add("row_union", row_union, MX_BIT(I64), 0);
  mx_kernel_add("positions", positions, MX_BIT(I64), 0);
}
MX_LEAF_END
