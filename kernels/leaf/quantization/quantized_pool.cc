// Pooling of 8-bit data: "quantized_pool" (data, minimum, maximum -> the same), maxima and averages
// rounded half to even, over (outer, spatial..., inner) arrays. For each row of results, the rows
// under its windows are first reduced to one, then the columns of each window.
#include "core/integers.h"
#include "leaf/leaf.h"
#if MX_ISA_LEVEL == 4
#include "intrinsics.h"
#endif
#include "params/pooling.gen.h"

MX_LEAF_BEGIN
namespace {

typedef mx_pool_params P;

constexpr int64_t kRoom = 16 << 10;  // elements of a reduced row, which stays in the cache
constexpr int64_t kMaxNarrow = 128;  // elements whose sum fits in 16 bits
constexpr int kLines = 3;            // reduced in one pass

inline int64_t least(int64_t a, int64_t b) { return a < b ? a : b; }

// The extent of a window in one dimension: positions inside the array, and their number with
// padding.
struct Span {
  int64_t begin, end, whole;

  Span(const P& p, int dimension, int64_t place) {
    const int64_t first = place * p.stride[dimension] - p.pad[dimension];
    const int64_t size = p.source[dimension];
    const int64_t last = least(first + p.kernel[dimension], size + p.pad[dimension]);
    whole = last > first ? last - first : 0;
    begin = first > 0 ? first : 0;
    end = least(last, size) > begin ? least(last, size) : begin;
  }
  int64_t inside() const { return end - begin; }
};

template <class D>
constexpr uint8_t kUp = (D)-1 < 0 ? 128 : 0;  // makes numbers unsigned when added

// How elements are reduced, in numbers of a type that may be wider.
template <class D>
struct Maxima {
  typedef D Wide;
  static D of(D x) { return x; }
  static D join(D a, D b) { return a > b ? a : b; }
};
template <class D, class W>
struct Sums {
  typedef W Wide;
  static W of(D x) { return (W)(uint8_t)((uint8_t)x ^ kUp<D>); }
  static W of(W x) { return x; }
  static W join(W a, W b) { return (W)(a + b); }
};

template <class R, bool joins, int N, class S>
void reduce_lines(const S* const* lines, int64_t n, typename R::Wide* __restrict to) {
  const S *a = lines[0], *b = lines[N > 1], *c = lines[N - 1];
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    typename R::Wide x = R::of(a[i]);
    if (N > 1) x = R::join(x, R::of(b[i]));
    if (N > 2) x = R::join(x, R::of(c[i]));
    to[i] = joins ? R::join(to[i], x) : x;
  }
}

// Reduces lines of n elements to one.
template <class R, class S>
class Reducer {
 public:
  Reducer(int64_t n, typename R::Wide* to) : n_(n), to_(to) {}
  void add(const S* line) {
    lines_[held_++] = line;
    if (held_ == kLines) finish();
  }
  void finish() {
    if (held_ == 1) joins_ ? run<true, 1>() : run<false, 1>();
    if (held_ == 2) joins_ ? run<true, 2>() : run<false, 2>();
    if (held_ == 3) joins_ ? run<true, 3>() : run<false, 3>();
    joins_ = true, held_ = 0;
  }

 private:
  template <bool joins, int N>
  void run() {
    reduce_lines<R, joins, N>(lines_, n_, to_);
  }

  int64_t n_;
  typename R::Wide* to_;
  const S* lines_[kLines];
  int held_ = 0;
  bool joins_ = false;
};

// Division of sums by `divisor` <= kMaxNarrow, rounded half to even, by an exact multiplication.
struct Division {
  int shift = 0;
  uint16_t inverse, half, by, even;
  uint16_t direct = 0;  // 2^16 over small odd divisors, which need no more than its products

