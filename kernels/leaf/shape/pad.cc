// Padding with elements of the array: the nearest one (edge), mirrored without (reflect) or with
// the edge (symmetric), or from the other end (wrap); and its gradient, which adds the margins to
// the elements they repeat.
#include "leaf/simd/plane.h"
#include "leaf/simd/stream.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 2048;  // elements that make another thread worthwhile
constexpr int kDims = 5;
enum Margins { kEdge, kReflect, kSymmetric, kWrap };

// The source index that position `i` of the padded dimension repeats.
inline int64_t repeated(int64_t i, int64_t extent, int32_t margins) {
  if (i >= 0 && i < extent) return i;
  if (margins == kEdge || extent == 1) return i < 0 ? 0 : extent - 1;
  const int64_t mirrored = margins == kSymmetric, half = extent - 1 + mirrored;
  const int64_t period = margins == kWrap ? extent : 2 * half;
  i %= period;
  if (i < 0) i += period;
  return i < extent ? i : period - mirrored - i;
}

// The padded array's rows along the last dimension, and the source rows they repeat.
struct Rows {
  const mx_pad_params* p;
  int64_t wide[kDims];  // the padded extents
  int64_t n = 1;        // padded rows

  explicit Rows(const mx_pad_params* params) : p(params) {
    for (int d = 0; d < p->ndim; ++d) wide[d] = p->shape[d] + p->before[d] + p->after[d];
    for (int d = 0; d < p->ndim - 1; ++d) n *= wide[d];
  }
  int64_t source(int64_t row) const {
    int64_t found = 0, step = 1;
    for (int d = p->ndim - 2; d >= 0; --d) {
      found += repeated(row % wide[d] - p->before[d], p->shape[d], p->reflect) * step;
      row /= wide[d];
      step *= p->shape[d];
    }
    return found;
  }
};

// A row's margin of positions [begin, end); the array's own elements start at `before`.
template <class T>
void margin(T* dst, const T* src, int64_t begin, int64_t end, int64_t before, int64_t extent,
            int32_t margins) {
  if (margins != kWrap || end - begin > extent) {
    for (int64_t i = begin; i < end; ++i) dst[i] = src[repeated(i - before, extent, margins)];
  } else if (begin < end) {
    copy_bytes(dst + begin, src + repeated(begin - before, extent, kWrap),
               (end - begin) * sizeof(T));
  }
}

template <class T>
int pad(const mx_call* call) {
  const auto* p = static_cast<const mx_pad_params*>(call->params);
  const Rows rows(p);
  const int last = p->ndim - 1;
  const int64_t n = p->shape[last], before = p->before[last], wide = rows.wide[last];
  const int64_t own = least(n, wide - before);  // elements that wrap around may not fit
  T* to = data<T>(call->out[0]);
  const T* from = data<T>(call->in[0]);
  parallel_for(call->threads, rows.n, kGrain / (wide + 1) + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      T* dst = to + r * wide;
      const T* src = from + rows.source(r) * n;
      margin(dst, src, 0, before, before, n, p->reflect);
      copy_bytes(dst + before, src, own * sizeof(T));
      margin(dst, src, before + own, wide, before, n, p->reflect);
    }
  });
  return 0;
}

template <class T>
int pad_grad(const mx_call* call) {
  const auto* p = static_cast<const mx_pad_params*>(call->params);
  const Rows rows(p);
  const int last = p->ndim - 1;
  const int64_t n = p->shape[last], before = p->before[last], wide = rows.wide[last];
  T* to = data<T>(call->out[0]);
  const T* from = data<T>(call->in[0]);
  const int64_t size = count(call->out[0]);
  memset(to, 0, size * sizeof(T));
  // Parts of a first dimension without margins can be summed independently.
  const int64_t parts = last && p->shape[0] == rows.wide[0] ? p->shape[0] : 1;
  const int64_t each = rows.n / parts;
  parallel_for(call->threads, parts, kGrain / (each * wide + 1) + 1,
               [&](int64_t begin, int64_t end) {
                 for (int64_t r = begin * each; r < end * each; ++r) {
                   T* dst = to + rows.source(r) * n;
                   const T* src = from + r * wide;
                   for (int64_t i = 0; i < before; ++i)
                     dst[repeated(i - before, n, p->reflect)] += src[i];
                   for (int64_t i = 0; i < n; ++i) dst[i] += src[before + i];
                   for (int64_t i = before + n; i < wide; ++i)
                     dst[repeated(i - before, n, p->reflect)] += src[i];
                 }
               });
  return 0;
}

}  // namespace

void register_pad() {
  mx_kernel_add("pad", pad<uint8_t>, MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL), 0);
  mx_kernel_add("pad", pad<uint16_t>, MX_BIT(F16) | MX_BIT(BF16) | MX_BIT(I16) | MX_BIT(U16), 0);
  mx_kernel_add("pad", pad<uint32_t>, MX_BIT(F32) | MX_BIT(I32) | MX_BIT(U32), 0);
  mx_kernel_add("pad", pad<uint64_t>, MX_BIT(F64) | MX_BIT(I64) | MX_BIT(U64), 0);
  mx_kernel_add("pad_grad", pad_grad<float>, MX_BIT(F32), 0);
  mx_kernel_add("pad_grad", pad_grad<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
