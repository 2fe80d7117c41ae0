// functor.h: turning a functor into a kernel. A row applies a functor to a run of elements; the
// runners, compiled once, split a call into rows, across threads and with conversion in blocks.
#pragma once
#include "leaf/simd/cast.h"
#include "leaf/simd/pack.h"
#include "leaf/simd/stream.h"

MX_LEAF_BEGIN

// dst[i] = f(a[i], b...): depending on the row's kind, b is a second run, one element, or a few
// parameters. dst may be a or b itself.
typedef void (*Row)(void* dst, const void* a, const void* b, int64_t n);

// Apply `f(vector of a, vector of b)` to n elements. The last vector overlaps the previous one and
// is read before and written after everything else; a run shorter than a vector is one partial
// vector.
template <class T, bool kStepA, bool kStepB, class F>
MX_INLINE void apply_row(T* dst, const T* a, const T* b, int64_t n, F f) {
  constexpr int L = kLanes<T>;
  const int64_t last = n - L;
  const auto read = [=](const T* p, bool step) {
    if (!step) return splat<Vec<T>>(*p);
    return last >= 0 ? load(p + last) : load_first(p, (int)n);
  };
  if (n <= 0) return;
  const Vec<T> end_a = read(a, kStepA), end_b = read(b, kStepB);
  for (int64_t i = 0; i < last; i += L)
    store(dst + i, f(kStepA ? load(a + i) : end_a, kStepB ? load(b + i) : end_b));
  const Vec<T> result = f(end_a, end_b);
  if (last >= 0)
    store(dst + last, result);
  else
    store_first(dst, result, (int)n);
}

// Whether `f(vector of a, vector of b)` holds for n elements, as booleans.
template <class T, bool kStepA, bool kStepB, class F>
MX_INLINE void test_row(uint8_t* dst, const T* a, const T* b, int64_t n, F f) {
  constexpr int L = kLanes<T>;
  const auto block = [=](const T* x, const T* y) MX_ALWAYS {
    return packed<T>([=](int i) MX_ALWAYS {
      return f(kStepA ? load(x + i * L) : splat<Vec<T>>(*x),
               kStepB ? load(y + i * L) : splat<Vec<T>>(*y));
    });
  };
  int64_t i = 0;
  for (; i + kVecBytes <= n; i += kVecBytes)
    store(dst + i, block(kStepA ? a + i : a, kStepB ? b + i : b));
  if (i == n) return;
  T end_a[kVecBytes] = {}, end_b[kVecBytes] = {};
  memcpy(end_a, kStepA ? a + i : a, (kStepA ? n - i : 1) * sizeof(T));
  memcpy(end_b, kStepB ? b + i : b, (kStepB ? n - i : 1) * sizeof(T));
  store_first(dst + i, block(end_a, end_b), (int)(n - i));
}

// Base of functors whose `holds` tells where they are 1.
struct Test {};

