// "var" and "std" along a dimension of (outer, extent, inner) arrays.
//
// Runs of elements have a mean, a count and a sum of squared deviations; those of two runs can be
// combined, so memory is read once. How a row is split depends only on its length, so that results
// do not depend on the number of threads.
#include "leaf/simd/cast.h"
#include "leaf/simd/math.h"
#include "params/reduce.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kColumns = 256;  // lines processed together
// Minimum size and maximum number of a long row's parts.
constexpr int64_t kPart = 1 << 16, kParts = 64;
constexpr int64_t kFewRows = 16;  // with more rows, these are not split
constexpr int64_t kGrain = 4096;

struct Moments {
  double n = 0, mean = 0, squares = 0;

  void join(const Moments& b) {
    if (b.n == 0) return;
    const double total = n + b.n, apart = b.mean - mean;
    squares += b.squares + apart * apart * (n * b.n / total);
    mean += apart * (b.n / total);
    n = total;
  }
};

template <class V>
double total(V x) {
  double sum = 0;
  for (unsigned i = 0; i < sizeof x / sizeof x[0]; ++i) sum += x[i];
  return sum;
}

// Moments of at most kBlock elements.
template <class T>
Moments of_block(const T* x, int64_t n) {
  typedef Vec<T> V;
  constexpr int L = kLanes<T>, kSums = 4;
  V sum[kSums] = {};
  int64_t i = 0;
  for (; i + kSums * L <= n; i += kSums * L)
    for (int j = 0; j < kSums; ++j) sum[j] += load(x + i + j * L);
  for (; i + L <= n; i += L) sum[0] += load(x + i);
  if (i < n) sum[1] += load_first(x + i, (int)(n - i));
  const T middle = (T)(total((sum[0] + sum[1]) + (sum[2] + sum[3])) / (double)n);

  // Deviations from an approximate mean: their sum corrects it.
  V far[kSums] = {}, squares[kSums] = {};
  const V from = splat<V>(middle);
  for (i = 0; i + kSums * L <= n; i += kSums * L)
    for (int j = 0; j < kSums; ++j) {
      const V d = load(x + i + j * L) - from;
      far[j] += d;
      squares[j] += d * d;
    }
  for (; i < n; i += L) {
    const V d = (n - i < L ? load_first(x + i, (int)(n - i), from) : load(x + i)) - from;
    far[0] += d;
    squares[0] += d * d;
  }
  const double off = total((far[0] + far[1]) + (far[2] + far[3])) / (double)n;
  Moments moments;
  moments.n = (double)n;
  moments.mean = middle + off;
  moments.squares = total((squares[0] + squares[1]) + (squares[2] + squares[3])) - off * off * n;
  if (moments.squares < 0) moments.squares = 0;
  return moments;
}

struct Job {
  const char* in;
  char* out;
  CastRow load, save;  // load is NULL if memory has the computation type
  int in_size, out_size;
  int64_t outer, extent, inner;
  double ddof;
  bool root;

  double result(const Moments& m) const {
    const double left = m.n - ddof, value = m.squares / (left > 0 ? left : 0);
    return root ? __builtin_sqrt(value) : value;
  }
};

template <class T>
Moments of_row(const Job& job, const char* from, int64_t n) {
  alignas(64) T copy[kBlock];
  Moments all;
  for (int64_t i = 0; i < n; i += kBlock) {
    const int64_t m = n - i < kBlock ? n - i : kBlock;
    const char* x = from + i * job.in_size;
    if (job.load) job.load(copy, x, m);
    all.join(of_block(job.load ? copy : (const T*)x, m));
  }
  return all;
}