  Division(int64_t divisor, int64_t up)
      : half((uint16_t)(divisor / 2 + up)), by((uint16_t)divisor), even(divisor % 2 ? 0 : 1) {
    while (((int64_t)1 << shift) < divisor) ++shift;
    inverse = (uint16_t)ceil_div((int64_t)1 << (15 + shift), divisor);
    if (divisor > 1 && divisor < 16 && !even) direct = (uint16_t)ceil_div(1 << 16, divisor);
  }
  uint16_t operator()(uint16_t sum) const {
    const uint32_t number = (uint16_t)(sum + half);
    const uint32_t quotient = 2 * number * inverse >> 16 >> shift;
    return (uint16_t)(quotient - (number == quotient * by ? quotient & even : 0));
  }
#if MX_ISA_LEVEL == 4
  __m512i operator()(__m512i sums) const {
    const __m512i number = _mm512_add_epi16(sums, _mm512_set1_epi16((int16_t)half));
    if (direct) return _mm512_mulhi_epu16(number, _mm512_set1_epi16((int16_t)direct));
    const __m512i twice = _mm512_add_epi16(number, number);
    __m512i quotient = _mm512_mulhi_epu16(twice, _mm512_set1_epi16((int16_t)inverse));
    quotient = _mm512_srl_epi16(quotient, _mm_cvtsi32_si128(shift));
    const __m512i product = _mm512_mullo_epi16(quotient, _mm512_set1_epi16((int16_t)by));
    const __mmask32 ties = _mm512_cmpeq_epi16_mask(number, product);
    const __m512i odd = _mm512_and_si512(quotient, _mm512_set1_epi16((int16_t)even));
    return _mm512_mask_sub_epi16(quotient, ties, quotient, odd);
  }
#endif
};

// Averages of `inside` elements: their sums over `divisor`.
template <class D>
void divide(const uint16_t* sums, int64_t n, int64_t inside, int64_t divisor, D* __restrict to) {
  const Division over(divisor, kUp<D> * (divisor - inside));
  for (int64_t i = 0; i < n; ++i) to[i] = (D)((uint8_t)over(sums[i]) ^ kUp<D>);
}

template <class D>
void divide(const uint32_t* sums, int64_t n, int64_t inside, int64_t divisor, D* to) {
  for (int64_t i = 0; i < n; ++i) {
    const double sum = (double)sums[i] - (double)(kUp<D> * inside);
    to[i] = (D)(int32_t)__builtin_rint(sum / (double)divisor);
  }
}

// One row of results of type D, reduced by R, for at most `stripe` channels at a time.
template <class R, class D>
class Row {
 public:
  Row(const P& p, const D* plane, int64_t slice, int64_t row, D* to)
      : p_(p), plane_(plane), slices_(p, 0, slice), rows_(p, 1, row), to_(to) {}

  void run() {
    const int64_t fit = kRoom / (p_.source[2] > 0 ? p_.source[2] : 1);
    const int64_t stripe = fit >= p_.inner ? p_.inner : fit >= 16 ? fit / 16 * 16 : kRoom;
    for (int64_t first = 0; first < p_.inner; first += stripe)
      channels(first, least(stripe, p_.inner - first));
  }

 private:
  typedef typename R::Wide Wide;

  void channels(int64_t first, int64_t n) {
    const bool whole = n == p_.inner, fits = n * p_.source[2] <= kRoom;
    if (fits && whole) reduce_rows(plane_, n * p_.source[2], reduced_);
    for (int64_t x = 0; fits && !whole && x < p_.source[2]; ++x)
      reduce_rows(plane_ + x * p_.inner + first, n, reduced_ + x * n);
    for (int64_t x = 0; x < p_.target[2]; ++x)
      reduce_columns(Span(p_, 2, x), n, fits ? nullptr : plane_ + first,
                     to_ + x * p_.inner + first);
  }

  template <class Lines>
  void add_rows(const D* from, Lines& lines) const {
    for (int64_t i = slices_.begin; i < slices_.end; ++i)
      for (int64_t j = rows_.begin; j < rows_.end; ++j)
        lines.add(from + (i * p_.source[1] + j) * p_.source[2] * p_.inner);
  }

