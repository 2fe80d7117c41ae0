// "roll": circular shifts along a dimension of (outer, extent, inner) arrays. "tril" and "triu":
// matrices with zeros above or below a diagonal.
#include "leaf/simd/cast.h"
#include "leaf/simd/stream.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 1 << 14;  // bytes that make another thread worthwhile

int roll(const mx_call* call) {
  const auto& p = *static_cast<const mx_roll_params*>(call->params);
  const int64_t block = p.inner * element_size(call->in[0].dtype), line = p.extent * block;
  const int64_t moved = p.shift * block;
  const char* from = data<char>(call->in[0]);
  char* to = data<char>(call->out[0]);
  if (p.outer < call->threads) {
    for (int64_t r = 0; r < p.outer; ++r, from += line, to += line)
      parallel_for(call->threads, line, kGrain, [&](int64_t begin, int64_t end) {
        const int64_t border = end < moved ? end : begin > moved ? begin : moved;
        copy_bytes(to + begin, from + begin + line - moved, border - begin);
        copy_bytes(to + border, from + border - moved, end - border);
      });
    return 0;
  }
  parallel_for(call->threads, p.outer, kGrain / line + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r) {
      copy_bytes(to + r * line, from + (r + 1) * line - moved, moved);
      copy_bytes(to + r * line + moved, from + r * line, line - moved);
    }
  });
  return 0;
}

template <bool lower>
int triangle(const mx_call* call) {
  const auto& p = *static_cast<const mx_triangle_params*>(call->params);
  const int64_t size = element_size(call->in[0].dtype), line = p.columns * size;
  const char* from = data<char>(call->in[0]);
  char* to = data<char>(call->out[0]);
  parallel_for(call->threads, p.outer * p.rows, kGrain / line + 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      int64_t border = i % p.rows + p.k + lower;  // the first column of the other part
      border = (border < 0 ? 0 : border > p.columns ? p.columns : border) * size;
      const char* x = from + i * line;
      char* y = to + i * line;
      if (lower) {
        copy_bytes(y, x, border);
        memset(y + border, 0, line - border);
      } else {
        memset(y, 0, border);
        copy_bytes(y + border, x + border, line - border);
      }
    }
  });
  return 0;
}

}  // namespace

void register_roll() {
  const uint32_t all = MX_REAL_DTYPES;
  mx_kernel_add("roll", roll, all, 0);
  mx_kernel_add("tril", triangle<true>, all, 0);
  mx_kernel_add("triu", triangle<false>, all, 0);
}
MX_LEAF_END
