"""Boxes around objects: overlaps, anchors, suppression, and what detectors predict and learn.

A block works on an image, see ``texts/boxes.cuh``. What is wanted of it depends on values, so these
are texts of our own; numba's kernels would need LLVM's library for PTX, and no stand-in runs PTX.
"""

from mxcy._base import dtypes
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, Workspace, spread
from mxcy.gpu.ordering import ordering_text
from mxcy.gpu.pointwise import elements, text_of
from mxcy.gpu.table import TYPES, kernel

__all__ = []

_FLOATS = dtypes.CODES["float32"], dtypes.CODES["float64"]
_MOST_IMAGES = (1 << 31) - 1
_IOU = """
extern "C" __global__ void __launch_bounds__(256, 4)
box_iou(const T* lhs, const T* rhs, T* out, Long n, Long columns, Long center) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    T a[4], b[4];
    corners(lhs + p / columns * 4, center, a);
    corners(rhs + p % columns * 4, center, b);
    out[p] = overlap_of(a, area_of(a, 0), b, 0);
  }
}
"""
_NMS = """
extern "C" __global__ void __launch_bounds__(256, 2)
box_nms(const T* data, T* out, T* places, unsigned* orders, unsigned* others, unsigned* living,
        T* boxes, T* numbers, Long rows, Long width, Long box, Long score, Long kind, Long top,
        Long force, Long center_in, Long center_out, double background, double overlap,
        double valid) {
  const T* x = data + blockIdx.x * rows * width;
  T *y = out + blockIdx.x * rows * width, *box_of = boxes + blockIdx.x * rows * 4;
  T *scores = numbers + blockIdx.x * rows * 2, *kinds = scores + rows;
  unsigned *one = orders + blockIdx.x * rows, *other = others + blockIdx.x * rows;
  unsigned* alive = living + blockIdx.x * rows;
  EACH(i, rows) scores[i] = x[i * width + score];
  Long n = gathered(rows, one, [&](Long i) {
    const bool is_background = kind >= 0 && x[i * width + kind] == (T)background;
    return x[i * width + score] > (T)valid && !is_background;
  });
  const unsigned* order = by_score(scores, one, other, n);
  if (top > 0 && top < n) n = top;
  EACH(i, n) {
    const T* row = x + order[i] * width;
    corners(row + box, center_in, box_of + 4 * i);
    if (kind >= 0) kinds[i] = row[kind];
    alive[i] = 1;
  }
  suppress<false>(box_of, kind < 0 || force ? nullptr : kinds, alive, n, (T)overlap, T(0), n);
  unsigned* kept = order == one ? other : one;
  const Long count = gathered(n, kept, [&](Long i) { return alive[i] != 0; });
  __syncthreads();
  EACH(q, rows * width) {
    const Long i = q / width, d = q % width;
    T value = -1;
    if (i < count) {
      const T* row = x + order[kept[i]] * width;
      value = row[d];
      if (center_in != center_out && d >= box && d < box + 4) {
        const Long at = (d - box) % 2;
        const T low = row[box + at], high = row[box + 2 + at], half = high * T(0.5);
        if (center_in) value = d < box + 2 ? low - half : low + half;
        else value = d < box + 2 ? low + T(0.5) * (high - low) : high - low;
      }
    }
    y[q] = value;
  }
  if (places)
    EACH(i, rows) places[blockIdx.x * rows + i] = i < count ? (T)order[kept[i]] : T(-1);
}
"""
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
  // Each anchor's likeliest class; the background takes part as if it were below all.
  EACH(i, count) {
    T score = background == 0 ? T(-1) : scores[i];
    Long chosen = 0;
    for (Long c = 1; c < classes; ++c) {
      const T its = c == background ? T(-1) : scores[c * count + i];
      if (its > score) score = its, chosen = c;
    }
    best[i] = score;
    kind[i] = (T)(chosen - (chosen > background));  // classes count from 0 without it
  }
  __syncthreads();
  const Long kept = gathered(count, one, [&](Long i) { return best[i] >= (T)threshold; });
  const Long top = most > 0 && most < kept ? most : kept;
  __syncthreads();
  // All but the best keep the places that they had unsorted.
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
// The best of what threads found: the largest, of equal ones the lowest number; in all threads.
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
  // Each anchor's nearest box.
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
  // The free anchor that a box overlaps most, the first of equal ones.
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
  // Boxes take anchors, those first that overlap most.
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
  // The anchors that learn to be background: all without a box, or the hardest of them.
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
_PROPOSAL = """
struct Anchors { double of[COUNT]; };
extern "C" __global__ void __launch_bounds__(256, 2)
proposal(const T* probabilities, const T* all_moves, const T* infos, T* regions, T* ratings,
         unsigned* orders, unsigned* others, unsigned* living, T* all, T* chosen, T* numbers,
         Anchors anchors, Long height, Long width, Long stride, Long before, Long after,
         Long least, Long edges, double overlap) {
  const Long kinds = COUNT / 4, plane = height * width, count = kinds * plane;
  const T *scores = probabilities + (2 * blockIdx.x + 1) * count, *info = infos + 3 * blockIdx.x;
  const T* moves = all_moves + 4 * blockIdx.x * count;
  T *boxes = all + 4 * blockIdx.x * count, *best = chosen + 4 * blockIdx.x * count;
  T* score = numbers + blockIdx.x * count;
  unsigned *one = orders + blockIdx.x * count, *other = others + blockIdx.x * count;
  unsigned* alive = living + blockIdx.x * count;
  const Long rows = (Long)(info[0] / (T)stride), columns = (Long)(info[1] / (T)stride);
  const T smallest = (T)least * info[2];
  EACH(number, count) {
    const Long at = number / kinds, a = number % kinds, y = at / width, x = at % width;
    const T* move = moves + 4 * a * plane + at;
    T* box = boxes + 4 * number;
    for (int d = 0; d < 2; ++d) {
      const T shift = (T)((d ? y : x) * stride);
      const T low = (T)anchors.of[4 * a + d] + shift, high = (T)anchors.of[4 * a + 2 + d] + shift;
      T first = low + move[d * plane], last = high + move[(2 + d) * plane];
      if (!edges) {
        const T size = high - low + 1, center = low + T(0.5) * (size - 1);
        const T wide = ::exp(move[(2 + d) * plane]) * size;
        const T moved = move[d * plane] * size + center;
        first = moved - T(0.5) * (wide - 1);
        last = moved + T(0.5) * (wide - 1);
      }
      const T largest = info[1 - d] - 1;
      first = first > 0 ? first : T(0), last = last > 0 ? last : T(0);
      box[d] = first < largest ? first : largest;
      box[2 + d] = last < largest ? last : largest;
    }
    score[number] = y < rows && x < columns ? scores[a * plane + at] : T(-1);
    one[number] = (unsigned)number;
    if (box[2] - box[0] + 1 >= smallest && box[3] - box[1] + 1 >= smallest) continue;
    score[number] = -1;
    for (int i = 0; i < 4; ++i) box[i] += (i < 2 ? T(-0.5) : T(0.5)) * smallest;
  }
  const unsigned* order = by_score(score, one, other, count);
  const Long n = before > 0 && before < count ? before : count;
  EACH(i, n) {
    for (int d = 0; d < 4; ++d) best[4 * i + d] = boxes[4 * order[i] + d];
    alive[i] = 1;
  }
  const Long end = suppress<false>(best, nullptr, alive, n, (T)overlap, T(1), after);
  unsigned* kept = order == one ? other : one;
  const Long count_kept = gathered(end, kept, [&](Long i) { return alive[i] != 0; });
  __syncthreads();
  EACH(i, count_kept > 0 ? after : 0) {  // repeated until there are enough
    const Long at = kept[i % count_kept];
    T* region = regions + (blockIdx.x * after + i) * 5;
    region[0] = (T)blockIdx.x;
    for (int d = 0; d < 4; ++d) region[1 + d] = best[4 * at + d];
    if (ratings) ratings[blockIdx.x * after + i] = score[order[at]];
  }
}
"""
_CODES = """
struct Four { double of[4]; };
struct Center { T at[2], size[2]; };
__device__ inline Center center_of(const T* box, bool center) {
  Center c;
  for (int d = 0; d < 2; ++d) {
    c.at[d] = center ? box[d] : box[d] + (box[2 + d] - box[d]) / 2;
    c.size[d] = center ? box[2 + d] : box[2 + d] - box[d];
  }
  return c;
}
extern "C" __global__ void __launch_bounds__(256, 4)
box_decode(const T* offsets, const T* anchors, T* out, Four stds, Long n, Long boxes, Long shared,
           Long center, double clip) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Center base = center_of(anchors + 4 * (shared ? p % boxes : p), center);
    for (int d = 0; d < 2; ++d) {
      T size = offsets[4 * p + 2 + d] * (T)stds.of[2 + d];
      if (clip > 0 && size > (T)clip) size = (T)clip;
      const T half = ::exp(size) * base.size[d] / 2;
      const T at = offsets[4 * p + d] * (T)stds.of[d] * base.size[d] + base.at[d];
      out[4 * p + d] = at - half, out[4 * p + 2 + d] = at + half;
    }
  }
}
extern "C" __global__ void __launch_bounds__(256, 4)
box_encode(const T* samples, const T* matches, const T* anchors, const T* boxes, const T* means,
           const T* stds, T* out, T* mask, Long n, Long each, Long refs) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    Long match = (Long)matches[p];
    match += match < 0 ? refs : 0;
    const bool is_there = match >= 0 && match < refs, counts = samples[p] > T(0.5);
    const Center base = center_of(anchors + 4 * p, false);
    const Center box = center_of(boxes + 4 * (p / each * refs + (is_there ? match : 0)), false);
    for (int k = 0; k < 4; ++k) {
      const int d = k % 2;
      const T code = k < 2 ? (box.at[d] - base.at[d]) / base.size[d]
                           : ::log(box.size[d] / base.size[d]);
      const T value = is_there ? (code - means[k]) / stds[k] : (T)kNaN;
      if (out) out[4 * p + k] = counts ? value : T(0);
      if (mask) mask[4 * p + k] = counts;
    }
  }
}
"""


