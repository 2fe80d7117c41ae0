// "int8_conv_depthwise" with VNNI: depthwise convolutions of channels-last int8 or uint8 data with
// 3 x 3 filters; "int8_conv_depthwise_pack" packs the weights.
//
// The bytes of four rows are interleaved column by column, so that one instruction sums the
// products of a filter column; with stride 1 they are used for two output rows.
#include "leaf/quantization/depthwise_bytes.h"

#if MX_ISA_LEVEL == 4
MX_LEAF_BEGIN
namespace {

typedef mx_int8_conv_params P;
constexpr int kParts = 4;  // registers of sums per register of bytes
constexpr int kWide = 64, kHalf = 32;

// sum += u[0] * s[0] + ... + u[3] * s[3] in each lane, of unsigned and signed bytes.
MX_INLINE void multiply_add(__m512i& sum, __m512i u, __m512i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}
MX_INLINE void multiply_add(__m256i& sum, __m256i u, __m256i s) {
  __asm__("vpdpbusd %2, %1, %0" : "+v"(sum) : "v"(u), "v"(s));
}

// Registers of 64 and of 32 channels.
struct Wide {
  typedef __m512i Bytes;
  typedef __m512 Floats;
  static constexpr int channels = kWide;
  static Bytes splat(uint8_t x) { return _mm512_set1_epi8((char)x); }
  static Bytes load(const void* p) { return _mm512_loadu_si512(p); }
  static Bytes load(const void* p, uint64_t inside) { return _mm512_maskz_loadu_epi8(inside, p); }
  static void store(void* p, Bytes x) { _mm512_storeu_si512(p, x); }
  static void store(void* p, Bytes x, uint64_t inside) { _mm512_mask_storeu_epi8(p, inside, x); }
  static Bytes flipped(Bytes x, Bytes y) { return _mm512_xor_si512(x, y); }
  static Bytes low8(Bytes x, Bytes y) { return _mm512_unpacklo_epi8(x, y); }
  static Bytes high8(Bytes x, Bytes y) { return _mm512_unpackhi_epi8(x, y); }
  static Bytes low16(Bytes x, Bytes y) { return _mm512_unpacklo_epi16(x, y); }
  static Bytes high16(Bytes x, Bytes y) { return _mm512_unpackhi_epi16(x, y); }
  static Bytes down(Bytes x) { return _mm512_slli_epi32(x, 8); }
  static Bytes less(Bytes x, Bytes y) { return _mm512_sub_epi32(x, y); }
  static Floats floats(const float* p) { return _mm512_loadu_ps(p); }
  static Floats splat(float x) { return _mm512_set1_ps(x); }
  static Bytes finished(Bytes sum, Floats scale, Floats bias, Floats high) {
    const Floats x = _mm512_fmadd_ps(_mm512_cvtepi32_ps(sum), scale, bias);
    return _mm512_cvtps_epi32(_mm512_min_ps(x, high));
  }
  static Bytes joined(Bytes x, Bytes y) { return _mm512_packs_epi32(x, y); }
  static Bytes unsigned_joined(Bytes x, Bytes y) { return _mm512_packus_epi16(x, y); }
  static Bytes signed_joined(Bytes x, Bytes y) { return _mm512_packs_epi16(x, y); }
  static Bytes positive(Bytes x) { return _mm512_max_epi8(x, _mm512_setzero_si512()); }
};

struct Half {
  typedef __m256i Bytes;
  typedef __m256 Floats;
  static constexpr int channels = kHalf;
  static Bytes splat(uint8_t x) { return _mm256_set1_epi8((char)x); }
  static Bytes load(const void* p) { return _mm256_loadu_si256((const Bytes*)p); }
  static Bytes load(const void* p, uint64_t inside) {
    return _mm256_maskz_loadu_epi8((uint32_t)inside, p);
  }
  static void store(void* p, Bytes x) { _mm256_storeu_si256((Bytes*)p, x); }
  static void store(void* p, Bytes x, uint64_t inside) {
    _mm256_mask_storeu_epi8(p, (uint32_t)inside, x);
  }
  static Bytes flipped(Bytes x, Bytes y) { return _mm256_xor_si256(x, y); }
  static Bytes low8(Bytes x, Bytes y) { return _mm256_unpacklo_epi8(x, y); }
  static Bytes high8(Bytes x, Bytes y) { return _mm256_unpackhi_epi8(x, y); }
  static Bytes low16(Bytes x, Bytes y) { return _mm256_unpacklo_epi16(x, y); }
  static Bytes high16(Bytes x, Bytes y) { return _mm256_unpackhi_epi16(x, y); }
  static Bytes down(Bytes x) { return _mm256_slli_epi32(x, 8); }
  static Bytes less(Bytes x, Bytes y) { return _mm256_sub_epi32(x, y); }
  static Floats floats(const float* p) { return _mm256_loadu_ps(p); }
  static Floats splat(float x) { return _mm256_set1_ps(x); }
  static Bytes finished(Bytes sum, Floats scale, Floats bias, Floats high) {
    const Floats x = _mm256_fmadd_ps(_mm256_cvtepi32_ps(sum), scale, bias);
    return _mm256_cvtps_epi32(_mm256_min_ps(x, high));
  }
  static Bytes joined(Bytes x, Bytes y) { return _mm256_packs_epi32(x, y); }
  static Bytes unsigned_joined(Bytes x, Bytes y) { return _mm256_packus_epi16(x, y); }
  static Bytes signed_joined(Bytes x, Bytes y) { return _mm256_packs_epi16(x, y); }
  static Bytes positive(Bytes x) { return _mm256_max_epi8(x, _mm256_setzero_si256()); }
};

// Channels are processed 64 at a time; a remainder of at most 32 in a half-width step.
int64_t chunks(int64_t channels) { return ceil_div(channels, kWide); }
bool is_half(int64_t channels, int64_t chunk) { return channels - chunk * kWide <= kHalf; }
int64_t padded(int64_t channels) { return round_up(channels, kHalf); }

// The channel of lane `lane` of the part'th register of sums.
int64_t channel_of(int64_t part, int64_t lane) { return lane / 4 * 16 + part * 4 + lane % 4; }

// The unsigned byte that represents 0.
uint8_t middle_of(const P& p) { return (uint8_t)(p.zero + (p.source_type == MX_I8 ? kMiddle : 0)); }

struct Work {
  const P& p;
  const uint8_t* in;
  const int8_t* weights;
  const float *scale, *bias;  // in the order of the sums' lanes
  char* out;
  float high;

