// "to_blocked": (batch, channels, spatial...) -> (batch, channels / B, spatial..., B), and its
// inverse "from_blocked": one matrix transposition per B channels of an image.
#include "leaf/simd/cast.h"
#include "leaf/simd/plane.h"
#include "leaf/simd/transpose.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kStrip = 256;  // positions processed by a thread at a time

// The matrices of a call, seen from its blocked side: `count` of (block x positions).
struct Matrices {
  int64_t count, block, positions;
  explicit Matrices(const mx_tensor& t) : block(t.shape[t.ndim - 1]), positions(1) {
    count = t.shape[0] * t.shape[1];
    for (int i = 2; i < t.ndim - 1; ++i) positions *= t.shape[i];
  }
  // Call body(first element of the matrix, first position, number of positions).
  template <class Body>
  void each_strip(int threads, const Body& body) const {
    const int64_t strips = ceil_div(positions, kStrip);
    parallel_for(threads, count * strips, 1, [&](int64_t begin, int64_t end) {
      for (int64_t i = begin; i < end; ++i) {
        const int64_t first = i % strips * kStrip;
        body(i / strips * block * positions, first, least(kStrip, positions - first));
      }
    });
  }
};

template <class T>
int to_blocked(const mx_call* call) {
  const Matrices m(call->out[0]);
  const T* src = data<T>(call->in[0]);
  T* dst = data<T>(call->out[0]);
  m.each_strip(call->threads, [&](int64_t matrix, int64_t first, int64_t n) {
    transpose(dst + matrix + first * m.block, m.block, src + matrix + first, m.positions, n,
              m.block);
  });
  return 0;
}

template <class T>
int from_blocked(const mx_call* call) {
  const Matrices m(call->in[0]);
  const T* src = data<T>(call->in[0]);
  T* dst = data<T>(call->out[0]);
  m.each_strip(call->threads, [&](int64_t matrix, int64_t first, int64_t n) {
    transpose(dst + matrix + first, m.positions, src + matrix + first * m.block, m.block, m.block,
              n);
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtypes) {
  mx_kernel_add("to_blocked", to_blocked<T>, dtypes, 0);
  mx_kernel_add("from_blocked", from_blocked<T>, dtypes, 0);
}

}  // namespace

void register_blocked_copy() {
  add_kernels<uint8_t>(MX_BIT(U8) | MX_BIT(I8) | MX_BIT(BOOL));
  add_kernels<uint16_t>(MX_BIT(F16) | MX_BIT(BF16));
  add_kernels<uint32_t>(MX_BIT(F32) | MX_BIT(I32));
  add_kernels<uint64_t>(MX_BIT(F64) | MX_BIT(I64));
}
MX_LEAF_END
