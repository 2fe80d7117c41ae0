// Gathering and summing rows: "segment_sum" (data, order, starts), "row_retain" (data, indices,
// ids), "row_sum" (ids, data, indices, data, indices, ...).
#include "core/parallel_try.h"
#include "leaf/simd/cast.h"
#include "leaf/sparse/places.h"
#include "leaf/sparse/product.h"

MX_LEAF_BEGIN
namespace {

// Sums are products with an implicit matrix of ones.
template <class S>
int segment_sum(const mx_call* call) {
  const mx_tensor& rows = call->in[0];
  const Csr segments(call->in[1], call->in[2]);
  if (!segments.rows_fit() || !segments.columns_fit(rows.shape[0])) return -1;
  const int64_t width = row_size(rows);
  const RowProduct<S, S, false> sum = {nullptr, segments.indices, data<S>(rows), width,
                                       segments.stored};
  S* out = data<S>(call->out[0]);
  if (!width) return 0;
  for_rows(call->threads, segments, [&](int64_t first, int64_t last) {
    for (int64_t i = first; i < last; ++i)
      sum(out + i * width, segments.indptr[i], segments.indptr[i + 1]);
  });
  return 0;
}

int row_retain(const mx_call* call) {
  const int64_t *ids = data<int64_t>(call->in[2]), n = count(call->in[2]);
  const int64_t bytes = row_size(call->in[0]) * element_size(call->in[0].dtype);
  const char* rows = data<char>(call->in[0]);
  char* out = data<char>(call->out[0]);
  Places places(call->in[1]);
  if (!places.ready(n)) return -1;
  parallel_for(call->threads, n, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t place = places.of(ids[i]);
      if (place >= 0)
        memcpy(out + i * bytes, rows + place * bytes, (size_t)bytes);
      else
        memset(out + i * bytes, 0, (size_t)bytes);
    }
  });
  return 0;
}

// --- sums of row_sparse arrays -----------------------------------------------------------------

// One array, and how many of its rows have been added.
template <class S>
struct Term {
  const S* rows;
  const int64_t* indices;
  int64_t at, n;
};

template <class S>
void add_rows(S* out, const S* const* rows, int64_t terms, int64_t width) {
  typedef Sum<S> T;
  constexpr int L = kLanes<T>;
  for (int64_t i = 0; i < width; i += L) {
    const int n = (int)least(width - i, L);
    const auto part = [&](int64_t term) {
      return n == L ? load_as<T>(rows[term] + i) : load_first_as<T>(rows[term] + i, n);
    };
    Vec<T> sum = terms ? part(0) : Vec<T>{};
    for (int64_t term = 1; term < terms; ++term) sum += part(term);
    if (n == L)
      store_as(out + i, sum);
    else
      store_first_as(out + i, sum, n);
  }
}

// Rows [begin, end) of the sum; false if an array has rows that are not in the sum.
template <class S>
bool sum_terms(S* out, const int64_t* ids, int64_t begin, int64_t end, bool is_last, Term<S>* terms,
               const S** present, int64_t nterms, int64_t width) {
  for (int64_t i = begin; i < end; ++i) {
    int64_t n = 0;
    for (int64_t t = 0; t < nterms; ++t) {
      Term<S>& term = terms[t];
      if (term.at == term.n || term.indices[term.at] > ids[i]) continue;
      if (term.indices[term.at] < ids[i]) return false;
      present[n++] = term.rows + term.at++ * width;
    }
    add_rows(out + i * width, present, n, width);
  }
  for (int64_t t = 0; t < nterms; ++t)
    if (terms[t].at < terms[t].n && (is_last || terms[t].indices[terms[t].at] < ids[end]))
      return false;
  return true;
}

template <class S>
int row_sum(const mx_call* call) {
  const int64_t *ids = data<int64_t>(call->in[0]), n = count(call->in[0]);
  const int64_t nterms = call->nin / 2, width = row_size(call->out[0]);
  if (!ascending(ids, n)) return mx_fail("ids: must be sorted and distinct");
  for (int64_t t = 0; t < nterms; ++t) {
    const mx_tensor& indices = call->in[2 + 2 * t];
    if (!ascending(data<int64_t>(indices), count(indices)))
      return mx_fail("indices%lld: must be sorted and distinct", (long long)t);
    if (!n && count(indices)) return mx_fail("ids: rows of the arrays are missing");
  }
  return parallel_try(call->threads, n, 1, [&](int64_t begin, int64_t end) {
    Term<S>* terms = (Term<S>*)scratch(kTempSlot, (size_t)nterms * (sizeof(Term<S>) + sizeof(S*)));
    if (!terms) return false;
    for (int64_t t = 0; t < nterms; ++t) {
      const int64_t *indices = data<int64_t>(call->in[2 + 2 * t]),
                    rows = count(call->in[2 + 2 * t]);
      const int64_t at = begin ? first_from(indices, rows, ids[begin]) : 0;
      terms[t] = {data<S>(call->in[1 + 2 * t]), indices, at, rows};
    }
    if (!sum_terms(data<S>(call->out[0]), ids, begin, end, end == n, terms,
                   (const S**)(terms + nterms), nterms, width))
      return mx_fail("ids: rows of the arrays are missing") == 0;
    return true;
  });
}

template <class S>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("segment_sum", segment_sum<S>, dtype, 0);
  mx_kernel_add("row_sum", row_sum<S>, dtype, 0);
}

}  // namespace

void register_rows() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
  add_kernels<f16>(MX_BIT(F16));
  add_kernels<bf16>(MX_BIT(BF16));
  mx_kernel_add("row_retain", row_retain, MX_REAL_DTYPES, 0);
}
MX_LEAF_END
