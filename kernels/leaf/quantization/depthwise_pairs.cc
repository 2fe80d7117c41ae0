// "int8_conv_depthwise" with AVX2: depthwise convolutions of channels-last int8 or uint8 data with
// 3 x 3 filters; "int8_conv_depthwise_pack" packs the weights.
//
// Four rows are interleaved in pairs as integers of 16 bits, so that one instruction sums the
// products of two rows; with stride 1 they are used for two output rows.
#include "leaf/quantization/depthwise_bytes.h"

#if MX_ISA_LEVEL == 3
MX_LEAF_BEGIN
namespace {

typedef mx_int8_conv_params P;
constexpr int kPairs = 2;                     // of rows
constexpr int64_t kParts = 4;                 // registers of channels that are interleaved together
constexpr int64_t kStep = 2 * kFilterLanes;   // integers of a register
constexpr int64_t kColumn = kPairs * kStep;   // of a column of the band
constexpr int64_t kFilter = kTaps * kColumn;  // weights of a register of channels, for one row

// Registers of channels.
int64_t parts_of(const P& p) { return ceil_div(p.groups, kFilterLanes); }
int64_t band_bytes(const P& p) { return kParts * columns_of(p) * kColumn * (int64_t)sizeof(Cell); }

struct Work {
  const P& p;
  const uint8_t* in;
  const int16_t* weights;
  const float *scale, *bias;
  char* out;
  float high;

  void rows(int64_t image, int64_t chunk, int64_t first, int16_t* band) const;
  template <bool is_signed>
  void row(const int16_t* band, int64_t part, bool second, char* to) const;
};

// Differences from the zero point of two rows of a column, interleaved.
MX_INLINE Shorts woven(const P& p, __m128i upper, __m128i lower) {
  const __m128i both = _mm_unpacklo_epi8(upper, lower);
  const __m256i wide =
      p.source_type == MX_I8 ? _mm256_cvtepi8_epi16(both) : _mm256_cvtepu8_epi16(both);
  return (Shorts)wide - splat<Shorts>((uint16_t)p.zero);
}

// Interleave the rows [top, top + 4) of a register of channels, for every column under the windows.
void interleave(const P& p, const uint8_t* image, int64_t top, Inside inside, int16_t* band) {
  const uint8_t* row[2 * kPairs];
  for (int64_t y = 0; y < 2 * kPairs; ++y) {
    const bool in = top + y >= 0 && top + y < p.source[1];
    row[y] = in ? image + (top + y) * p.source[2] * p.groups : nullptr;
  }
  const __m128i zero = _mm_set1_epi8((char)p.zero);
  const int64_t columns = columns_of(p), left = p.pad[2], width = p.source[2];
  for (int64_t x = 0; x < columns; ++x, band += kColumn) {
    const bool in = x >= left && x - left < width;
    __m128i r[2 * kPairs];
#pragma GCC unroll 4
    for (int y = 0; y < 2 * kPairs; ++y) {
      if (!in || !row[y]) {
        r[y] = zero;
        continue;
      }
      const uint8_t* from = row[y] + (x - left) * p.groups;
      r[y] = is_whole(inside) ? _mm_loadl_epi64((const __m128i*)from) : first_bytes(from, inside);
    }
#pragma GCC unroll 2
    for (int k = 0; k < kPairs; ++k)
      store((uint16_t*)band + k * kStep, woven(p, r[2 * k], r[2 * k + 1]));
  }
}

// One output row of a register of channels: the first or the second one of the band.
template <bool is_signed>
void Work::row(const int16_t* band, int64_t part, bool second, char* to) const {
  const int64_t channel = part * kFilterLanes, step = p.stride[2] * kColumn, next = p.groups;
  const Inside inside = inside_of(p.groups - channel);
  const VF factor = load_floats(scale + channel, inside), top = splat<VF>(high);
  const VF shift = bias ? load_floats(bias + channel, inside) : VF{};
  const int16_t* own = weights + (2 * part + second) * kFilter;
  Sums w[kTaps * kPairs];
#pragma GCC unroll 6
  for (int i = 0; i < kTaps * kPairs; ++i) w[i] = (Sums)load((const uint16_t*)own + i * kStep);
  const bool cut = p.act != 0;
  for (int64_t x = 0; x < p.target[2]; ++x, band += step, to += next) {
    Sums sum = {};
#pragma GCC unroll 6
    for (int i = 0; i < kTaps * kPairs; ++i)
      add_pair(sum, (Sums)load((const uint16_t*)band + i * kStep), w[i]);
    const Sums numbers[4] = {to_integers(min(fma(to_floats(sum), factor, shift), top))};
    store_bytes<1>(to, narrowed<is_signed>(numbers, cut), &inside);
  }
}

void Work::rows(int64_t image, int64_t chunk, int64_t first, int16_t* band) const {
  const int64_t begin = chunk * kParts;
  const int64_t end = begin + kParts < parts_of(p) ? begin + kParts : parts_of(p);
  const uint8_t* source = in + image * p.source[1] * p.source[2] * p.groups;
  const int64_t own = columns_of(p) * kColumn;
  for (int64_t part = begin; part < end; ++part) {
    const int64_t channel = part * kFilterLanes;
    interleave(p, source + channel, first * p.stride[1] - p.pad[1], inside_of(p.groups - channel),
               band + (part - begin) * own);
  }
  for (int64_t y = first; y < first + rows_at_once(p) && y < p.target[1]; ++y) {
    char* to = out + (image * p.target[1] + y) * p.target[2] * p.groups;
    for (int64_t part = begin; part < end; ++part) {
      const int16_t* from = band + (part - begin) * own;
      char* at = to + part * kFilterLanes;
      p.target_type == MX_I8 ? row<true>(from, part, y > first, at)
                             : row<false>(from, part, y > first, at);
    }
  }
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p))
    return refused("int8_conv_depthwise", reason, what);
  if (what == MX_QUERY_PACKED) return 2 * parts_of(p) * kFilter * (int64_t)sizeof(Cell);
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return workspace_of_any_team([&](int threads) { return threads * band_bytes(p); });
}

