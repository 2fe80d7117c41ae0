// Boxes encoded as offsets from anchors: "box_encode" (samples, matches, anchors, boxes, means,
// stds) and "box_decode" (offsets, anchors).
#include "leaf/simd/math.h"
#include "leaf/simd/plane.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kBoxes = 64;  // processed together, so that logarithms and powers are vectorised

template <class T>
struct Center {
  T x, y, width, height;

  Center(const T* box, bool center)
      : x(center ? box[0] : box[0] + (box[2] - box[0]) / 2),
        y(center ? box[1] : box[1] + (box[3] - box[1]) / 2),
        width(center ? box[2] : box[2] - box[0]),
        height(center ? box[3] : box[3] - box[1]) {}
};

template <class T>
int box_decode(const mx_call* call) {
  const auto& p = *(const mx_box_code_params*)call->params;
  const T *offsets = data<T>(call->in[0]), *anchors = data<T>(call->in[1]);
  T* out = data<T>(call->out[0]);
  parallel_for(call->threads, p.batch * p.boxes, kBoxes, [&](int64_t begin, int64_t end) {
    T sizes[2 * kBoxes];
    for (int64_t first = begin; first < end; first += kBoxes) {
      const int64_t n = least(kBoxes, end - first);
      for (int64_t i = 0; i < 2 * n; ++i) {
        const T size = offsets[4 * first + i / 2 * 4 + 2 + i % 2] * (T)p.stds[2 + i % 2];
        sizes[i] = p.clip > 0 && size > (T)p.clip ? (T)p.clip : size;
      }
      for (int64_t i = 0; i < 2 * n; i += kLanes<T>) {
        const int some = (int)least(kLanes<T>, 2 * n - i);
        store_first(sizes + i, exp(load_first(sizes + i, some)), some);
      }
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = first + i;
        const Center<T> base(anchors + 4 * (p.shared ? at % p.boxes : at), p.center);
        const T* offset = offsets + 4 * at;
        const T x = offset[0] * (T)p.stds[0] * base.width + base.x;
        const T y = offset[1] * (T)p.stds[1] * base.height + base.y;
        const T width = sizes[2 * i] * base.width / 2, height = sizes[2 * i + 1] * base.height / 2;
        T* to = out + 4 * at;
        to[0] = x - width, to[1] = y - height, to[2] = x + width, to[3] = y + height;
      }
    }
  });
  return 0;
}

template <class T>
int box_encode(const mx_call* call) {
  const auto& p = *(const mx_box_code_params*)call->params;
  const T *samples = data<T>(call->in[0]), *matches = data<T>(call->in[1]);
  const T *anchors = data<T>(call->in[2]), *boxes = data<T>(call->in[3]);
  const T *means = data<T>(call->in[4]), *stds = data<T>(call->in[5]);
  T *out = data<T>(call->out[0]), *mask = data<T>(call->out[1]);
  for (int64_t i = 0; i < p.batch * p.boxes; ++i) {
    if (!(matches[i] >= (T)-p.refs && matches[i] < (T)p.refs)) {
      return mx_fail("matches: box index out of range");
    }
  }
  parallel_for(call->threads, p.batch * p.boxes, kBoxes, [&](int64_t begin, int64_t end) {
    T codes[kBoxes][2], sizes[2 * kBoxes];
    for (int64_t first = begin; first < end; first += kBoxes) {
      const int64_t n = least(kBoxes, end - first);
      for (int64_t i = 0; i < n; ++i) {
        const int64_t at = first + i, match = (int64_t)matches[at];
        const int64_t number = at / p.boxes * p.refs + (match < 0 ? match + p.refs : match);
        const Center<T> base(anchors + 4 * at, false), box(boxes + 4 * number, false);
        codes[i][0] = (box.x - base.x) / base.width;
        codes[i][1] = (box.y - base.y) / base.height;
        sizes[2 * i] = box.width / base.width;
        sizes[2 * i + 1] = box.height / base.height;
      }
      for (int64_t i = 0; i < 2 * n; i += kLanes<T>) {
        const int some = (int)least(kLanes<T>, 2 * n - i);
        store_first(sizes + i, log(load_first(sizes + i, some)), some);
      }
      for (int64_t i = 0; i < n; ++i) {
        const bool counts = samples[first + i] > (T)0.5;
        const T code[4] = {codes[i][0], codes[i][1], sizes[2 * i], sizes[2 * i + 1]};
        for (int k = 0; k < 4; ++k) {
          const int64_t at = 4 * (first + i) + k;
          if (out) out[at] = counts ? (code[k] - means[k]) / stds[k] : 0;
          if (mask) mask[at] = counts;
        }
      }
    }
  });
  return 0;
}

template <class T>
void add_kernels(uint32_t dtype) {
  mx_kernel_add("box_decode", box_decode<T>, dtype, 0);
  mx_kernel_add("box_encode", box_encode<T>, dtype, 0);
}

}  // namespace

void register_box_code() {
  add_kernels<float>(MX_BIT(F32));
  add_kernels<double>(MX_BIT(F64));
}
MX_LEAF_END
