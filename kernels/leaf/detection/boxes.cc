// "box_iou" (two arrays of boxes) and "box_nms" (rows of scored boxes): overlaps, and non-maximum
// suppression.
#include "leaf/detection/boxes.h"
#include "core/parallel_try.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

// Box coordinates as left, top, right, bottom.
template <class T>
void corners(const T* box, bool center, T* edges) {
  for (int i = 0; i < 2; ++i) {
    const T half = box[2 + i] * (T)0.5;
    edges[i] = center ? box[i] - half : box[i];
    edges[2 + i] = center ? box[i] + half : box[2 + i];
  }
}

template <class T>
int box_iou(const mx_call* call) {
  const auto& p = *(const mx_box_iou_params*)call->params;
  void* memory = scratch(kSharedSlot, Boxes<T>::bytes(p.rhs));
  if (!memory) return -1;
  Boxes<T> boxes(memory, p.rhs);
  T box[4];
  for (int64_t j = 0; j < p.rhs; ++j) {
    corners(data<T>(call->in[1]) + 4 * j, p.center, box);
    boxes.set(j, box[0], box[1], box[2], box[3]);
  }
  parallel_for(call->threads, p.lhs, 1, [&](int64_t begin, int64_t end) {
    for (int64_t i = begin; i < end; ++i) {
      T own[4];
      corners(data<T>(call->in[0]) + 4 * i, p.center, own);
      const T width = own[2] - own[0], height = own[3] - own[1];
      const T area = (width > 0 ? width : 0) * (height > 0 ? height : 0);
      T* out = data<T>(call->out[0]) + i * p.rhs;
      for (int64_t j = 0; j < p.rhs; j += kLanes<T>) {
        const auto overlaps = boxes.overlap(own[0], own[1], own[2], own[3], area, j);
        store_first(out + j, overlaps, (int)least(kLanes<T>, p.rhs - j));
      }
    }
  });
  return 0;
}

// --- suppression -------------------------------------------------------------------------------

// Non-maximum suppression of one batch element.
template <class T>
class Rows {
 public:
  static size_t bytes(int64_t rows) {
    return Boxes<T>::bytes(rows) + (size_t)rows * (sizeof(T) + 2 * sizeof(int32_t));
  }
  Rows(const mx_box_nms_params& params, const T* rows, void* memory)
      : p(params), rows_(rows), boxes_(memory, p.rows) {
    score_ = (T*)((char*)memory + Boxes<T>::bytes(p.rows));
    order_ = (int32_t*)(score_ + p.rows);
  }

  // Write the rows that are kept and, if requested, their indices.
  void write(T* out, T* places) {
    const int64_t n = choose();
    int64_t kept = 0;
    for (int64_t i = 0; i < n; ++i) {
      if (boxes_.alive[i] == 0) continue;
      boxes_.template suppress<false>(i, n, (T)p.overlap, p.kind < 0 || p.force);
      if (places) places[kept] = (T)order_[i];
      write_row(order_[i], out + kept++ * p.width);
    }
    for (int64_t i = kept * p.width; i < p.rows * p.width; ++i) out[i] = -1;
    for (int64_t i = kept; places && i < p.rows; ++i) places[i] = -1;
  }

 private:
  // Collect the candidates by descending score.
  int64_t choose() {
    int64_t n = 0;
    for (int64_t i = 0; i < p.rows; ++i) {
      const T* row = rows_ + i * p.width;
      score_[i] = row[p.score];
      const bool background = p.kind >= 0 && row[p.kind] == (T)p.background;
      if (score_[i] > (T)p.valid && !background) order_[n++] = (int32_t)i;
    }
    order_ = by_score(score_, order_, order_ + p.rows, n);
    if (p.top > 0) n = least(n, p.top);
    for (int64_t i = 0; i < n; ++i) {
      const T* row = rows_ + order_[i] * p.width;
      T box[4];
      corners(row + p.box, p.center_in, box);
      boxes_.set(i, box[0], box[1], box[2], box[3], p.kind < 0 ? 0 : row[p.kind]);
    }
    return n;
  }

  void write_row(int64_t number, T* to) const {
    const T* row = rows_ + number * p.width;
    memcpy(to, row, (size_t)p.width * sizeof(T));
    const T* box = row + p.box;
    if (p.center_in == p.center_out) return;
    if (p.center_in) return corners(box, true, to + p.box);
    for (int i = 0; i < 2; ++i) {
      const T size = box[2 + i] - box[i];
      to[p.box + i] = box[i] + (T)0.5 * size;
      to[p.box + 2 + i] = size;
    }
  }

  const mx_box_nms_params& p;
  const T* rows_;
  Boxes<T> boxes_;
  T* score_;
  int32_t* order_;
};

template <class T>
int box_nms(const mx_call* call) {
  const auto& p = *(const mx_box_nms_params*)call->params;
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Rows<T>::bytes(p.rows));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      Rows<T> rows(p, data<T>(call->in[0]) + b * p.rows * p.width, memory);
      rows.write(data<T>(call->out[0]) + b * p.rows * p.width,
                 call->out[1].data ? data<T>(call->out[1]) + b * p.rows : nullptr);
    }
    return true;
  });
}

}  // namespace

void register_boxes() {
  mx_kernel_add("box_iou", box_iou<float>, MX_BIT(F32), 0);
  mx_kernel_add("box_iou", box_iou<double>, MX_BIT(F64), 0);
  mx_kernel_add("box_nms", box_nms<float>, MX_BIT(F32), 0);
  mx_kernel_add("box_nms", box_nms<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
