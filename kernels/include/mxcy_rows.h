/* mxcy_rows.h: rows of tables, for messages between processes: dealing them to owners,
 * copying and summing. Row r belongs to owner r modulo the number of owners, as its row
 * r / owners. */
#ifndef MXCY_ROWS_H_
#define MXCY_ROWS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Group n ids by their owners, in order. counts: of each owner's ids; places: their positions in
 * ids; local: their row numbers at the owner. */
MX_API void mx_deal_rows(int64_t n, const int64_t* ids, int64_t owners, int64_t* counts,
                         int64_t* places, int64_t* local);
/* Select the ids of one owner, in order; places and local have space for n. Returns their number.
 */
MX_API int64_t mx_own_rows(int64_t n, const int64_t* ids, int64_t owners, int64_t owner,
                           int64_t* local, int64_t* places);
/* The place of each of n ascending ids in a list of other ascending ids, or -1. */
MX_API void mx_find_rows(int64_t n, const int64_t* ids, int64_t others, const int64_t* other_ids,
                         int64_t* places);
/* out[to[i]] = rows[from[i]], n rows of so many bytes; zeros for negative places. Without `from` or
 * `to`, i takes its place. stream: other cores read `out` next, not this one. */
MX_API void mx_copy_rows(int64_t n, const int64_t* from, const int64_t* to, int64_t bytes,
                         const void* rows, void* out, bool stream);
/* Sum rows of so many bytes and of a dtype without float16, each row in the order of the terms.
 * Term t has counts[t] ascending ids[t], with the rows at the places from[t] of rows[t], or in
 * order if from[t] is null. places: temporary memory, 2 * terms; stream: other cores read `sums`
 * next. Returns the number of rows of the sum, or -1. */
MX_API int64_t mx_sum_rows(int32_t dtype, int64_t terms, const int64_t* counts,
                           const int64_t* const* ids, const int64_t* const* from,
                           const void* const* rows, int64_t bytes, int64_t* places,
                           int64_t* sum_ids, void* sums, bool stream);
/* Update a table by the same sums, without storing them: a kernel whose inputs are the table, some
 * rows, their ascending ids and states of the table, and which changes these rows only, is called
 * for one piece of the sum after another. dtype: of the kernel and of the rows; params: of the
 * kernel; tables: the table and the states, `count` in all. Returns 0, or -1 with an error text. */
MX_API int mx_update_by_sums(const char* kernel, int32_t dtype, const void* params, int64_t count,
                             const mx_tensor* tables, int64_t terms, const int64_t* counts,
                             const int64_t* const* ids, const int64_t* const* from,
                             const void* const* rows, int64_t bytes, int64_t* places);
/* The same sums for n given ids, ascending and distinct, in their order; zeros for rows that no
 * term has. Terms have their rows in order. places: temporary memory, one per term. Returns false
 * for dtypes that it does not know. */
MX_API bool mx_sum_rows_at(int32_t dtype, int64_t n, const int64_t* wanted, int64_t terms,
                           const int64_t* counts, const int64_t* const* ids,
                           const void* const* rows, int64_t bytes, int64_t* places, void* sums);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_ROWS_H_ */