template <class T>
void rows(const Job& job, int threads) {
  const int64_t line = job.extent * job.in_size;
  const int64_t wanted = job.extent / kPart < kParts ? job.extent / kPart : kParts;
  const int64_t parts = job.outer < kFewRows && wanted > 1 ? wanted : 1;
  const int64_t each = ceil_div(ceil_div(job.extent, parts), (int64_t)kBlock) * kBlock;
  if (parts > 1) {
    Moments moments[kFewRows * kParts];
    parallel_for(threads, job.outer * parts, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % parts * each, n = job.extent - first;
        if (n > 0)
          moments[i] =
              of_row<T>(job, job.in + i / parts * line + first * job.in_size, n < each ? n : each);
      }
    });
    for (int64_t r = 0; r < job.outer; ++r) {
      for (int64_t i = 1; i < parts; ++i) moments[r * parts].join(moments[r * parts + i]);
      const double value = job.result(moments[r * parts]);
      job.save(job.out + r * job.out_size, &value, 1);
    }
    return;
  }
  parallel_for(threads, job.outer, kGrain / job.extent + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      const double value = job.result(of_row<T>(job, job.in + r * line, job.extent));
      job.save(job.out + r * job.out_size, &value, 1);
    }
  });
}

// Several columns together: first their means, then the squared deviations.
template <class T>
void columns(const Job& job, int threads) {
  const int64_t blocks = ceil_div(job.inner, kColumns), line = job.extent * job.inner;
  parallel_for(threads, job.outer * blocks, kGrain / line + 1, [&](int64_t begin, int64_t end) {
    alignas(64) T copy[kColumns];
    alignas(64) double mean[kColumns], squares[kColumns];
    for (int64_t i = begin; i < end; ++i) {
      const int64_t at = i / blocks * job.inner, first = i % blocks * kColumns;
      const int64_t width = job.inner - first < kColumns ? job.inner - first : kColumns;
      const auto row = [&](int64_t k) {
        const char* from = job.in + (at * job.extent + k * job.inner + first) * job.in_size;
        if (job.load) job.load(copy, from, width);
        return job.load ? copy : (const T*)from;
      };
      for (int64_t c = 0; c < width; ++c) mean[c] = squares[c] = 0;
      for (int64_t k = 0; k < job.extent; ++k) {
        const T* x = row(k);
        for (int64_t c = 0; c < width; ++c) mean[c] += (double)x[c];
      }
      for (int64_t c = 0; c < width; ++c) mean[c] /= (double)job.extent;
      for (int64_t k = 0; k < job.extent; ++k) {
        const T* x = row(k);
        for (int64_t c = 0; c < width; ++c) {
          const double d = (double)x[c] - mean[c];
          squares[c] += d * d;
        }
      }
      for (int64_t c = 0; c < width; ++c) {
        Moments m;
        m.n = (double)job.extent;
        m.squares = squares[c];
        mean[c] = job.result(m);
      }
      job.save(job.out + (at + first) * job.out_size, mean, width);
    }
  });
}

template <class T, bool root>
int spread(const mx_call* call) {
  const auto& p = *static_cast<const mx_spread_params*>(call->params);
  const mx_tensor &in = call->in[0], &out = call->out[0];
  const Job job = {data<char>(in),
                   data<char>(out),
                   in.dtype == dtype_of<T> ? nullptr : cast_row(dtype_of<T>, in.dtype),
                   cast_row(out.dtype, MX_F64),
                   element_size(in.dtype),
                   element_size(out.dtype),
                   p.outer,
                   p.extent,
                   p.inner,
                   p.ddof,
                   root};
  job.inner == 1 ? rows<T>(job, call->threads) : columns<T>(job, call->threads);
  return 0;
}

}  // namespace

void register_spread() {
  const uint32_t single = MX_BIT(F32) | MX_BIT(F16) | MX_BIT(BF16);
  const uint32_t wide = MX_REAL_DTYPES & ~single;
  mx_kernel_add("var", spread<float, false>, single, 0);
  mx_kernel_add("std", spread<float, true>, single, 0);
  mx_kernel_add("var", spread<double, false>, wide, 0);
  mx_kernel_add("std", spread<double, true>, wide, 0);
}
MX_LEAF_END
