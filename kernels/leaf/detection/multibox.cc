// "multibox_prior" (a feature map): anchors around its positions; "multibox_detection" (class
// probabilities, offsets, anchors): boxes predicted by a single-shot detector.
#include "core/parallel_try.h"
#include "leaf/detection/boxes.h"
#include "leaf/simd/math.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
int multibox_prior(const mx_call* call) {
  const auto& p = *(const mx_prior_params*)call->params;
  parallel_for(call->threads, p.height, 1, [&](int64_t begin, int64_t end) {
    T* out = data<T>(call->out[0]) + 4 * begin * p.width * p.shapes;
    for (int64_t row = begin; row < end; ++row) {
      const double y = ((double)row + p.offsets[0]) * p.steps[0];
      for (int64_t column = 0; column < p.width; ++column) {
        const double x = ((double)column + p.offsets[1]) * p.steps[1];
        for (int64_t k = 0; k < p.shapes; ++k, out += 4) {
          const double wide = p.halves[2 * k], high = p.halves[2 * k + 1];
          const double box[4] = {x - wide, y - high, x + wide, y + high};
          for (int i = 0; i < 4; ++i) {
            out[i] = (T)(!p.clip ? box[i] : box[i] < 0 ? 0 : box[i] > 1 ? 1 : box[i]);
          }
        }
      }
    }
  });
  return 0;
}

// Predictions for the anchors of one image.
template <class T>
class Image {
 public:
  static size_t bytes(int64_t anchors) {
    return Boxes<T>::bytes(anchors) +
           (size_t)(anchors + kLanes<T>)*(sizeof(T) + 3 * sizeof(int32_t));
  }
  Image(const mx_detection_params& params, const T* scores, const T* offsets, const T* anchors,
        void* memory)
      : p(params), offsets_(offsets), anchors_(anchors), boxes_(memory, p.anchors) {
    best_ = (T*)((char*)memory + Boxes<T>::bytes(p.anchors));
    kind_ = (int32_t*)(best_ + p.anchors);
    order_ = kind_ + p.anchors;
    classify(scores);
  }

  void write(T* out) {
    int64_t kept = 0;
    for (int64_t i = 0; i < p.anchors; ++i) {
      if (best_[i] >= (T)p.threshold) order_[kept++] = (int32_t)i;
    }
    // Only the best ones are reordered.
    const int64_t top = p.top > 0 ? least(p.top, kept) : kept;
    int32_t* spare = order_ + p.anchors;
    for (int64_t i = 0; i < kept; ++i) write_row(order_[i], out + 6 * i, i < top);
    const int32_t* sorted = by_score(best_, order_, spare, kept);
    for (int64_t i = 0; i < top; ++i) {
      T* row = out + 6 * i;
      write_row(sorted[i], row, true);
      boxes_.set(i, row[2], row[3], row[4], row[5], row[0]);
      boxes_.alive[i] = row[0] >= 0;
    }
    const bool suppresses = p.overlap > 0 && p.overlap <= 1;
    for (int64_t i = 0; suppresses && i < top; ++i) {
      if (boxes_.alive[i] != 0) {
        boxes_.template suppress<true>(i, top, (T)p.overlap, p.force);
      } else {
        out[6 * i] = -1;
      }
    }
    for (int64_t i = 6 * kept; i < 6 * p.anchors; ++i) out[i] = -1;
  }

 private:
  // Find each anchor's most likely class; the background competes as if below all others.
  void classify(const T* scores) {
    for (int64_t i = 0; i < p.anchors; ++i) {
      best_[i] = p.background == 0 ? -1 : scores[i];
      kind_[i] = 0;
    }
    for (int64_t c = 1; c < p.classes; ++c) {
      const T* row = scores + c * p.anchors;
      const bool background = c == p.background;
      for (int64_t i = 0; i < p.anchors; ++i) {
        const T score = background ? -1 : row[i];
        kind_[i] = score > best_[i] ? (int32_t)c : kind_[i];
        best_[i] = score > best_[i] ? score : best_[i];
      }
    }
  }

  void write_row(int64_t i, T* row, bool counts) const {
    const T *anchor = anchors_ + 4 * i, *offset = offsets_ + 4 * i;
    // Classes are numbered from 0 without the background.
    row[0] = counts ? (T)(kind_[i] - (kind_[i] > p.background)) : -1;
    row[1] = best_[i];
    for (int d = 0; d < 2; ++d) {
      const T size = anchor[2 + d] - anchor[d], middle = (anchor[d] + anchor[2 + d]) / 2;
      const T center = offset[d] * (T)p.variances[d] * size + middle;
      const T wide = exp(splat<Vec<T>>(offset[2 + d] * (T)p.variances[2 + d]))[0];
      const T half = wide * size / 2;
      row[2 + d] = clipped(center - half);
      row[4 + d] = clipped(center + half);
    }
  }
  T clipped(T x) const { return !p.clip ? x : x < 0 ? 0 : x > 1 ? 1 : x; }

  const mx_detection_params& p;
  const T *offsets_, *anchors_;
  Boxes<T> boxes_;
  T* best_;
  int32_t *kind_, *order_;
};

template <class T>
int multibox_detection(const mx_call* call) {
  const auto& p = *(const mx_detection_params*)call->params;
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Image<T>::bytes(p.anchors));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      Image<T> image(p, data<T>(call->in[0]) + b * p.classes * p.anchors,
                     data<T>(call->in[1]) + b * 4 * p.anchors, data<T>(call->in[2]), memory);
      image.write(data<T>(call->out[0]) + b * 6 * p.anchors);
    }
    return true;
  });
}

}  // namespace

void register_multibox() {
  mx_kernel_add("multibox_prior", multibox_prior<float>, MX_BIT(F32), 0);
  mx_kernel_add("multibox_prior", multibox_prior<double>, MX_BIT(F64), 0);
  mx_kernel_add("multibox_detection", multibox_detection<float>, MX_BIT(F32), 0);
  mx_kernel_add("multibox_detection", multibox_detection<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