  template <class V>
  void rows(int64_t image, int64_t chunk, int64_t first, uint8_t* band) const;
};

// Interleave the bytes of rows [top, top + 4), for every column under the windows.
template <class V>
void interleave(const P& p, const uint8_t* image, int64_t top, uint64_t inside, uint8_t* band) {
  typedef typename V::Bytes B;
  const B up = V::splat((uint8_t)(p.source_type == MX_I8 ? kMiddle : 0));
  const B zero = V::splat(middle_of(p));
  const uint8_t* row[4];
  for (int64_t y = 0; y < 4; ++y) {
    const bool in = top + y >= 0 && top + y < p.source[1];
    row[y] = in ? image + (top + y) * p.source[2] * p.groups : nullptr;
  }
  const int64_t columns = columns_of(p), step = p.groups, left = p.pad[2], width = p.source[2];
  for (int64_t x = 0; x < columns; ++x, band += kParts * V::channels) {
    const int64_t column = x - left;
    const bool in = column >= 0 && column < width;
    B r[4];
#pragma GCC unroll 4
    for (int y = 0; y < 4; ++y)
      r[y] = in && row[y] ? V::flipped(V::load(row[y] + column * step, inside), up) : zero;
    const B a = V::low8(r[0], r[1]), b = V::high8(r[0], r[1]);
    const B c = V::low8(r[2], r[3]), d = V::high8(r[2], r[3]);
    V::store(band, V::low16(a, c));
    V::store(band + V::channels, V::high16(a, c));
    V::store(band + 2 * V::channels, V::low16(b, d));
    V::store(band + 3 * V::channels, V::high16(b, d));
  }
}

template <class V>
void Work::rows(int64_t image, int64_t chunk, int64_t first, uint8_t* band) const {
  typedef typename V::Bytes B;
  typedef typename V::Floats F;
  const int64_t channel = chunk * kWide, left = p.groups - channel;
  const uint64_t inside = left >= kWide ? ~0ull : (1ull << left) - 1;
  const bool whole = left >= V::channels;
  const uint8_t* source = in + image * p.source[1] * p.source[2] * p.groups + channel;
  interleave<V>(p, source, first * p.stride[1] - p.pad[1], inside, band);
  const B zero = V::splat((uint8_t)0), middle = V::splat(middle_of(p));
  F factor[kParts], shift[kParts];
  constexpr int64_t kLanes32 = V::channels / kParts;
  for (int j = 0; j < kParts; ++j) {
    factor[j] = V::floats(scale + channel + j * kLanes32);
    shift[j] = V::floats(bias + channel + j * kLanes32);
  }
  const F top = V::splat(high);
  const int64_t past =
      first + rows_at_once(p) < p.target[1] ? first + rows_at_once(p) : p.target[1];
  const int64_t step = p.stride[2] * kParts * V::channels, width = p.target[2], next = p.groups;
  const bool is_signed = p.target_type == MX_I8, cut = p.act != 0;
  for (int64_t y = first; y < past; ++y) {
    B w[kTaps][kParts], start[kParts];
    const int8_t* from = weights + channel * kTaps * kParts;
#pragma GCC unroll 4
    for (int j = 0; j < kParts; ++j) {
      B added = zero;
#pragma GCC unroll 3
      for (int t = 0; t < kTaps; ++t) {
        const B read = V::load(from + (t * kParts + j) * V::channels);
        w[t][j] = y > first ? V::down(read) : read;
        if (middle_of(p)) multiply_add(added, middle, w[t][j]);
      }
      start[j] = V::less(zero, added);
    }
    const uint8_t* at = band;
    char* to = out + ((image * p.target[1] + y) * width) * next + channel;
    for (int64_t x = 0; x < width; ++x, at += step, to += next) {
      B sums[kParts];
#pragma GCC unroll 4
      for (int j = 0; j < kParts; ++j) {
        sums[j] = start[j];
#pragma GCC unroll 3
        for (int t = 0; t < kTaps; ++t)
          multiply_add(sums[j], V::load(at + (t * kParts + j) * V::channels), w[t][j]);
        sums[j] = V::finished(sums[j], factor[j], shift[j], top);
      }
      const B low = V::joined(sums[0], sums[1]), rest = V::joined(sums[2], sums[3]);
      B bytes = is_signed ? V::signed_joined(low, rest) : V::unsigned_joined(low, rest);
      if (is_signed && cut) bytes = V::positive(bytes);
      whole ? V::store(to, bytes) : V::store(to, bytes, inside);
    }
  }
}

int64_t band_bytes(const P& p) { return columns_of(p) * kParts * kWide; }
int64_t factor_bytes(const P& p) { return round_up(padded(p.groups) * (int64_t)sizeof(float), 64); }

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p))
    return refused("int8_conv_depthwise", reason, what);
  if (what == MX_QUERY_PACKED) return padded(p.groups) * kTaps * kParts;
  if (what != MX_QUERY_WORKSPACE) return 1;  // accepted; there is a single layout of weights
  return 2 * factor_bytes(p) + mx_threads() * band_bytes(p);
}

