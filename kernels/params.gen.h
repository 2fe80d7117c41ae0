/* Generated from mxcy/ops/params.py by `python -m mxcy.ops.params --write`. Do not edit. */
#ifndef MXCY_PARAMS_GEN_H_
#define MXCY_PARAMS_GEN_H_
#include <stdint.h>

/* an array and a number: elementwise with a scalar operand */
typedef struct {
  double scalar;
} mx_scalar_params;

/* elementwise with two numbers, such as clip */
typedef struct {
  double p;
  double q;
} mx_scalar2_params;

/* a binary operator over a collapsed shape; strides count elements, the last are 0 or 1 */
typedef struct {
  int32_t ndim;
  int64_t shape[32];
  int64_t lhs[32];
  int64_t rhs[32];
} mx_broadcast_params;

/* a reduction over a collapsed shape, whose dimensions are kept and reduced in turn */
typedef struct {
  int32_t ndim;
  int32_t first_reduced;
  int64_t shape[32];
} mx_reduce_params;

#endif
