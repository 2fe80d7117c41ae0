// "where": elements of one of two arrays, with one condition per element or per row.
#include "leaf/leaf.h"
#include "leaf/simd/cast.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 2048;

// Conditions as bytes: 1 for non-zero elements.
template <class C>
void test(uint8_t* mask, const C* condition, int64_t n) {
  for (int64_t i = 0; i < n; ++i) mask[i] = condition[i] != C(0);
}
void test_half(uint8_t* mask, const uint16_t* condition, int64_t n) {
  for (int64_t i = 0; i < n; ++i) mask[i] = (condition[i] & 0x7fff) != 0;
}

void test_any(uint8_t* mask, const mx_tensor& condition, int64_t begin, int64_t n) {
  switch (condition.dtype) {
    case MX_F32:
      return test(mask, data<float>(condition) + begin, n);
    case MX_F64:
      return test(mask, data<double>(condition) + begin, n);
    case MX_F16:
    case MX_BF16:
      return test_half(mask, data<uint16_t>(condition) + begin, n);
    default:
      break;
  }
  switch (element_size(condition.dtype)) {
    case 1:
      return test(mask, data<uint8_t>(condition) + begin, n);
    case 2:
      return test(mask, data<uint16_t>(condition) + begin, n);
    case 4:
      return test(mask, data<uint32_t>(condition) + begin, n);
    default:
      return test(mask, data<uint64_t>(condition) + begin, n);
  }
}

template <class T>
void choose(T* dst, const uint8_t* mask, const T* x, const T* y, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i], b = y[i];  // both are read, to avoid a branch
    dst[i] = mask[i] ? a : b;
  }
}

template <class T>
int where(const mx_call* call) {
  const mx_tensor& condition = call->in[0];
  const T *x = data<T>(call->in[1]), *y = data<T>(call->in[2]);
  T* dst = data<T>(call->out[0]);
  const int64_t n = count(call->out[0]), conditions = count(condition);
  if (n == 0) return 0;
  const int64_t row = n / conditions;  // elements per condition
  parallel_for(call->threads, conditions, kGrain / row + 1, [&](int64_t begin, int64_t end) {
    uint8_t mask[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t m = end - i < kBlock ? end - i : kBlock;
      test_any(mask, condition, i, m);
      if (row == 1) {
        choose(dst + i, mask, x + i, y + i, m);
        continue;
      }
      for (int64_t j = 0; j < m; ++j)
        memcpy(dst + (i + j) * row, (mask[j] ? x : y) + (i + j) * row, row * sizeof(T));
    }
  });
  return 0;
}

template <bool first, class T>
void choose(T* dst, const uint8_t* mask, const T* x, T number, int64_t n) {
#pragma GCC ivdep
  for (int64_t i = 0; i < n; ++i) {
    const T a = x[i];
    dst[i] = mask[i] ? (first ? number : a) : (first ? a : number);
  }
}

// The same for an array and a scalar, which takes the array's place if `first`.
template <class T, bool first>
int where_number(const mx_call* call) {
  const mx_tensor& condition = call->in[0];
  const T* x = data<T>(call->in[1]);
  T *dst = data<T>(call->out[0]), number;
  cast_row(call->out[0].dtype, MX_F64)(&number, call->params, 1);
  parallel_for(call->threads, count(call->out[0]), kGrain, [&](int64_t begin, int64_t end) {
    uint8_t mask[kBlock];
    for (int64_t i = begin; i < end; i += kBlock) {
      const int64_t m = end - i < kBlock ? end - i : kBlock;
      test_any(mask, condition, i, m);
      choose<first>(dst + i, mask, x + i, number, m);
    }
  });
  return 0;
}

}  // namespace

void register_where() {
#define MX_WHERE(T, bits)                                         \
  mx_kernel_add("where", where<T>, bits, 0);                      \
  mx_kernel_add("where_lscalar", where_number<T, true>, bits, 0); \
  mx_kernel_add("where_rscalar", where_number<T, false>, bits, 0)
  MX_WHERE(uint8_t, MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL));
  MX_WHERE(uint16_t, MX_BIT(F16) | MX_BIT(BF16) | MX_BIT(I16) | MX_BIT(U16));
  MX_WHERE(uint32_t, MX_BIT(F32) | MX_BIT(I32) | MX_BIT(U32));
  MX_WHERE(uint64_t, MX_BIT(F64) | MX_BIT(I64) | MX_BIT(U64));
}
MX_LEAF_END
