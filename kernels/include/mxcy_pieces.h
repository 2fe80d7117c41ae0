/* mxcy_pieces.h: sums and updates of an array by several processes that share memory. */
#ifndef MXCY_PIECES_H_
#define MXCY_PIECES_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Values of a rank follow its counters, which begin as zeros. */
#define MX_PIECES_HEADER 4096
enum { MX_PIECES_RANKS = 1024, MX_PIECES_STATES = 8, MX_PIECES_SLOTS = 128 }; /* at most */

/* Elements of a rank's part that are updated alike. */
typedef struct mx_pieces_share {
  int64_t first, length;
  const double* rates; /* the kernel's last input */
  void* const* states;
} mx_pieces_share;

/* An array of `cuts[ranks]` elements, of which rank r sums and updates the part from cuts[r] to
 * cuts[r + 1]. Step i is about piece i of every part. Rank w passes its pieces of a step in one of
 * its `slots`, where that of rank r is at ((r - w - 1) modulo ranks); r adds up what it has got, in
 * the order of ranks, and updates its values. */
typedef struct mx_pieces {
  int64_t ranks, rank, steps, piece /* elements */, slots;
  const int64_t* cuts;
  char *const *inputs, *const *values; /* by rank, in memory that all ranks share */
  int64_t* users; /* of this rank's slots: the last step that used each, of all sessions, from 1 */
  int64_t base;   /* steps of earlier sessions */
  int32_t dtype, streams; /* streams: whether to write past the caches; it is measured */
  /* Of a session: */
  int64_t keys;
  const int64_t* starts;      /* of the keys in the array, and its length */
  const char* const* sources; /* of each key: what this rank passes */
  char* const* targets;       /* take the new values; or NULL */
  mx_kernel kernel;           /* of a weight, its gradient, states and rates; or NULL */
  const void* params;
  char* sums; /* takes sums of this rank's part, for other updates; without, sums are values */
  int64_t nstates, nrates, nshares;
  const mx_pieces_share* shares;          /* all of this rank's part */
  int64_t passed, summed, updated, share; /* steps done; the current share */
  int64_t ready, failed;  /* whether values may change, and whether a kernel has failed */
  int64_t* taken;         /* steps whose values are in the targets, by rank */
  int64_t nanoseconds[2]; /* of passing a piece through the caches, and past them */
} mx_pieces;

/* Results of mx_pieces_advance. */
enum {
  MX_PIECES_WAITS,
  MX_PIECES_READY,
  MX_PIECES_SUMMED,
  MX_PIECES_DONE,
  MX_PIECES_FAILED /* and done */
};

/* Do what can be done without waiting long for others. MX_PIECES_READY: all ranks have begun, so
 * that nobody reads the values of the last session; the caller sets `ready`. MX_PIECES_SUMMED: all
 * sums are in `sums`; the caller updates the values and calls mx_pieces_updated. */
MX_API int mx_pieces_advance(mx_pieces* pieces);
MX_API void mx_pieces_updated(mx_pieces* pieces);
/* The steps that a rank has done in all sessions, from its counters. */
MX_API int64_t mx_pieces_steps(const char* values);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_PIECES_H_ */