  void reduce_rows(const D* from, int64_t n, Wide* to) const {
    Reducer<R, D> lines(n, to);
    add_rows(from, lines);
    lines.finish();
  }

  // One result of n channels, from reduced rows or, where these would be too long, from the data.
  void reduce_columns(const Span& columns, int64_t n, const D* plain, D* to) {
    const int64_t inside = slices_.inside() * rows_.inside() * columns.inside();
    if (inside == 0) {
      memset(to, p_.kind == 0 ? kUp<D> : 0, n);  // the smallest number, or 0
      return;
    }
    Wide* total = p_.kind == 0 ? (Wide*)to : total_;
    if (plain) {
      Reducer<R, D> lines(n, total);
      for (int64_t x = columns.begin; x < columns.end; ++x) add_rows(plain + x * p_.inner, lines);
      lines.finish();
    } else {
      Reducer<R, Wide> lines(n, total);
      for (int64_t x = columns.begin; x < columns.end; ++x) lines.add(reduced_ + x * n);
      lines.finish();
    }
    const int64_t whole = slices_.whole * rows_.whole * columns.whole;
    if constexpr (sizeof(Wide) > 1) divide(total, n, inside, p_.count_pad ? whole : inside, to);
  }

  const P& p_;
  const D* plane_;
  const Span slices_, rows_;
  D* to_;
  alignas(64) Wide reduced_[kRoom];
  alignas(64) Wide total_[sizeof(Wide) > 1 ? kRoom : 1];
};

#if MX_ISA_LEVEL == 4
// One row of averages of at most kMaxNarrow elements: 64 channels at a time, the even and the odd
// ones of which are summed apart in 16 bits.
template <class D>
class AverageRow {
 public:
  static bool supports(const P& p) { return p.source[2] <= kColumns && p.inner >= kLanes / 4; }

  AverageRow(const P& p, const D* plane, int64_t slice, int64_t row, D* to)
      : p_(p), plane_(plane), slices_(p, 0, slice), rows_(p, 1, row), to_(to) {}

  void run() {
    const int64_t chunks = ceil_div(p_.inner, kLanes), width = p_.source[2] > 0 ? p_.source[2] : 1;
    for (int64_t i = slices_.begin; i < slices_.end; ++i)
      for (int64_t j = rows_.begin; j < rows_.end; ++j)
        lines_[count_++] = plane_ + (i * p_.source[1] + j) * p_.source[2] * p_.inner;
    for (int64_t first = 0; first < chunks; first += kColumns / width) {
      const int64_t count = least(kColumns / width, chunks - first);
      add_rows(first, count);
      for (int64_t x = 0; x < p_.target[2]; ++x) add_columns(x, first, count);
    }
  }

 private:
  static constexpr int64_t kLanes = 64, kColumns = 256;
  struct Pair {
    __m512i even, odd;
  };

  // Members are copied where stores of vectors, which may alias them, would reload them.
  void add_rows(int64_t first, int64_t count) {
    const __m512i up = _mm512_set1_epi8((int8_t)kUp<D>), low = _mm512_set1_epi16(0xff);
    const int64_t width = p_.source[2], inner = p_.inner, lines = count_;
    for (int64_t x = 0; x < width; ++x) {
      for (int64_t c = 0; c < count; ++c) {
        const int64_t at = x * inner + (first + c) * kLanes;
        const __mmask64 inside = of_chunk(first + c, inner);
        Pair sums = {_mm512_setzero_si512(), _mm512_setzero_si512()};
        for (int64_t i = 0; i < lines; ++i) {
          __m512i bytes = _mm512_maskz_loadu_epi8(inside, lines_[i] + at);
          if (kUp<D>) bytes = _mm512_xor_si512(bytes, up);
          sums.even = _mm512_add_epi16(sums.even, _mm512_and_si512(bytes, low));
          sums.odd = _mm512_add_epi16(sums.odd, _mm512_srli_epi16(bytes, 8));
        }
        sums_[x * count + c] = sums;
      }
    }
  }

