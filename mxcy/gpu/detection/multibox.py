"""Single-shot detectors: anchors, detections and training targets."""

from mxcy.gpu.detection.boxes import Room, boxes_text, refusal
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, spread
from mxcy.gpu.table import kernel

__all__ = []

_PRIOR = """
struct Halves { double of[COUNT]; };
extern "C" __global__ void __launch_bounds__(256, 4)
multibox_prior(T* out, Halves halves, Long n, Long width, Long clip, double step_y, double step_x,
               double offset_y, double offset_x) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const int side = p % 4;
    const Long shape = p / 4 % (COUNT / 2), place = p / (2 * COUNT);
    const double x = ((double)(place % width) + offset_x) * step_x;
    const double y = ((double)(place / width) + offset_y) * step_y;
    const double half = halves.of[2 * shape + side % 2], middle = side % 2 ? y : x;
    const double edge = side < 2 ? middle - half : middle + half;
    out[p] = (T)(!clip ? edge : edge < 0 ? 0 : edge > 1 ? 1 : edge);
  }
}
"""
_DETECTION = """
struct Variances { double of[4]; };
__device__ inline void write_row(const T* anchor, const T* offset, T kind, T score,
                                 const Variances& v, bool clip, T* row) {
  row[0] = kind;
  row[1] = score;
  for (int d = 0; d < 2; ++d) {
    const T size = anchor[2 + d] - anchor[d], middle = (anchor[d] + anchor[2 + d]) / 2;
    const T center = offset[d] * (T)v.of[d] * size + middle;
    const T half = ::exp(offset[2 + d] * (T)v.of[2 + d]) * size / 2;
    const T low = center - half, high = center + half;
    row[2 + d] = !clip ? low : low < 0 ? T(0) : low > 1 ? T(1) : low;
    row[4 + d] = !clip ? high : high < 0 ? T(0) : high > 1 ? T(1) : high;
  }
}
extern "C" __global__ void __launch_bounds__(256, 2)
multibox_detection(const T* probabilities, const T* offsets, const T* anchors, T* out,
                   unsigned* orders, unsigned* others, unsigned* living, T* boxes, T* numbers,
                   Variances variances, Long classes, Long count, Long background, Long most,
                   Long clip, Long force, double threshold, double overlap) {
  const T *scores = probabilities + blockIdx.x * classes * count;
  const T* offset = offsets + blockIdx.x * 4 * count;
  T *rows = out + blockIdx.x * 6 * count, *box_of = boxes + blockIdx.x * 4 * count;
  T *best = numbers + blockIdx.x * 3 * count, *kind = best + count, *kinds = kind + count;
  unsigned *one = orders + blockIdx.x * count, *other = others + blockIdx.x * count;
  unsigned* alive = living + blockIdx.x * count;
  // Each anchor's most likely class, background excluded.
  EACH(i, count) {
    T score = background == 0 ? T(-1) : scores[i];
    Long chosen = 0;
    for (Long c = 1; c < classes; ++c) {
      const T its = c == background ? T(-1) : scores[c * count + i];
      if (its > score) score = its, chosen = c;
    }
    best[i] = score;
    kind[i] = (T)(chosen - (chosen > background));  // class numbers do not count the background
  }
  __syncthreads();
  const Long kept = gathered(count, one, [&](Long i) { return best[i] >= (T)threshold; });
  const Long top = most > 0 && most < kept ? most : kept;
  __syncthreads();
  // Boxes beyond the best `top` keep their unsorted places.
  for (Long i = top + threadIdx.x; i < kept; i += 256) {
    const Long at = one[i];
    write_row(anchors + 4 * at, offset + 4 * at, T(-1), best[at], variances, clip, rows + 6 * i);
  }
  const unsigned* order = by_score(best, one, other, kept);
  EACH(i, top) {
    const Long at = order[i];
    T* row = rows + 6 * i;
    write_row(anchors + 4 * at, offset + 4 * at, kind[at], best[at], variances, clip, row);
    for (int d = 0; d < 4; ++d) box_of[4 * i + d] = row[2 + d];
    kinds[i] = row[0];
    alive[i] = row[0] >= 0;
  }
  if (overlap > 0 && overlap <= 1) {
    suppress<true>(box_of, force ? nullptr : kinds, alive, top, (T)overlap, T(0), top);
    EACH(i, top) if (!alive[i]) rows[6 * i] = -1;
  }
  for (Long i = 6 * kept + threadIdx.x; i < 6 * count; i += 256) rows[i] = -1;
}
"""
_TARGET = """
struct Variances { double of[4]; };
// Block-wide argmax of the threads' candidates; ties: the lowest index.
__device__ inline void most_of(T* value, Long* number) {
  __shared__ T values[256];
  __shared__ Long numbers[256];
  __syncthreads();
  values[threadIdx.x] = *value, numbers[threadIdx.x] = *number;
  for (int step = 128; step > 0; step /= 2) {
    __syncthreads();
    if ((int)threadIdx.x >= step) continue;
    const T other = values[threadIdx.x + step];
    const Long its = numbers[threadIdx.x + step];
    if (other > values[threadIdx.x] || (other == values[threadIdx.x] && its < numbers[threadIdx.x]))
      values[threadIdx.x] = other, numbers[threadIdx.x] = its;
  }
  __syncthreads();
  *value = values[0], *number = numbers[0];
}
extern "C" __global__ void __launch_bounds__(256, 2)
multibox_target(const T* anchors, const T* labels, const T* predictions, T* offsets, T* masks,
                T* targets, unsigned* orders, unsigned* others, int* numbers, T* scores,
                T* overlaps, Long* places, Variances variances, Long count, Long boxes, Long width,
                Long classes, double threshold, double ignore, double ratio, double hardest) {
  const T* label = labels + blockIdx.x * boxes * width;
  T *offset = offsets + blockIdx.x * 4 * count, *mask = masks + blockIdx.x * 4 * count;
  T *target = targets + blockIdx.x * count, *found = overlaps + blockIdx.x * boxes;
  int *matched = numbers + blockIdx.x * 2 * count, *nearest = matched + count;
  T *best = scores + blockIdx.x * 2 * count, *score = best + count;
  Long* place = places + blockIdx.x * boxes;
  Long known = 0;
  while (known < boxes && label[known * width] != -1) ++known;
  EACH(i, 4 * count) offset[i] = mask[i] = 0;
  EACH(i, count) target[i] = (T)ignore;
  if (known == 0) return;
  // Each anchor's best box.
  EACH(i, count) {
    T most = -1;
    int which = 0;
    for (Long j = 0; j < known; ++j) {
      const T* box = label + j * width + 1;
      const T shared = overlap_of(box, area_of(box, 0), anchors + 4 * i, 0);
      if (shared > most) most = shared, which = (int)j;
    }
    best[i] = most, nearest[i] = which, matched[i] = -1;
  }
  // The unassigned anchor with the largest overlap; ties: the first.
  const auto find_place = [&](Long j) {
    const T* box = label + j * width + 1;
    T most = -1;
    Long where = count;
    EACH(i, count) {
      if (matched[i] >= 0) continue;
      const T shared = overlap_of(box, area_of(box, 0), anchors + 4 * i, 0);
      if (shared > most) most = shared, where = i;
    }
    most_of(&most, &where);
    if (threadIdx.x == 0) found[j] = most, place[j] = where;
  };
  __syncthreads();
  for (Long j = 0; j < known; ++j) find_place(j);
  __syncthreads();
  // Greedy matching of boxes to anchors, largest overlap first.
  for (Long taken = 0; taken < known; ++taken) {
    Long chosen = -1;
    for (Long j = 0; j < known; ++j) {
      if (found[j] < 0) continue;
      if (chosen < 0 || found[j] > found[chosen] ||
          (found[j] == found[chosen] && place[j] < place[chosen]))
        chosen = j;
    }
    if (chosen < 0 || !(found[chosen] > T(1e-6))) break;
    const Long at = place[chosen];
    __syncthreads();
    if (threadIdx.x == 0) matched[at] = (int)chosen, found[chosen] = -1;
    __syncthreads();
    for (Long j = 0; j < known; ++j)
      if (found[j] >= 0 && place[j] == at) find_place(j);
    __syncthreads();
  }
  EACH(i, count) {
    if (matched[i] < 0 && threshold > 0 && best[i] > (T)threshold) matched[i] = nearest[i];
    if (matched[i] < 0) continue;
    const T *box = label + matched[i] * width, *anchor = anchors + 4 * i;
    target[i] = box[0] + 1;
    for (int d = 0; d < 2; ++d) {
      const T size = anchor[2 + d] - anchor[d], wanted = box[3 + d] - box[1 + d];
      const T center = (anchor[d] + anchor[2 + d]) / 2, its = (box[1 + d] + box[3 + d]) / 2;
      offset[4 * i + d] = (its - center) / size / (T)variances.of[d];
      offset[4 * i + 2 + d] = ::log(wanted / size) / (T)variances.of[2 + d];
    }
    for (int d = 0; d < 4; ++d) mask[4 * i + d] = 1;
  }
  __syncthreads();
  // Negative anchors: all without a box, or the hardest of them.
  if (!(ratio > 0)) {
    EACH(i, count) if (matched[i] < 0) target[i] = 0;
    return;
  }
  unsigned *one = orders + blockIdx.x * count, *other = others + blockIdx.x * count;
  const Long positives = gathered(count, one, [&](Long i) { return matched[i] >= 0; });
  __syncthreads();
  const Long candidates = gathered(
      count, one, [&](Long i) { return matched[i] < 0 && best[i] < (T)hardest; });
  const T* row = predictions + blockIdx.x * classes * count;
  EACH(i, count) {
    T most = row[i], sum = 0;
    for (Long c = 1; c < classes; ++c)
      most = row[c * count + i] > most ? row[c * count + i] : most;
    for (Long c = 0; c < classes; ++c) sum += ::exp(row[c * count + i] - most);
    score[i] = -::exp(row[i] - most) / sum;
  }
  const unsigned* order = by_score(score, one, other, candidates);
  const double wanted = (double)positives * ratio;
  EACH(k, candidates) if ((double)(k + 1) <= wanted) target[order[k]] = 0;
}
"""


