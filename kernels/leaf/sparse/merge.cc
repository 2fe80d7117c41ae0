// "csr_merge_indptr" and "csr_merge": elementwise operations on two csr arrays. The sorted columns
// of each pair of rows are merged, after a pass that counts them.
#include "leaf/sparse/parts.h"
#include "params/sparse.gen.h"

MX_LEAF_BEGIN
namespace {

enum Operation { kAdd, kSub, kMul, kMaximum, kMinimum, kHypot };

int fail_uncounted() {
  return mx_fail("indptr: does not match the number of entries of the result");
}
int fail_unsorted() { return mx_fail("indices: must be sorted and distinct in each row"); }

// A row of both operands.
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
  // Number of columns in both.
  int64_t common() const {
    V equal = {};
    int64_t n = 0;
    walk([&](int64_t, int64_t, V matches) { equal -= matches; }, [&](int64_t, int64_t) { ++n; });
    for (int lane = 0; lane < L; ++lane) n += equal[lane];
    return n;
  }
  // Run body(i, j) for the columns in both, in order.
  template <class Body>
  MX_INLINE void for_common(const Body& body) const {
    const auto block = [&](int64_t i, int64_t j, V matches) {
      if (!any(matches)) return;
      for (int u = 0; u < L; ++u)
        for (int v = 0; v < L; ++v)
          if (a[i + u] == b[j + v]) body(i + u, j + v);
    };
    walk(block, body);
  }

 private:
  typedef Vec<int64_t> V;
  static constexpr int L = kLanes<int64_t>;

  // Compare all pairs of a block from each side, then advance the side with the smaller last
  // element. block(i, j, matches): which lanes of b from j, rotated by some amount, equal those of
  // a from i; one(i, j): an equal pair beyond the last block.
  template <class Block, class One>
  MX_INLINE void walk(const Block& block, const One& one) const {
    V next;
    for (int lane = 0; lane < L; ++lane) next[lane] = (lane + 1) % L;
    int64_t i = 0, j = 0;
    while (i + L <= na && j + L <= nb) {
      const V x = load(a + i);
      V y = load(b + j), matches = {};
      for (int turn = 0; turn < L; ++turn) {
        matches += x == y;
        y = __builtin_shuffle(y, next);
      }
      block(i, j, matches);
      const int64_t last_a = a[i + L - 1], last_b = b[j + L - 1];
      i += (last_a <= last_b) * L;
      j += (last_b <= last_a) * L;
    }
    while (i < na && j < nb) {
      const int64_t x = a[i], y = b[j];
      if (x == y) one(i, j);
      i += x <= y;
      j += y <= x;
    }
  }
  static bool any(V matches) {
    int64_t bits = 0;
    for (int lane = 0; lane < L; ++lane) bits |= matches[lane];
    return bits;
  }
};