  void add_columns(int64_t x, int64_t first, int64_t count) const {
    const Span columns(p_, 2, x);
    const int64_t elements = count_ * columns.inside(), inner = p_.inner;
    const int64_t whole = slices_.whole * rows_.whole * columns.whole;
    const int64_t divisor = p_.count_pad ? whole : elements;
    D* to = to_ + x * inner + first * kLanes;
    if (elements == 0) {
      memset(to, 0, least(count * kLanes, inner - first * kLanes));
      return;
    }
    const Division over(divisor, kUp<D> * (divisor - elements));
    const int64_t others = columns.inside() - 1;
    const Pair* from = sums_ + columns.begin * count;
    for (int64_t c = 0; c < count; ++c, ++from, to += kLanes) {
      Pair sums = *from;
      for (int64_t k = 1; k <= others; ++k) {
        sums.even = _mm512_add_epi16(sums.even, from[k * count].even);
        sums.odd = _mm512_add_epi16(sums.odd, from[k * count].odd);
      }
      __m512i bytes = _mm512_or_si512(over(sums.even), _mm512_slli_epi16(over(sums.odd), 8));
      if (kUp<D>) bytes = _mm512_xor_si512(bytes, _mm512_set1_epi8((int8_t)kUp<D>));
      _mm512_mask_storeu_epi8(to, of_chunk(first + c, inner), bytes);
    }
  }

  static __mmask64 of_chunk(int64_t chunk, int64_t inner) {
    const int64_t left = inner - chunk * kLanes;
    return left < kLanes ? ((__mmask64)1 << left) - 1 : ~(__mmask64)0;
  }

  const P& p_;
  const D* plane_;
  const Span slices_, rows_;
  D* to_;
  const D* lines_[kMaxNarrow];
  int64_t count_ = 0;
  Pair sums_[kColumns];
};
#endif

template <class Pooled, class D>
void pool_rows(const mx_call* call, const P& p) {
  const int64_t rows = p.target[0] * p.target[1], row = p.target[2] * p.inner;
  const int64_t plane = p.source[0] * p.source[1] * p.source[2] * p.inner;
  const int64_t taps = p.kernel[0] * p.kernel[1] * p.kernel[2];
  const int64_t grain = (1 << 14) / (taps * row + 1) + 1;
  const D* from = data<D>(call->in[0]);
  D* to = data<D>(call->out[0]);
  parallel_for(call->threads, p.outer * rows, grain, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i)
      Pooled(p, from + i / rows * plane, i % rows / p.target[1], i % p.target[1], to + i * row)
          .run();
  });
}

template <class D>
int pool(const mx_call* call) {
  const P& p = *(const P*)call->params;
  const int64_t most = p.kernel[0] * p.kernel[1] * p.kernel[2];
  if (p.kind == 0)
    pool_rows<Row<Maxima<D>, D>, D>(call, p);
  else if (most > kMaxNarrow)
    pool_rows<Row<Sums<D, uint32_t>, D>, D>(call, p);
#if MX_ISA_LEVEL == 4
  else if (AverageRow<D>::supports(p))
    pool_rows<AverageRow<D>, D>(call, p);
#endif
  else
    pool_rows<Row<Sums<D, uint16_t>, D>, D>(call, p);
  for (int i = 1; i < 3; ++i)
    if (call->out[i].data) *data<float>(call->out[i]) = *data<float>(call->in[i]);
  return 0;
}

}  // namespace

void register_quantize_pool() {
  mx_kernel_add("quantized_pool", pool<int8_t>, MX_BIT(I8), 0);
  mx_kernel_add("quantized_pool", pool<uint8_t>, MX_BIT(U8), 0);
}
MX_LEAF_END