// Scales or biases (NULL: zeros) in the order of the sums' lanes.
void arrange(const float* from, int64_t channels, float* to) {
  for (int64_t chunk = 0; chunk < chunks(channels); ++chunk) {
    const int64_t lanes = (is_half(channels, chunk) ? kHalf : kWide) / kParts;
    for (int64_t i = 0; i < lanes * kParts; ++i) {
      const int64_t c = chunk * kWide + channel_of(i / lanes, i % lanes);
      to[chunk * kWide + i] = from && c < channels ? from[c] : 0;
    }
  }
}

int run(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p)) return mx_fail("int8_conv_depthwise: %s", reason);
  const int64_t room = (int64_t)call->workspace_size - 2 * factor_bytes(p);
  const int threads = room < call->threads * band_bytes(p) ? 1 : call->threads;
  if (room < band_bytes(p)) return mx_fail("int8_conv_depthwise: the workspace is too small");
  char* space = (char*)call->workspace;
  float *scale = (float*)space, *bias = (float*)(space + factor_bytes(p));
  arrange(data<float>(call->in[2]), p.groups, scale);
  arrange(p.bias ? data<float>(call->in[3]) : nullptr, p.groups, bias);
  const Work work = {p,
                     data<uint8_t>(call->in[0]),
                     data<int8_t>(call->in[1]),
                     scale,
                     bias,
                     data<char>(call->out[0]),
                     highest(p)};
  uint8_t* bands = (uint8_t*)space + 2 * factor_bytes(p);
  const int64_t parts = chunks(p.groups), bundles = ceil_div(p.target[1], rows_at_once(p));
  const int64_t units = p.batch * bundles * parts, each = ceil_div(units, threads);
  if (p.target[2] < 1) return 0;
  parallel_for(threads, units, each, [&](int64_t begin, int64_t end) {
    uint8_t* band = bands + begin / each * band_bytes(p);
    for (int64_t i = begin; i < end; ++i) {
      const int64_t chunk = i % parts, bundle = i / parts % bundles, image = i / parts / bundles;
      const int64_t first = bundle * rows_at_once(p);
      is_half(p.groups, chunk) ? work.rows<Half>(image, chunk, first, band)
                               : work.rows<Wide>(image, chunk, first, band);
    }
  });
  return 0;
}

int pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = depthwise_refusal(p)) return mx_fail("int8_conv_depthwise: %s", reason);
  const int8_t* plain = data<int8_t>(call->in[0]);
  int8_t* blob = data<int8_t>(call->out[0]);
  for (int64_t chunk = 0; chunk < chunks(p.groups); ++chunk) {
    const int64_t width = is_half(p.groups, chunk) ? kHalf : kWide, lanes = width / kParts;
    int8_t* to = blob + chunk * kWide * kTaps * kParts;
    for (int64_t i = 0; i < kTaps * kParts * lanes; ++i) {
      const int64_t tap = i / lanes / kParts, part = i / lanes % kParts;
      const int64_t c = chunk * kWide + channel_of(part, i % lanes);
      for (int64_t y = 0; y < 4; ++y)
        to[i * 4 + y] = c < p.groups && y < kTaps ? plain[(c * kTaps + y) * kTaps + tap] : 0;
    }
  }
  return 0;
}

}  // namespace

void register_depthwise_bytes() {
  if (!has_byte_products()) return;
  add_with_query("int8_conv_depthwise", run, MX_BIT(I8) | MX_BIT(U8), query);
  add_with_query("int8_conv_depthwise_pack", pack, MX_BIT(I8), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_depthwise_bytes() {}  // requires VNNI; see depthwise_pairs.cc
MX_LEAF_END
#endif
