// "csr_merge_indptr" and "csr_merge": elementwise operations of two csr arrays. The sorted columns
// of a row of each are merged; first they are counted.
#include "leaf/sparse/parts.h"

MX_LEAF_BEGIN
namespace {

enum Operation { kAdd, kSub, kMul, kMaximum, kMinimum, kHypot };

int fail_unsorted() { return mx_fail("indices: must be sorted and distinct in each row"); }

// A row of both sides.
struct Pair {
  const int64_t *a, *b;
  int64_t na, nb;
  Pair(const Csr& lhs, const Csr& rhs, int64_t row)
      : a(lhs.indices + lhs.indptr[row]),
        b(rhs.indices + rhs.indptr[row]),
        na(lhs.indptr[row + 1] - lhs.indptr[row]),
        nb(rhs.indptr[row + 1] - rhs.indptr[row]) {}
  bool sorted() const {
    return ascending(a, na) && ascending(b, nb) && !(na && a[0] < 0) && !(nb && b[0] < 0);
  }
  // How many columns both have: of some of each all pairs are compared, then those with the smaller
  // end are done with.
  int64_t common() const {
    typedef Vec<int64_t> V;
    constexpr int L = kLanes<int64_t>;
    V next;
    for (int lane = 0; lane < L; ++lane) next[lane] = (lane + 1) % L;
    V equal = {};
    int64_t i = 0, j = 0, n = 0;
    while (i + L <= na && j + L <= nb) {
      const V x = load(a + i);
      V y = load(b + j);
      for (int turn = 0; turn < L; ++turn) {
        equal -= x == y;
        y = __builtin_shuffle(y, next);
      }
      const int64_t last_a = a[i + L - 1], last_b = b[j + L - 1];
      i += (last_a <= last_b) * L;
      j += (last_b <= last_a) * L;
    }
    for (int lane = 0; lane < L; ++lane) n += equal[lane];
    while (i < na && j < nb) {
      const int64_t x = a[i], y = b[j];
      n += x == y;
      i += x <= y;
      j += y <= x;
    }
    return n;
  }
};

int csr_merge_indptr(const mx_call* call) {
  const Csr lhs(call->in[0], call->in[1]), rhs(call->in[2], call->in[3]);
  const bool both = ((const mx_csr_merge_params*)call->params)->operation == kMul;
  if (!lhs.rows_fit() || !rhs.rows_fit()) return -1;
  int64_t* indptr = data<int64_t>(call->out[0]);
  bool ok = true;
  for_rows(call->threads, lhs, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const Pair pair(lhs, rhs, row);
      if (!pair.sorted()) {
        ok = false;
        return;
      }
      const int64_t common = pair.common();
      indptr[row + 1] = both ? common : pair.na + pair.nb - common;
    }
  });
  if (!ok) return fail_unsorted();
  indptr[0] = 0;
  for (int64_t row = 0; row < lhs.rows; ++row) indptr[row + 1] += indptr[row];
  return 0;
}

template <int operation, class T>
MX_INLINE T combine(T x, T y) {
  if constexpr (operation == kAdd) return x + y;
  if constexpr (operation == kSub) return x - y;
  if constexpr (operation == kMul) return x * y;
  if constexpr (operation == kMaximum) return x != x || x > y ? x : y;
  if constexpr (operation == kMinimum) return x != x || x < y ? x : y;
  if constexpr (operation == kHypot) return (T)__builtin_hypot(x, y);
}

// x, or 0 unless it is kept: without a branch, which nobody could predict.
template <class T>
MX_INLINE T kept(bool keep, T x) {
  typename UnsignedOf<sizeof(T)>::type bits;
  __builtin_memcpy(&bits, &x, sizeof x);
  bits &= -(decltype(bits))keep;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// Fill n entries; false if there are more or fewer.
template <int operation, class S>
bool merge_row(const Pair& row, const S* x, const S* y, int64_t* indices, S* out, int64_t n) {
  typedef Sum<S> T;
  int64_t i = 0, j = 0, k = 0;
  while (i < row.na && j < row.nb) {
    const int64_t a = row.a[i], b = row.b[j];
    if (operation != kMul || a == b) {
      if (k == n) return false;
      const T left = kept(a <= b, scalar_as<T>(x[i])), right = kept(b <= a, scalar_as<T>(y[j]));
      indices[k] = a < b ? a : b;
      store_scalar(out + k++, combine<operation>(left, right));
    }
    i += a <= b;
    j += b <= a;
  }
  if constexpr (operation != kMul) {
    if (n - k != row.na - i + row.nb - j) return false;
    for (; i < row.na; ++i, ++k) {
      indices[k] = row.a[i];
      store_scalar(out + k, combine<operation>(scalar_as<T>(x[i]), (T)0));
    }
    for (; j < row.nb; ++j, ++k) {
      indices[k] = row.b[j];
      store_scalar(out + k, combine<operation>((T)0, scalar_as<T>(y[j])));
    }
  }
  return k == n;
}

template <int operation, class S>
int merge(const mx_call* call) {
  const Csr lhs(call->in[1], call->in[2]), rhs(call->in[4], call->in[5]);
  const Csr out(call->out[1], call->in[6]);
  if (!lhs.rows_fit() || !rhs.rows_fit() || !out.rows_fit()) return -1;
  const S *x = data<S>(call->in[0]), *y = data<S>(call->in[3]);
  bool sorted = true, counted = out.indptr[0] == 0 && out.indptr[out.rows] == out.stored;
  if (counted) {
    for_rows(call->threads, out, [&](int64_t first, int64_t last) {
      for (int64_t row = first; row < last; ++row) {
        const Pair pair(lhs, rhs, row);
        const int64_t begin = out.indptr[row], n = out.indptr[row + 1] - begin;
        if (!pair.sorted()) {
          sorted = false;
          return;
        }
        if (!merge_row<operation>(pair, x + lhs.indptr[row], y + rhs.indptr[row],
                                  data<int64_t>(call->out[1]) + begin,
                                  data<S>(call->out[0]) + begin, n)) {
          counted = false;
          return;
        }
      }
    });
  }
  if (!sorted) return fail_unsorted();
  return counted ? 0 : mx_fail("indptr: does not count the entries of the result");
}

template <class S>
int csr_merge(const mx_call* call) {
  switch (((const mx_csr_merge_params*)call->params)->operation) {
    case kAdd:
      return merge<kAdd, S>(call);
    case kSub:
      return merge<kSub, S>(call);
    case kMul:
      return merge<kMul, S>(call);
    case kMaximum:
      return merge<kMaximum, S>(call);
    case kMinimum:
      return merge<kMinimum, S>(call);
    default:
      return merge<kHypot, S>(call);
  }
}

}  // namespace

void register_csr_merge() {
  mx_kernel_add("csr_merge_indptr", csr_merge_indptr, MX_BIT(I64), 0);
  mx_kernel_add("csr_merge", csr_merge<float>, MX_BIT(F32), 0);
  mx_kernel_add("csr_merge", csr_merge<double>, MX_BIT(F64), 0);
  mx_kernel_add("csr_merge", csr_merge<f16>, MX_BIT(F16), 0);
  mx_kernel_add("csr_merge", csr_merge<bf16>, MX_BIT(BF16), 0);
}
MX_LEAF_END
