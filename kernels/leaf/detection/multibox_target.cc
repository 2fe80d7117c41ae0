// "multibox_target" (anchors, labelled boxes, class scores): training targets of a single-shot
// detector, as offsets from anchors, their masks, and classes.
#include "core/parallel_try.h"
#include "leaf/detection/boxes.h"
#include "leaf/simd/math.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

// One image's boxes and the anchors matched with them.
template <class T>
class Matching {
 public:
  static size_t bytes(const mx_target_params& p) {
    const size_t anchors = (size_t)(p.anchors + kLanes<T>), boxes = (size_t)p.boxes;
    return Boxes<T>::bytes(p.anchors) + (2 * anchors + boxes) * sizeof(T) +
           (4 * anchors + 2 * boxes) * sizeof(int32_t);
  }

  Matching(const mx_target_params& params, const T* anchors, const T* labels, void* memory)
      : p(params), anchors_(memory, p.anchors), corners_(anchors), labels_(labels) {
    const int64_t stride = Boxes<T>::stride(p.anchors);
    best_ = (T*)((char*)memory + Boxes<T>::bytes(p.anchors));
    score_ = best_ + stride;
    found_ = score_ + stride;
    matched_ = (int32_t*)(found_ + p.boxes);
    nearest_ = matched_ + stride;
    order_ = nearest_ + stride;
    spare_ = order_ + stride;
    place_ = spare_ + stride;
    for (int64_t i = 0; i < p.anchors; ++i) {
      const T* side = anchors + 4 * i;
      anchors_.set(i, side[0], side[1], side[2], side[3]);
      matched_[i] = -1;
      nearest_[i] = 0;
      best_[i] = -1;
    }
    while (count_ < p.boxes && labels[count_ * p.width] != -1) ++count_;
  }
  bool empty() const { return count_ == 0; }

  void match() {
    for (int64_t j = 0; j < count_; ++j) {
      compare(j);
      find_place(j);
    }
    while (take_best()) {
    }
    if (!(p.threshold > 0)) return;
    for (int64_t i = 0; i < p.anchors; ++i) {
      if (matched_[i] < 0 && best_[i] > (T)p.threshold) matched_[i] = nearest_[i];
    }
  }

  // Write the offsets and classes of the matched anchors.
  void write(T* offsets, T* mask, T* classes) const {
    for (int64_t i = 0; i < p.anchors; ++i) {
      if (matched_[i] < 0) continue;
      const T *box = labels_ + matched_[i] * p.width, *anchor = corners_ + 4 * i;
      classes[i] = box[0] + 1;
      for (int d = 0; d < 2; ++d) {
        const T size = anchor[2 + d] - anchor[d], wanted = box[3 + d] - box[1 + d];
        const T center = (anchor[d] + anchor[2 + d]) / 2, its = (box[1 + d] + box[3 + d]) / 2;
        const T ratio = log(splat<Vec<T>>(wanted / size))[0];
        offsets[4 * i + d] = (its - center) / size / (T)p.variances[d];
        offsets[4 * i + 2 + d] = ratio / (T)p.variances[2 + d];
      }
      for (int d = 0; d < 4; ++d) mask[4 * i + d] = 1;
    }
  }

  // Mark the anchors trained as background: all unmatched ones, or the hardest of them.
  void mark_background(const T* scores, T* classes) {
    int64_t positive = 0, candidates = 0;
    for (int64_t i = 0; i < p.anchors; ++i) positive += matched_[i] >= 0;
    if (!(p.mining_ratio > 0)) {
      for (int64_t i = 0; i < p.anchors; ++i) {
        if (matched_[i] < 0) classes[i] = 0;
      }
      return;
    }
    for (int64_t i = 0; i < p.anchors; ++i) {
      if (matched_[i] < 0 && best_[i] < (T)p.mining_threshold) order_[candidates++] = (int32_t)i;
    }
    for (int64_t i = 0; i < p.anchors; i += kLanes<T>) rate_background(scores, i);
    const double wanted = (double)positive * p.mining_ratio;
    const int32_t* hardest = by_score(score_, order_, spare_, candidates);
    for (int64_t k = 0; k < candidates && (double)(k + 1) <= wanted; ++k) classes[hardest[k]] = 0;
  }

 private:
  Vec<T> overlap(const T* box, T area, int64_t i) const {
    return anchors_.overlap(box[0], box[1], box[2], box[3], area, i);
  }
  static T area_of(const T* box) {
    const T width = box[2] - box[0], height = box[3] - box[1];
    return (width > 0 ? width : 0) * (height > 0 ? height : 0);
  }