int csr_merge_indptr(const mx_call* call) {
  const Csr lhs(call->in[0], call->in[1]), rhs(call->in[2], call->in[3]);
  const bool both = ((const mx_csr_merge_params*)call->params)->operation == kMul;
  if (!lhs.rows_fit() || !rhs.rows_fit()) return -1;
  int64_t* indptr = data<int64_t>(call->out[0]);
  const int status = try_rows(call->threads, lhs, [&](int64_t first, int64_t last) {
    for (int64_t row = first; row < last; ++row) {
      const Pair pair(lhs, rhs, row);
      if (!pair.sorted()) return fail_unsorted() == 0;
      const int64_t common = pair.common();
      indptr[row + 1] = both ? common : pair.na + pair.nb - common;
    }
    return true;
  });
  if (status) return status;
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

// x, or 0 unless `keep`: without a branch, which would be unpredictable.
template <class T>
MX_INLINE T kept(bool keep, T x) {
  typename UnsignedOf<sizeof(T)>::type bits;
  __builtin_memcpy(&bits, &x, sizeof x);
  bits &= -(decltype(bits))keep;
  __builtin_memcpy(&x, &bits, sizeof x);
  return x;
}

// Merges a row of both operands into the n entries of the result's row.
template <int operation, class S>
struct RowMerge {
  typedef Sum<S> T;
  const int64_t *a, *b, *end_a, *end_b;
  const S *x, *y;
  int64_t* indices;
  S* out;
  int64_t n;

  RowMerge(const Pair& row, const S* x, const S* y, int64_t* indices, S* out, int64_t n)
      : a(row.a),
        b(row.b),
        end_a(a + row.na),
        end_b(b + row.nb),
        x(x),
        y(y),
        indices(indices),
        out(out),
        n(n) {}

  // Number of steps in which neither operand nor the result can end.
  int64_t sure() const { return least(least(end_a - a, end_b - b), n); }

  // Make entry number k. There are no branches, which would be unpredictable.
  MX_INLINE void step(int64_t k) {
    const int64_t left = *a, right = *b;
    const bool from_a = left <= right, from_b = right <= left;
    indices[k] = from_a ? left : right;
    const T one = kept(from_a, scalar_as<T>(*x)), other = kept(from_b, scalar_as<T>(*y));
    store_scalar(out + k, combine<operation>(one, other));
    a += from_a;
    x += from_a;
    b += from_b;
    y += from_b;
  }
  void made(int64_t k) {
    indices += k;
    out += k;
    n -= k;
  }

  // Merge the rest of the row; false if it has more or fewer entries.
  bool finish() {
    for (int64_t steps = sure(); steps; steps = sure()) {
      for (int64_t k = 0; k < steps; ++k) step(k);
      made(steps);
    }
    const int64_t na = end_a - a, nb = end_b - b;
    if (n != na + nb) return false;
    for (int64_t k = 0; k < na; ++k) {
      indices[k] = a[k];
      store_scalar(out + k, combine<operation>(scalar_as<T>(x[k]), (T)0));
    }
    for (int64_t k = 0; k < nb; ++k) {
      indices[k] = b[k];
      store_scalar(out + k, combine<operation>((T)0, scalar_as<T>(y[k])));
    }
    return true;
  }
};

// The same for the intersection.
template <class S>
struct RowMerge<kMul, S> {
  typedef Sum<S> T;
  Pair row;
  const S *x, *y;
  int64_t* indices;
  S* out;
  int64_t n;

  bool finish() const {
    int64_t k = 0;
    row.for_common([&](int64_t i, int64_t j) {
      if (k < n) {
        indices[k] = row.a[i];
        store_scalar(out + k, scalar_as<T>(x[i]) * scalar_as<T>(y[j]));
      }
      ++k;
    });
    return k == n;
  }
};

// Two independent rows interleaved, to hide the latency of each row's dependent steps.
template <int operation, class S>
bool merge_rows(RowMerge<operation, S> one, RowMerge<operation, S> other) {
  if constexpr (operation != kMul) {
    for (int64_t steps = 1; steps;) {
      steps = least(one.sure(), other.sure());
      for (int64_t k = 0; k < steps; ++k) {
        one.step(k);
        other.step(k);
      }
      one.made(steps);
      other.made(steps);
    }
  }
  return one.finish() && other.finish();
}

template <int operation, class S>
int merge(const mx_call* call) {
  const Csr lhs(call->in[1], call->in[2]), rhs(call->in[4], call->in[5]);
  const Csr out(call->out[1], call->in[6]);
  if (!lhs.rows_fit() || !rhs.rows_fit() || !out.rows_fit()) return -1;
  const S *x = data<S>(call->in[0]), *y = data<S>(call->in[3]);
  if (out.indptr[0] != 0 || out.indptr[out.rows] != out.stored) return fail_uncounted();
  return try_rows(call->threads, out, [&](int64_t first, int64_t last) {
    bool sorted = true, counted = true;
    const auto row_merge = [&](int64_t row) {
      const Pair pair(lhs, rhs, row);
      if (!pair.sorted()) sorted = false;
      const int64_t begin = out.indptr[row], n = out.indptr[row + 1] - begin;
      return RowMerge<operation, S>{pair,
                                    x + lhs.indptr[row],
                                    y + rhs.indptr[row],
                                    data<int64_t>(call->out[1]) + begin,
                                    data<S>(call->out[0]) + begin,
                                    n};
    };
    int64_t row = first;
    for (; row + 1 < last && sorted; row += 2)
      if (!merge_rows(row_merge(row), row_merge(row + 1))) counted = false;
    if (row < last && !row_merge(row).finish()) counted = false;
    if (!sorted) return fail_unsorted() == 0;
    return counted || fail_uncounted() == 0;
  });
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
