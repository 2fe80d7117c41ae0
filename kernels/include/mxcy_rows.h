/* mxcy_rows.h: rows of tables, for messages between processes: dealing them to owners, gathering,
 * scattering and summing. Row r belongs to owner r modulo the number of owners, as its row
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
/* The place of each of n ascending ids in a list of other ascending ids, or -1. */
MX_API void mx_find_rows(int64_t n, const int64_t* ids, int64_t others, const int64_t* other_ids,
                         int64_t* places);
/* out[i] = rows[places[i]], rows of so many bytes; zeros for negative places. */
MX_API void mx_gather_rows(int64_t n, const int64_t* places, int64_t bytes, const void* rows,
                           void* out);
/* out[places[i]] = rows[i]. */
MX_API void mx_scatter_rows(int64_t n, const int64_t* places, int64_t bytes, const void* rows,
                            void* out);
/* Sum rows of `width` elements of a dtype without float16: counts[t] ascending ids[t] with
 * rows[t], each row in the order of the terms. places: temporary memory, 2 * terms. Returns the
 * number of rows of the sum. */
MX_API int64_t mx_sum_rows(int32_t dtype, int64_t terms, const int64_t* counts,
                           const int64_t* const* ids, const void* const* rows, int64_t width,
                           int64_t* places, int64_t* sum_ids, void* sums);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_ROWS_H_ */