  // Record box j as the best match of the anchors that it overlaps more than earlier boxes do.
  void compare(int64_t j) {
    const T* box = labels_ + j * p.width + 1;
    const T area = area_of(box);
    for (int64_t i = 0; i < p.anchors; i += kLanes<T>) {
      const Vec<T> shared = overlap(box, area, i), before = load(best_ + i);
      if (!any(shared > before)) continue;
      const int n = (int)least(kLanes<T>, p.anchors - i);
      for (int k = 0; k < n; ++k) {
        if (shared[k] > before[k]) best_[i + k] = shared[k], nearest_[i + k] = (int32_t)j;
      }
    }
  }

  // Find the free anchor with the largest overlap with box j, the first among equals.
  void find_place(int64_t j) {
    const T* box = labels_ + j * p.width + 1;
    const T area = area_of(box);
    T most = -1;
    for (int64_t i = 0; i < p.anchors; i += kLanes<T>) {
      const Vec<T> shared = overlap(box, area, i);
      if (!any((shared > most) & (load(anchors_.alive + i) > 0))) continue;
      for (int k = 0; k < kLanes<T>; ++k) {
        if (shared[k] > most && anchors_.alive[i + k] > 0) {
          most = shared[k];
          place_[j] = (int32_t)(i + k);
        }
      }
    }
    found_[j] = most;
  }

  // Match the box and the free anchor with the largest overlap; false if none overlap.
  bool take_best() {
    int64_t chosen = -1;
    for (int64_t j = 0; j < count_; ++j) {
      if (found_[j] < 0) continue;
      if (chosen < 0 || found_[j] > found_[chosen] ||
          (found_[j] == found_[chosen] && place_[j] < place_[chosen])) {
        chosen = j;
      }
    }
    if (chosen < 0 || !(found_[chosen] > (T)1e-6)) return false;
    const int32_t taken = place_[chosen];
    matched_[taken] = (int32_t)chosen;
    anchors_.alive[taken] = 0;
    found_[chosen] = -1;
    for (int64_t j = 0; j < count_; ++j) {
      if (found_[j] >= 0 && place_[j] == taken) find_place(j);
    }
    return true;
  }

  // Compute how unlike background a vector of anchors from index i on is predicted to be.
  void rate_background(const T* scores, int64_t i) {
    typedef Vec<T> V;
    const int n = (int)least(kLanes<T>, p.anchors - i);
    V most = load_first(scores + i, n);
    for (int64_t c = 1; c < p.classes; ++c) {
      most = max(load_first(scores + c * p.anchors + i, n), most);
    }
    V sum = {};
    for (int64_t c = 0; c < p.classes; ++c) {
      sum += exp(load_first(scores + c * p.anchors + i, n) - most);
    }
    store_first(score_ + i, -exp(load_first(scores + i, n) - most) / sum, n);
  }

  const mx_target_params& p;
  Boxes<T> anchors_;  // alive: not matched yet
  const T *corners_, *labels_;
  int64_t count_ = 0;
  T *best_, *score_, *found_;
  int32_t *matched_, *nearest_, *order_, *spare_, *place_;
};

template <class T>
int multibox_target(const mx_call* call) {
  const auto& p = *(const mx_target_params*)call->params;
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Matching<T>::bytes(p));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      T* offsets = data<T>(call->out[0]) + b * 4 * p.anchors;
      T* mask = data<T>(call->out[1]) + b * 4 * p.anchors;
      T* classes = data<T>(call->out[2]) + b * p.anchors;
      memset(offsets, 0, (size_t)(4 * p.anchors) * sizeof(T));
      memset(mask, 0, (size_t)(4 * p.anchors) * sizeof(T));
      for (int64_t i = 0; i < p.anchors; ++i) classes[i] = (T)p.ignore;
      Matching<T> image(p, data<T>(call->in[0]), data<T>(call->in[1]) + b * p.boxes * p.width,
                        memory);
      if (image.empty()) continue;
      image.match();
      image.write(offsets, mask, classes);
      image.mark_background(data<T>(call->in[2]) + b * p.classes * p.anchors, classes);
    }
    return true;
  });
}

}  // namespace

void register_multibox_target() {
  mx_kernel_add("multibox_target", multibox_target<float>, MX_BIT(F32), 0);
  mx_kernel_add("multibox_target", multibox_target<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