def _text(dtype, body):
    head = f"{elements()}typedef {TYPES[dtype]} T;\n{ordering_text()}"
    return f"{head}{text_of('boxes.cuh')}{body}"


class _Room:
    """Cuts the workspace into arrays, which all begin at multiples of 16 bytes."""

    def __init__(self, dtype):
        self._sizes = {"T": 8 if dtype == _FLOATS[1] else 4, "unsigned": 4, "Long": 8}
        self.bytes = 0

    def take(self, type_, count):
        """The argument for so many elements."""
        begin = self.bytes
        self.bytes += -(-self._sizes[type_] * count // 16) * 16
        return Workspace(begin)


def _refusal(request, images=1):
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins):
        return "it computes float32 and float64"
    return None if images <= _MOST_IMAGES else "it takes as many images as a grid has blocks"


@kernel("box_iou")
def box_iou(request):
    """Overlaps of each box with each of others."""
    (out,), columns = request.outs, request.values["rhs"]
    arguments = [Input(0), Input(1), Output(0), I64(out.size), I64(columns)]
    arguments.append(I64(int(request.values["center"])))
    text = _text(request.dtype, _IOU)
    return _refusal(request) or [Launch(text, "box_iou", spread(out.size), arguments)]


@kernel("box_nms")
def box_nms(request):
    """Rows without those whose boxes overlap a better one."""
    values, room = request.values, _Room(request.dtype)
    batch, rows = values["batch"], values["rows"]
    arguments = [Input(0), Output(0), Output(1)]
    arguments += [room.take("unsigned", batch * rows) for _ in range(3)]
    arguments += [room.take("T", batch * rows * 4), room.take("T", batch * rows * 2)]
    names = "rows width box score kind top force center_in center_out".split()
    arguments += [I64(int(values[name])) for name in names]
    arguments += [F64(*request.number(name)) for name in ("background", "overlap", "valid")]
    request.workspace = room.bytes
    text = _text(request.dtype, _NMS)
    return _refusal(request, batch) or [Launch(text, "box_nms", (batch,), arguments)]


