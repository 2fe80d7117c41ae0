// Sums of products of unsigned and signed bytes in registers: some pixels times at most
// kMaxVectors registers of filters, and their conversion to bytes or floats.
#pragma once
#include "leaf/quantization/byte_lanes.h"

#if MX_ISA_LEVEL >= 3

MX_LEAF_BEGIN

constexpr int kMaxRuns = 256;      // contiguous runs under a window
constexpr uint8_t kMiddle = 0x80;  // an int8 zero as an unsigned byte

// The summation range: `runs` of `bytes` (a multiple of kLaneProducts) at offsets from each pixel's
// first byte.
struct ByteReach {
  int runs;
  int64_t bytes;
  int64_t offset[kMaxRuns];
};

// Destination and conversion of the sums: rows of `filters` results per pixel. With type MX_I32 the
// sums are stored unconverted, and only `out` and `filters` matter.
struct ByteSink {
  void* out;
  const void* other;          // the residual, or NULL
  const float *scale, *bias;  // per filter; bias may be NULL
  int64_t filters;
  float other_scale, high;  // upper bound of results
  bool positive;            // lower bound 0
  bool bounded = false;     // whether all results fit in 32 bits before that
  int32_t type, other_type;
};

int most_pixels(int vectors);

// Initial values of the sums: `step` elements apart per pixel, or with 0 the same for all.
struct ByteStart {
  const int32_t* sums;
  int64_t step;
};

// Sums of `pixels` <= most_pixels(vectors), whose windows begin at `from`, and `vectors` <=
// kMaxVectors registers of filters, from `filter` on. Weights are
// [run][group][filter][kLaneProducts]; results go to the rows from `pixel` on.
void sum_bytes(int pixels, int vectors, const Cell* const* from, const ByteReach& reach,
               const int8_t* weights, const ByteStart& start, const ByteSink& sink, int64_t pixel,
               int64_t filter);

// Convert sums in aligned memory: `pixels` rows, `step` elements apart, of 1 or 2 registers of
// filters.
void finish_rows(const int32_t* sums, int64_t step, int64_t pixels, int vectors,
                 const ByteSink& sink, int64_t pixel, int64_t filter);

MX_LEAF_END
#endif