@kernel("multibox_prior")
def multibox_prior(request):
    """MultiBoxPrior: anchors around the positions of a feature map."""
    values, (out,) = request.values, request.outs
    count = 2 * values["shapes"]
    arguments = [Output(0), Numbers([(x, None) for x in values["halves"][:count]])]
    arguments += [I64(out.size), I64(values["width"]), I64(int(values["clip"]))]
    arguments += [F64(*n) for name in ("steps", "offsets") for n in request.numbers(name)]
    text = boxes_text(request.dtype, f"#define COUNT {count}\n{_PRIOR}")
    return refusal(request) or [Launch(text, "multibox_prior", spread(out.size), arguments)]


@kernel("multibox_detection")
def multibox_detection(request):
    """MultiBoxDetection: boxes from predictions."""
    values, room = request.values, Room(request.dtype)
    batch, count = values["batch"], values["anchors"]
    arguments = [*map(Input, range(3)), Output(0)]
    arguments += [room.take("unsigned", batch * count) for _ in range(3)]
    arguments += [room.take("T", batch * count * 4), room.take("T", batch * count * 3)]
    arguments.append(Numbers(request.numbers("variances")))
    names = ("classes", "anchors", "background", "top", "clip", "force")
    arguments += [I64(int(values[name])) for name in names]
    arguments += [F64(*request.number(name)) for name in ("threshold", "overlap")]
    request.workspace = room.bytes
    text = boxes_text(request.dtype, _DETECTION)
    return refusal(request, batch) or [Launch(text, "multibox_detection", (batch,), arguments)]


@kernel("multibox_target")
def multibox_target(request):
    """MultiBoxTarget: training targets."""
    values, room = request.values, Room(request.dtype)
    batch, count, boxes = values["batch"], values["anchors"], values["boxes"]
    arguments = [*map(Input, range(3)), *map(Output, range(3))]
    arguments += [room.take("unsigned", batch * count) for _ in range(2)]
    arguments += [room.take("unsigned", batch * count * 2), room.take("T", batch * count * 2)]
    arguments += [room.take("T", batch * boxes), room.take("Long", batch * boxes)]
    arguments.append(Numbers(request.numbers("variances")))
    arguments += [I64(values[name]) for name in ("anchors", "boxes", "width", "classes")]
    names = ("threshold", "ignore", "mining_ratio", "mining_threshold")
    arguments += [F64(*request.number(name)) for name in names]
    request.workspace = room.bytes
    text = boxes_text(request.dtype, _TARGET)
    return refusal(request, batch) or [Launch(text, "multibox_target", (batch,), arguments)]