template <class Op, class T>
void unary_row(void* dst, const void* a, const void*, int64_t n) {
  const T unused = 0;
  apply_row<T, true, false>((T*)dst, (const T*)a, &unused, n,
                            [](Vec<T> x, Vec<T>) MX_ALWAYS { return Op::f(x); });
}
// The same as a boolean test; NULL for other functors.
template <class Op, class T>
constexpr Row unary_test() {
  if constexpr (__is_base_of(Test, Op))
    return [](void* dst, const void* a, const void*, int64_t n) {
      const T unused = 0;
      test_row<T, true, false>((uint8_t*)dst, (const T*)a, &unused, n,
                               [](Vec<T> x, Vec<T>) MX_ALWAYS { return Op::holds(x); });
    };
  return nullptr;
}
// A functor of x and two parameters.
template <class Op, class T>
void unary2_row(void* dst, const void* a, const void* b, int64_t n) {
  const Vec<T> p = splat<Vec<T>>(((const T*)b)[0]), q = splat<Vec<T>>(((const T*)b)[1]);
  apply_row<T, true, false>((T*)dst, (const T*)a, (const T*)b, n,
                            [=](Vec<T> x, Vec<T>) MX_ALWAYS { return Op::f(x, p, q); });
}
// Two runs, a run and a scalar, a scalar and a run.
template <class Op, class T>
void vv_row(void* dst, const void* a, const void* b, int64_t n) {
  apply_row<T, true, true>((T*)dst, (const T*)a, (const T*)b, n,
                           [](Vec<T> x, Vec<T> y) MX_ALWAYS { return Op::f(x, y); });
}
template <class Op, class T>
void vs_row(void* dst, const void* a, const void* b, int64_t n) {
  apply_row<T, true, false>((T*)dst, (const T*)a, (const T*)b, n,
                            [](Vec<T> x, Vec<T> y) MX_ALWAYS { return Op::f(x, y); });
}
template <class Op, class T>
void sv_row(void* dst, const void* a, const void* b, int64_t n) {
  apply_row<T, false, true>((T*)dst, (const T*)a, (const T*)b, n,
                            [](Vec<T> x, Vec<T> y) MX_ALWAYS { return Op::f(x, y); });
}

// Tests of runs or of single elements; NULL for other functors.
template <class Op, class T, bool kStepA, bool kStepB>
constexpr Row binary_test() {
  if constexpr (__is_base_of(Test, Op))
    return [](void* dst, const void* a, const void* b, int64_t n) {
      test_row<T, kStepA, kStepB>((uint8_t*)dst, (const T*)a, (const T*)b, n,
                                  [](Vec<T> x, Vec<T> y) MX_ALWAYS { return Op::holds(x, y); });
    };
  return nullptr;
}

// A row that computes in dtype `type`, and its variant that writes booleans, if there is one.
struct TypedRow {
  Row row, test;
  int32_t type;
};
// The rows of a binary functor.
struct Rows {
  TypedRow vv, vs, sv;
};

// Runs a row on memory of any dtype: converts block by block if memory has another type than the
// row, and bypasses the caches for outputs too large for them.
struct Runner {
  Row row;
  CastRow load_a, load_b, save;  // NULL: memory has the row's type
  int size_a, size_b, out_size;
  bool step_a, step_b;  // false: a single value, already in the row's type
  bool streams;

  Runner(const TypedRow& typed, int32_t in_a, int32_t in_b, const mx_tensor& to, bool step_a_,
         bool step_b_)
      : row(to.dtype == MX_BOOL && typed.test ? typed.test : typed.row),
        load_a(holds(in_a, typed.type) ? nullptr : cast_row(typed.type, in_a)),
        load_b(holds(in_b, typed.type) ? nullptr : cast_row(typed.type, in_b)),
        save(to.dtype == typed.type || row != typed.row ? nullptr : cast_row(to.dtype, typed.type)),
        size_a(element_size(in_a)),
        size_b(element_size(in_b)),
        out_size(element_size(to.dtype)),
        step_a(step_a_),
        step_b(step_b_),
        streams(beyond_caches(to)) {}

  void operator()(void* dst, const void* a, const void* b, int64_t n) const {
    if (!streams) return run((char*)dst, (const char*)a, (const char*)b, n);
    stream_made((char*)dst, out_size, n, [&](char* to, int64_t i, int64_t m) {
      run(to, (const char*)a + (step_a ? i * size_a : 0),
          (const char*)b + (step_b ? i * size_b : 0), m);
    });
    end_streams();
  }