@kernel("multibox_prior")
def multibox_prior(request):
    """Anchors around the positions of a feature map."""
    values, (out,) = request.values, request.outs
    count = 2 * values["shapes"]
    arguments = [Output(0), Numbers([(x, None) for x in values["halves"][:count]])]
    arguments += [I64(out.size), I64(values["width"]), I64(int(values["clip"]))]
    arguments += [F64(*n) for name in ("steps", "offsets") for n in request.numbers(name)]
    text = _text(request.dtype, f"#define COUNT {count}\n{_PRIOR}")
    return _refusal(request) or [Launch(text, "multibox_prior", spread(out.size), arguments)]


@kernel("multibox_detection")
def multibox_detection(request):
    """Boxes out of a single-shot detector's predictions."""
    values, room = request.values, _Room(request.dtype)
    batch, count = values["batch"], values["anchors"]
    arguments = [*map(Input, range(3)), Output(0)]
    arguments += [room.take("unsigned", batch * count) for _ in range(3)]
    arguments += [room.take("T", batch * count * 4), room.take("T", batch * count * 3)]
    arguments.append(Numbers(request.numbers("variances")))
    names = ("classes", "anchors", "background", "top", "clip", "force")
    arguments += [I64(int(values[name])) for name in names]
    arguments += [F64(*request.number(name)) for name in ("threshold", "overlap")]
    request.workspace = room.bytes
    text = _text(request.dtype, _DETECTION)
    return _refusal(request, batch) or [Launch(text, "multibox_detection", (batch,), arguments)]


