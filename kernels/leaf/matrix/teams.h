// Distribution of `batch` matrices over a team: by matrices, or within each.
#pragma once
#include "leaf/leaf.h"

MX_LEAF_BEGIN

struct Teams {
  int outer, inner;
  Teams(int threads, int64_t batch)
      : outer(batch >= threads ? threads : 1), inner(batch >= threads ? 1 : threads) {}
};

MX_LEAF_END
