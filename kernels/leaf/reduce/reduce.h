// reduce.h: what the reduction driver needs from an operator for one dtype.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

union Wide {  // the accumulator: f64 for floating dtypes, i64 for integers
  double f;
  int64_t i;
};

// Runs of elements are reduced in the element type, runs of runs in the wide type. Arrays of
// accumulators have room for whole vectors.
struct Reduction {
  int32_t type, wide_type;
  Wide neutral;
  // accumulator <- accumulator combined with n elements.
  void (*fold)(Wide*, const void* x, int64_t n);
  // columns <- [columns combined with] at most kFoldRows rows.
  void (*fold_rows)(void* columns, const void* x, int64_t stride, int64_t rows, int64_t n,
                    bool first);
  // accumulators <- accumulators combined with columns, or with other accumulators.
  void (*flush)(Wide*, const void* columns, int64_t n);
  void (*join)(Wide*, const Wide*, int64_t n);
  // accumulators or columns of `reduced` elements each -> results.
  void (*finish)(Wide*, int64_t n, int64_t reduced);
  void (*finish_columns)(void* columns, int64_t n, int64_t reduced);
  // fold of floats in memory where `type` is double; NULL: they are converted.
  void (*fold_floats)(Wide*, const void* x, int64_t n);
};
constexpr int64_t kFoldRows = 8;

// Run a call whose params are mx_reduce_params.
int run_reduction(const mx_call* call, const Reduction& op);

MX_LEAF_END