int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p)) return mx_fail("int8_conv_depthwise: %s", reason);
  const int threads = threads_with_room(call, [&](int team) { return team * band_bytes(p); });
  if (!threads) return mx_fail("int8_conv_depthwise: the workspace is too small");
  const Work work = {p,
                     data<uint8_t>(call->in[0]),
                     data<int16_t>(call->in[1]),
                     data<float>(call->in[2]),
                     p.bias ? data<float>(call->in[3]) : nullptr,
                     data<char>(call->out[0]),
                     highest(p)};
  const int64_t chunks = ceil_div(parts_of(p), kParts);
  const int64_t bundles = ceil_div(p.target[1], rows_at_once(p));
  const int64_t units = p.batch * bundles * chunks, each = ceil_div(units, threads);
  if (p.target[2] < 1) return 0;
  parallel_for(threads, units, each, [&](int64_t begin, int64_t end) {
    int16_t* band = (int16_t*)((char*)call->workspace + begin / each * band_bytes(p));
    for (int64_t i = begin; i < end; ++i)
      work.rows(i / chunks / bundles, i % chunks, i / chunks % bundles * rows_at_once(p), band);
  });
  return 0;
}

// The weights of each register of channels for the first output row of a band, whose window begins
// in its first row, and for the second.
int pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p)) return mx_fail("int8_conv_depthwise: %s", reason);
  const int8_t* plain = data<int8_t>(call->in[0]);
  int16_t* to = data<int16_t>(call->out[0]);
  for (int64_t i = 0; i < 2 * parts_of(p) * kFilter; ++i) {
    const int64_t channel = i / (2 * kFilter) * kFilterLanes + i % kStep / 2;
    const int64_t second = i / kFilter % 2, tap = i % kFilter / kColumn;
    const int64_t y = i % kColumn / kStep * 2 + i % 2 - second;
    const bool inside = channel < p.groups && y >= 0 && y < kTaps;
    to[i] = inside ? plain[(channel * kTaps + y) * kTaps + tap] : (int16_t)0;
  }
  return 0;
}

}  // namespace

void register_depthwise_pairs() {
  add_with_query("int8_conv_depthwise", run, MX_BIT(I8) | MX_BIT(U8), query);
  add_with_query("int8_conv_depthwise_pack", pack, MX_BIT(I8), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_depthwise_pairs() {}  // other levels have depthwise_bytes.cc, or nothing
MX_LEAF_END
#endif
