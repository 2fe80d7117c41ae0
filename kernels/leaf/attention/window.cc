// Sliding-window attention as banded matrix products: "window_score" (queries, keys, dilations):
// products of each step with the steps in its window; "window_context" (scores, values, dilations):
// weighted sums over windows; "window_sent", its transpose; "window_mask" (scores, dilations,
// lengths): which scores are valid.
//
// The steps of a head that are its dilation apart form one sequence, in which windows are dense.
#include "core/parallel_try.h"
#include "leaf/matrix/gemm.h"
#include "params/attention.gen.h"

MX_LEAF_BEGIN
namespace {

// A sequence of steps that attend to each other, and the band around a block of its steps.
struct Band {
  const mx_window_params& p;
  int64_t first, dilation, count;      // of the steps
  int64_t begin, end, before, behind;  // the block, and how far it sees
  int64_t low, high;

  Band(const mx_window_params& params, int64_t first, int64_t dilation, int64_t begin,
       int64_t before, int64_t behind)
      : p(params),
        first(first),
        dilation(dilation),
        count(ceil_div(p.steps - first, dilation)),
        begin(begin),
        end(least(begin + block(p), count)),
        before(before),
        behind(behind),
        low(begin > before ? begin - before : 0),
        high(least(end + behind, count)) {}

  static int64_t block(const mx_window_params& p) {
    return least(p.places < 32 ? 16 : 64, p.steps);
  }
  // Number of elements of the widest band.
  static int64_t most(const mx_window_params& p) { return block(p) * (block(p) + p.places); }
  int64_t rows() const { return end - begin; }
  int64_t width() const { return high - low; }
  // Offset of step i of the sequence in an array with `size` elements per step and head.
  int64_t at(int64_t i, int64_t size) const { return (first + i * dilation) * p.heads * size; }
  int64_t stride(int64_t size) const { return dilation * p.heads * size; }