@kernel("multibox_target")
def multibox_target(request):
    """What a single-shot detector is to learn."""
    values, room = request.values, _Room(request.dtype)
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
    text = _text(request.dtype, _TARGET)
    return _refusal(request, batch) or [Launch(text, "multibox_target", (batch,), arguments)]


@kernel("proposal")
def proposal(request):
    """Regions out of a proposal network's predictions."""
    values, room = request.values, _Room(request.dtype)
    batch, count = values["batch"], values["anchors"] * values["height"] * values["width"]
    arguments = [*map(Input, range(3)), *map(Output, range(2))]
    arguments += [room.take("unsigned", batch * count) for _ in range(3)]
    arguments += [room.take("T", 4 * batch * count) for _ in range(2)]
    arguments.append(room.take("T", batch * count))
    sides = 4 * values["anchors"]
    arguments.append(Numbers([(x, None) for x in values["boxes"][:sides]]))
    names = ("height", "width", "stride", "before", "after", "least", "corners")
    arguments += [I64(int(values[name])) for name in names]
    arguments.append(F64(*request.number("overlap")))
    request.workspace = room.bytes
    text = _text(request.dtype, f"#define COUNT {sides}\n{_PROPOSAL}")
    return _refusal(request, batch) or [Launch(text, "proposal", (batch,), arguments)]


@kernel("box_decode", "box_encode")
def box_codes(request):
    """Boxes as offsets from anchors, and back."""
    values, n = request.values, request.values["batch"] * request.values["boxes"]
    if request.name == "box_decode":
        arguments = [Input(0), Input(1), Output(0), Numbers(request.numbers("stds")), I64(n)]
        arguments += [I64(int(values[name])) for name in ("boxes", "shared", "center")]
        arguments.append(F64(*request.number("clip")))
    else:
        arguments = [*map(Input, range(6)), Output(0), Output(1), I64(n)]
        arguments += [I64(values["boxes"]), I64(values["refs"])]
    text = _text(request.dtype, _CODES)
    return _refusal(request) or [Launch(text, request.name, spread(n), arguments)]
