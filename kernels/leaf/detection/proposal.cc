// "proposal" (scores, offsets, image sizes): region proposals from predictions for anchors. Boxes
// are in pixels: from a to b they are b - a + 1 wide.
#include "core/parallel_try.h"
#include "leaf/detection/boxes.h"
#include "leaf/simd/math.h"
#include "params/detection.gen.h"

MX_LEAF_BEGIN
namespace {

template <class T>
class Proposals {
 public:
  static int64_t count(const mx_proposal_params& p) { return p.anchors * p.height * p.width; }
  static size_t bytes(const mx_proposal_params& p) {
    const size_t n = (size_t)count(p);
    return Boxes<T>::bytes((int64_t)n) + n * (5 * sizeof(T) + 2 * sizeof(int32_t));
  }

  Proposals(const mx_proposal_params& params, const T* scores, const T* moves, const T* info,
            void* memory)
      : p(params), info_(info), boxes_(memory, count(p)) {
    boxes_.margin = 1;
    score_ = (T*)((char*)memory + Boxes<T>::bytes(count(p)));
    box_ = score_ + count(p);
    order_ = (int32_t*)(box_ + 4 * count(p));
    predict(scores, moves);
  }

  // Write p.after regions (image index, box) and, if requested, their scores.
  void write(int64_t image, T* regions, T* scores) {
    int64_t n = count(p), kept = 0;
    for (int64_t i = 0; i < n; ++i) order_[i] = (int32_t)i;
    const int32_t* sorted = by_score(score_, order_, order_ + n, n);
    if (p.before > 0) n = least(n, p.before);
    for (int64_t i = 0; i < n; ++i) {
      const T* box = box_ + 4 * sorted[i];
      boxes_.set(i, box[0], box[1], box[2], box[3]);
    }
    for (int64_t i = 0; i < n && kept < p.after; ++i) {
      if (boxes_.alive[i] == 0) continue;
      boxes_.template suppress<false>(i, n, (T)p.overlap, true);
      regions[5 * kept] = (T)image;
      memcpy(regions + 5 * kept + 1, box_ + 4 * sorted[i], 4 * sizeof(T));
      if (scores) scores[kept] = score_[sorted[i]];
      ++kept;
    }
    for (int64_t i = kept; kept > 0 && i < p.after; ++i) {  // repeated until there are enough
      memcpy(regions + 5 * i, regions + 5 * (i - kept), 5 * sizeof(T));
      if (scores) scores[i] = scores[i - kept];
    }
  }

 private:
  void predict(const T* scores, const T* moves) {
    const int64_t plane = p.height * p.width;
    const int64_t rows = (int64_t)(info_[0] / (T)p.stride);
    const int64_t columns = (int64_t)(info_[1] / (T)p.stride);
    const T least_size = (T)p.least * info_[2];
    for (int64_t at = 0; at < plane; ++at) {
      const int64_t y = at / p.width, x = at % p.width;
      for (int64_t a = 0; a < p.anchors; ++a) {
        const int64_t number = at * p.anchors + a;
        T* box = box_ + 4 * number;
        place(a, x * p.stride, y * p.stride, moves + 4 * a * plane + at, plane, box);
        score_[number] = y < rows && x < columns ? scores[a * plane + at] : -1;
        if (box[2] - box[0] + 1 >= least_size && box[3] - box[1] + 1 >= least_size) continue;
        score_[number] = -1;
        for (int i = 0; i < 4; ++i) box[i] += (i < 2 ? (T)-0.5 : (T)0.5) * least_size;
      }
    }
  }

  // Compute an anchor shifted to (x, y), moved by its offsets and clipped to the image.
  void place(int64_t a, int64_t x, int64_t y, const T* move, int64_t step, T* box) const {
    const T shift[2] = {(T)x, (T)y};
    for (int d = 0; d < 2; ++d) {
      const T low = (T)p.boxes[4 * a + d] + shift[d], high = (T)p.boxes[4 * a + 2 + d] + shift[d];
      T first = low + move[d * step], last = high + move[(2 + d) * step];
      if (!p.corners) {
        const T size = high - low + 1, center = low + (T)0.5 * (size - 1);
        const T wide = exp(splat<Vec<T>>(move[(2 + d) * step]))[0] * size;
        const T moved = move[d * step] * size + center;
        first = moved - (T)0.5 * (wide - 1);
        last = moved + (T)0.5 * (wide - 1);
      }
      const T largest = info_[1 - d] - 1;
      box[d] = clipped(first, largest);
      box[2 + d] = clipped(last, largest);
    }
  }
  static T clipped(T x, T largest) {
    x = x > 0 ? x : 0;
    return x < largest ? x : largest;
  }

  const mx_proposal_params& p;
  const T* info_;
  Boxes<T> boxes_;
  T *score_, *box_;
  int32_t* order_;
};

template <class T>
int proposal(const mx_call* call) {
  const auto& p = *(const mx_proposal_params*)call->params;
  const int64_t n = Proposals<T>::count(p);
  return parallel_try(call->threads, p.batch, 1, [&](int64_t begin, int64_t end) {
    void* memory = scratch(kTempSlot, Proposals<T>::bytes(p));
    if (!memory) return false;
    for (int64_t b = begin; b < end; ++b) {
      // Scores follow those of the background.
      const T* scores = data<T>(call->in[0]) + (2 * b + 1) * n;
      Proposals<T> found(p, scores, data<T>(call->in[1]) + 4 * b * n, data<T>(call->in[2]) + 3 * b,
                         memory);
      found.write(b, data<T>(call->out[0]) + 5 * b * p.after,
                  call->out[1].data ? data<T>(call->out[1]) + b * p.after : nullptr);
    }
    return true;
  });
}

}  // namespace

void register_proposal() {
  mx_kernel_add("proposal", proposal<float>, MX_BIT(F32), 0);
  mx_kernel_add("proposal", proposal<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