  // Call run(row, first window place, first column, count) for the places that exist.
  template <class Run>
  void each_row(const Run& run) const {
    for (int64_t i = begin; i < end; ++i) {
      const int64_t from = i > p.w ? 0 : p.w - i, to = least(p.places, count - i + p.w);
      run(i, from, i + from - p.w - low, to - from);
    }
  }
};

// Call body(band, its memory, index of its first step and head) -> success for all sequences and
// heads. `before` and `behind`: the number of steps of the sequence that a step sees on either
// side.
template <class T, class Body>
int each_band(const mx_call* call, int64_t before, int64_t behind, const Body& body) {
  const auto& p = *(const mx_window_params*)call->params;
  const int32_t* dilations = data<int32_t>(call->in[2]);
  for (int64_t h = 0; h < p.heads; ++h) {
    if (dilations[h] < 1) return mx_fail("dilation: expected 1 or more, got %d", dilations[h]);
  }
  return parallel_try(call->threads, p.batch * p.heads, 1, [&](int64_t start, int64_t stop) {
    T* band = (T*)scratch(kTempSlot, (size_t)Band::most(p) * sizeof(T));
    if (!band) return false;
    for (int64_t i = start; i < stop; ++i) {
      const int64_t image = i / p.heads * p.steps * p.heads, head = i % p.heads;
      const int64_t dilation = dilations[head];
      for (int64_t first = 0; first < least(dilation, p.steps); ++first) {
        const int64_t count = ceil_div(p.steps - first, dilation);
        for (int64_t begin = 0; begin < count; begin += Band::block(p)) {
          const Band here(p, first, dilation, begin, before, behind);
          if (!body(here, band, image + head)) return false;
        }
      }
    }
    return true;
  });
}

template <class T>
int window_score(const mx_call* call) {
  const auto& p = *(const mx_window_params*)call->params;
  const int64_t d = p.depth, places = p.places, behind = places - 1 - p.w;
  return each_band<T>(call, p.w, behind, [&](const Band& band, T* products, int64_t head) {
    const T* queries = data<T>(call->in[0]) + head * d + band.at(band.begin, d);
    const T* keys = data<T>(call->in[1]) + head * d + band.at(band.low, d);
    const Matrix<T> left = {queries, band.stride(d), false}, right = {keys, band.stride(d), false};
    if (!gemm_serial(band.rows(), band.width(), d, (T)1, left, right, (T)0, products,
                     band.width())) {
      return false;
    }
    T* scores = data<T>(call->out[0]) + head * places;
    band.each_row([&](int64_t i, int64_t place, int64_t column, int64_t n) {
      T* row = scores + band.at(i, places);
      memset(row, 0, (size_t)places * sizeof(T));
      memcpy(row + place, products + (i - band.begin) * band.width() + column,
             (size_t)n * sizeof(T));
    });
    return true;
  });
}

// The block's rows of the result: band * values.
template <class T>
bool multiply(const mx_call* call, const Band& band, const T* weights, int64_t head) {
  const int64_t d = band.p.depth;
  const T* values = data<T>(call->in[1]) + head * d + band.at(band.low, d);
  T* out = data<T>(call->out[0]) + head * d + band.at(band.begin, d);
  const Matrix<T> left = {weights, band.width(), false}, right = {values, band.stride(d), true};
  return gemm_serial(band.rows(), d, band.width(), (T)1, left, right, (T)0, out, band.stride(d));
}

template <class T>
int window_context(const mx_call* call) {
  const auto& p = *(const mx_window_params*)call->params;
  const int64_t places = p.places, behind = places - 1 - p.w;
  return each_band<T>(call, p.w, behind, [&](const Band& band, T* weights, int64_t head) {
    const T* scores = data<T>(call->in[0]) + head * places;
    memset(weights, 0, (size_t)(band.rows() * band.width()) * sizeof(T));
    band.each_row([&](int64_t i, int64_t place, int64_t column, int64_t n) {
      memcpy(weights + (i - band.begin) * band.width() + column,
             scores + band.at(i, places) + place, (size_t)n * sizeof(T));
    });
    return multiply(call, band, weights, head);
  });
}

template <class T>
int window_sent(const mx_call* call) {
  const auto& p = *(const mx_window_params*)call->params;
  const int64_t places = p.places, behind = places - 1 - p.w;
  return each_band<T>(call, behind, p.w, [&](const Band& band, T* weights, int64_t head) {
    const T* scores = data<T>(call->in[0]) + head * places;
    memset(weights, 0, (size_t)(band.rows() * band.width()) * sizeof(T));
    for (int64_t t = band.low; t < band.high; ++t) {  // what this step contributes
      const T* row = scores + band.at(t, places) + p.w - t;
      const int64_t begin = band.begin > t - p.w ? band.begin : t - p.w;
      const int64_t end = least(band.end, t + behind + 1);
      T* to = weights + t - band.low - band.begin * band.width();
      for (int64_t i = begin; i < end; ++i) to[i * band.width()] = row[i];
    }
    return multiply(call, band, weights, head);
  });
}

template <class T>
int window_mask(const mx_call* call) {
  const auto& p = *(const mx_window_params*)call->params;
  const int32_t *dilations = data<int32_t>(call->in[1]), *lengths = data<int32_t>(call->in[2]);
  for (int64_t h = 0; h < p.heads; ++h) {
    if (dilations[h] < 1) return mx_fail("dilation: expected 1 or more, got %d", dilations[h]);
  }
  parallel_for(call->threads, p.batch * p.steps, 1, [&](int64_t begin, int64_t end) {
    T* row = data<T>(call->out[0]) + begin * p.heads * p.places;
    for (int64_t i = begin; i < end; ++i) {
      const int64_t own = i % p.steps, length = lengths[i / p.steps];
      for (int64_t h = 0; h < p.heads; ++h, row += p.places) {
        const int64_t before = own / dilations[h];
        const int64_t from = p.w > before ? p.w - before : 0;
        const int64_t to =
            own < length ? least(p.places, p.w + (length - 1 - own) / dilations[h] + 1) : 0;
        for (int64_t k = 0; k < p.places; ++k) row[k] = (T)(k >= from && k < to);
      }
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("window_score", window_score<T>, dtype, 0);
  mx_kernel_add("window_context", window_context<T>, dtype, 0);
  mx_kernel_add("window_sent", window_sent<T>, dtype, 0);
  mx_kernel_add("window_mask", window_mask<T>, dtype, 0);
}

}  // namespace

void register_attention_window() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
