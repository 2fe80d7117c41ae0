/* Generated from mxcy/ops/params.py by `python -m mxcy.ops.params --write`. Do not edit. */
#ifndef MXCY_PARAMS_GEN_H_
#define MXCY_PARAMS_GEN_H_
#include <stdint.h>

/* an array and a number: elementwise with a scalar operand */
typedef struct {
  double scalar;
} mx_scalar_params;

#endif
