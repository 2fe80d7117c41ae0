/* mxcy_gradient_bits.h: gradients rounded to one or two bits, for messages between processes.
 *
 * One bit: 1 is +1, 0 is -1. Two bits: 11 is the threshold, 10 minus the threshold, 00 zero. The
 * first element has the highest bits of the first byte; unused bits of the last word of 4 bytes
 * are zero. */
#ifndef MXCY_GRADIENT_BITS_H_
#define MXCY_GRADIENT_BITS_H_

#include "mxcy.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Round n gradients, to which residuals are added, and store the rounding errors as the new
 * residuals. One bit: +1 above the threshold. Two bits: from the threshold on, in both directions.
 * residuals: NULL for none. */
MX_API void mx_round_gradients(int32_t bits, int64_t n, float threshold, const float* gradients,
                               float* residuals, uint8_t* packed);
/* Add the levels of n elements, -1, 0 or 1, to sums of 1 or 2 bytes (`width`) each. */
MX_API void mx_add_gradient_levels(int32_t bits, int64_t n, const uint8_t* packed, int32_t width,
                                   void* sums);
/* Multiply n such sums by a factor. */
MX_API void mx_scale_gradient_levels(int64_t n, int32_t width, const void* sums, float factor,
                                     float* values);

#ifdef __cplusplus
}
#endif
#endif /* MXCY_GRADIENT_BITS_H_ */
