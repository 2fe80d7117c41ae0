// "all" and "any" along a dimension of (outer, extent, inner) arrays. A row is only read until the
// answer is known.
#include "leaf/simd/cast.h"
#include "leaf/simd/vec.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kColumns = 1024;   // lines processed together
constexpr int64_t kPart = 1 << 18;   // bytes of a long row that make another thread worthwhile
constexpr int64_t kFront = 1 << 14;  // bytes read before a team is started, as they often decide
constexpr int64_t kGrain = 1 << 15;

struct half {  // two bytes without their sign
  uint16_t bits;
};
template <class T>
inline bool is_set(T x) {
  return x != T(0);
}
inline bool is_set(half x) { return (x.bits & 0x7fff) != 0; }

// An unsigned integer as wide as an element, so that masks of elements need no widening.
template <int size>
struct Wide;
// clang-format off
template <> struct Wide<1> { typedef uint8_t Word; };
template <> struct Wide<2> { typedef uint16_t Word; };
template <> struct Wide<4> { typedef uint32_t Word; };
template <> struct Wide<8> { typedef uint64_t Word; };
// clang-format on

// Whether an element is non-zero (or, for `all`, zero).
template <bool all, class T>
bool decides(const T* x, int64_t n) {
  typedef typename Wide<sizeof(T)>::Word Word;
  constexpr int64_t kRun = 256;  // a run that the compiler vectorises
  int64_t i = 0;
  for (; i + kRun <= n; i += kRun) {
    Word differs = 0;
    for (int64_t j = 0; j < kRun; ++j) differs |= (Word)(is_set(x[i + j]) != all);
    if (differs) return true;
  }
  for (; i < n; ++i)
    if (is_set(x[i]) != all) return true;
  return false;
}

template <bool all, class T>
void rows(const T* in, uint8_t* out, int64_t outer, int64_t extent, int threads) {
  const int64_t part = kPart / (int64_t)sizeof(T), front = kFront / (int64_t)sizeof(T);
  if (outer < threads && extent > 2 * part) {
    for (int64_t r = 0; r < outer; ++r) {
      int decided = decides<all>(in + r * extent, front);
      if (!decided)
        parallel_for(threads, extent, part, [&](int64_t begin, int64_t end) {
          for (int64_t i = begin; i < end; i += part) {
            if (__atomic_load_n(&decided, __ATOMIC_RELAXED)) return;
            if (decides<all>(in + r * extent + i, end - i < part ? end - i : part))
              __atomic_store_n(&decided, 1, __ATOMIC_RELAXED);
          }
        });
      out[r] = (decided != 0) != all;
    }
    return;
  }
  parallel_for(threads, outer, kGrain / extent + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) out[r] = decides<all>(in + r * extent, extent) != all;
  });
}

template <bool all, class T>
void columns(const T* in, uint8_t* out, int64_t outer, int64_t extent, int64_t inner, int threads) {
  const int64_t blocks = ceil_div(inner, kColumns);
  parallel_for(threads, outer * blocks, kGrain / (extent * inner) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t i = begin; i < end; ++i) {
                   const int64_t at = i / blocks, first = i % blocks * kColumns;
                   const int64_t width = inner - first < kColumns ? inner - first : kColumns;
                   const T* x = in + at * extent * inner + first;
                   uint8_t* to = out + at * inner + first;
                   for (int64_t c = 0; c < width; ++c) to[c] = all;
                   for (int64_t k = 0; k < extent; ++k, x += inner)
                     for (int64_t c = 0; c < width; ++c)
                       to[c] = all ? to[c] & is_set(x[c]) : to[c] | is_set(x[c]);
                 }
               });
}

template <bool all, class T>
int test(const mx_call* call) {
  const auto& p = *static_cast<const mx_arg_params*>(call->params);
  const T* in = data<T>(call->in[0]);
  uint8_t* out = data<uint8_t>(call->out[0]);
  if (p.inner == 1)
    rows<all>(in, out, p.outer, p.extent, call->threads);
  else
    columns<all>(in, out, p.outer, p.extent, p.inner, call->threads);
  return 0;
}

}  // namespace

void register_test() {
#define MX_TEST(T, bits)                        \
  mx_kernel_add("all", test<true, T>, bits, 0); \
  mx_kernel_add("any", test<false, T>, bits, 0)
  MX_TEST(float, MX_BIT(F32));
  MX_TEST(double, MX_BIT(F64));
  MX_TEST(half, MX_BIT(F16) | MX_BIT(BF16));
  MX_TEST(uint8_t, MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL));
  MX_TEST(uint16_t, MX_BIT(U16) | MX_BIT(I16));
  MX_TEST(uint32_t, MX_BIT(U32) | MX_BIT(I32));
  MX_TEST(uint64_t, MX_BIT(U64) | MX_BIT(I64));
}
MX_LEAF_END