 private:
  // Whether memory of one dtype can be read as another: booleans are bytes.
  static bool holds(int32_t memory, int32_t type) {
    return memory == type || (memory == MX_BOOL && type == MX_U8);
  }
  void run(char* dst, const char* a, const char* b, int64_t n) const {
    if (!load_a && !load_b && !save) return row(dst, a, b, n);
    alignas(64) char block_a[kBlock * 8], block_b[kBlock * 8], block_dst[kBlock * 8];
    for (int64_t i = 0; i < n; i += kBlock) {
      const int64_t m = n - i < kBlock ? n - i : kBlock;
      const void* from_a = step_a ? operand(load_a, block_a, a + i * size_a, m) : a;
      const void* from_b = step_b ? operand(load_b, block_b, b + i * size_b, m) : b;
      char* to = dst + i * out_size;
      row(save ? block_dst : to, from_a, from_b, m);
      if (save) save(to, block_dst, m);
    }
  }

  static const void* operand(CastRow load, char* block, const char* from, int64_t m) {
    if (!load) return from;
    load(block, from, m);
    return block;
  }
};

// Instructions that elemwise.def offers to fused programs (pointwise.cc): for the code of a
// kernel's name, its rows and the kinds of its operands.
enum Operands : int32_t { kUnary, kNumbers, kPair, kWithNumber, kNumberFirst };
struct Instruction {
  uint32_t code;
  Operands operands;
  Row row;     // runs; kWithNumber and kNumberFirst: a run and one element
  Row vs, sv;  // kPair: one operand is a single element
};
// FNV-1a hash of a name; also computed in mxcy/ops/fused/pointwise.py.
constexpr uint32_t name_code(const char* name) {
  uint32_t code = 2166136261u;
  for (; *name; ++name) code = (code ^ (uint8_t)*name) * 16777619u;
  return code;
}
// NULL if there is none; dtype is MX_F32 or MX_F64.
const Instruction* unary_instruction(uint32_t code, int32_t dtype);
const Instruction* binary_instruction(uint32_t code, int32_t dtype);

template <int n>
const Instruction* find_instruction(const Instruction (&table)[n], uint32_t code) {
  for (const Instruction& one : table) {
    if (one.code == code) return &one;
  }
  return nullptr;
}

constexpr int64_t kGrain = 1024;  // elements; a thread's share is a multiple of this

template <>
constexpr int32_t dtype_of<uint64_t> = MX_U64;

// Run whole calls. Tensors of other dtypes than `type` are converted block by block.
int run_unary(const mx_call* call, const TypedRow& typed);
int run_with_scalars(const mx_call* call, const TypedRow& typed, int numbers, bool scalar_first);
int run_binary(const mx_call* call, const Rows& rows);
int run_broadcast(const mx_call* call, const Rows& rows);

constexpr uint32_t kHalves = MX_BIT(F16) | MX_BIT(BF16);
constexpr uint32_t kIntegers = MX_BIT(U8) | MX_BIT(I8) | MX_BIT(I32) | MX_BIT(I64);

// The dtypes that a line of elemwise.def is built for; other dtypes of its set are converted.
//   REAL          float and double; halves and integers compute in float, as in MXNet
//   NUMBER        float, double and each integer dtype; halves compute in float
//   FLOATING      as REAL, but rejects integers
//   WHOLE_FLOATS  float and double: for functions that depend on the spacing of floats
#define MX_BUILD_REAL(X) X(float, MX_BIT(F32) | kHalves | kIntegers) X(double, MX_BIT(F64))
#define MX_BUILD_FLOATING(X) X(float, MX_BIT(F32) | kHalves) X(double, MX_BIT(F64))
#define MX_BUILD_WHOLE_FLOATS(X) X(float, MX_BIT(F32)) X(double, MX_BIT(F64))
#define MX_BUILD_BITS(X) \
  X(uint8_t, MX_BIT(U8)) \
  X(int8_t, MX_BIT(I8)) X(int32_t, MX_BIT(I32)) X(int64_t, MX_BIT(I64)) X(uint64_t, MX_BIT(U64))
#define MX_BUILD_NUMBER(X)        \
  X(float, MX_BIT(F32) | kHalves) \
  X(double, MX_BIT(F64)) MX_BUILD_BITS(X)

MX_LEAF_END
