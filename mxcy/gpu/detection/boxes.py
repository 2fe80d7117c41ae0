"""Bounding boxes: overlaps, suppression, offsets from anchors, proposals.

One block processes one image, see ``texts/boxes.cuh``. These are CUDA sources rather than numba
kernels, which need libNVVM for PTX, and the stand-in cannot run PTX.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.indexing.ordering import ordering_text
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, Workspace, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = ["Room", "boxes_text", "refusal"]

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
_MATCHING = """
extern "C" __global__ void __launch_bounds__(256, 2)
bipartite_matching(const T* data, T* partners, T* owners, unsigned* orders, unsigned* others,
                   T* numbers, Long rows, Long columns, Long top, Long ascending,
                   double threshold) {
  const Long n = rows * columns;
  const T* scores = data + blockIdx.x * n;
  T *partner = partners + blockIdx.x * rows, *owner = owners + blockIdx.x * columns;
  T* key = numbers + blockIdx.x * n;
  unsigned *one = orders + blockIdx.x * n, *other = others + blockIdx.x * n;
  EACH(i, rows) partner[i] = -1;
  EACH(i, columns) owner[i] = -1;
  EACH(i, n) {
    const T score = ascending ? -scores[i] : scores[i];
    key[i] = score == score ? score : (T)-kInfinity;  // NaN comes last
    one[i] = (unsigned)i;
  }
  const unsigned* order = by_score(key, one, other, n);
  __syncthreads();
  if (threadIdx.x) return;
  Long count = 0;
  for (Long k = 0; k < n; ++k) {
    const Long row = order[k] / columns, column = order[k] % columns;
    const T score = scores[order[k]];
    if (ascending ? score > (T)threshold : score < (T)threshold) return;
    if (partner[row] != -1 || owner[column] != -1) continue;
    partner[row] = (T)column, owner[column] = (T)row;
    if (top > 0 && ++count > top) return;
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
  EACH(i, count_kept > 0 ? after : 0) {  // repeat boxes until there are enough
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


def boxes_text(dtype, body):
    """Return CUDA source of kernels for boxes.

    Parameters
    ----------
    dtype : int
        Of the coordinates.
    body : str
        The kernels.
    """
    head = f"{elements()}typedef {TYPES[dtype]} T;\n{ordering_text()}"
    return f"{head}{text_of('boxes.cuh')}{body}"


class Room:
    """Allocates arrays in the workspace, aligned to 16 bytes.

    Parameters
    ----------
    dtype : int
        Of the coordinates.
    """

    def __init__(self, dtype):
        self._sizes = {"T": 8 if dtype == _FLOATS[1] else 4, "unsigned": 4, "Long": 8}
        self.bytes = 0

    def take(self, type_, count):
        """Return the argument for `count` elements.

        Parameters
        ----------
        type_ : {'T', 'unsigned', 'Long'}
            'T' is the type of coordinates.
        count : int
        """
        begin = self.bytes
        self.bytes += -(-self._sizes[type_] * count // 16) * 16
        return Workspace(begin)


def refusal(request, images=1):
    """Return the reason of a refusal, or None.

    Parameters
    ----------
    request : Request
    images : int
        The number of blocks.
    """
    if request.dtype not in _FLOATS or any(s.dtype != request.dtype for s in request.ins):
        return "supports float32 and float64 only"
    return None if images <= _MOST_IMAGES else "has more images than a grid has blocks"


@kernel("box_iou")
def box_iou(request):
    """box_iou: overlaps of all pairs of boxes."""
    (out,), columns = request.outs, request.values["rhs"]
    arguments = [Input(0), Input(1), Output(0), I64(out.size), I64(columns)]
    arguments.append(I64(int(request.values["center"])))
    text = boxes_text(request.dtype, _IOU)
    return refusal(request) or [Launch(text, "box_iou", spread(out.size), arguments)]


@kernel("bipartite_matching")
def bipartite_matching(request):
    """bipartite_matching: greedy pairs, best first, by one thread per block."""
    values, room = request.values, Room(request.dtype)
    batch, n = values["batch"], values["batch"] * values["rows"] * values["columns"]
    arguments = [Input(0), Output(0), Output(1)]
    arguments += [room.take("unsigned", n), room.take("unsigned", n), room.take("T", n)]
    arguments += [I64(int(values[name])) for name in ("rows", "columns", "top", "ascending")]
    arguments.append(F64(*request.number("threshold")))
    request.workspace = room.bytes
    text = boxes_text(request.dtype, _MATCHING)
    return refusal(request, batch) or [Launch(text, request.name, (batch,), arguments)]


@kernel("box_nms")
def box_nms(request):
    """box_nms: non-maximum suppression."""
    values, room = request.values, Room(request.dtype)
    batch, rows = values["batch"], values["rows"]
    arguments = [Input(0), Output(0), Output(1)]
    arguments += [room.take("unsigned", batch * rows) for _ in range(3)]
    arguments += [room.take("T", batch * rows * 4), room.take("T", batch * rows * 2)]
    names = "rows width box score kind top force center_in center_out".split()
    arguments += [I64(int(values[name])) for name in names]
    arguments += [F64(*request.number(name)) for name in ("background", "overlap", "valid")]
    request.workspace = room.bytes
    text = boxes_text(request.dtype, _NMS)
    return refusal(request, batch) or [Launch(text, "box_nms", (batch,), arguments)]


@kernel("proposal")
def proposal(request):
    """Proposal: regions from a proposal network's predictions."""
    values, room = request.values, Room(request.dtype)
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
    text = boxes_text(request.dtype, f"#define COUNT {sides}\n{_PROPOSAL}")
    return refusal(request, batch) or [Launch(text, "proposal", (batch,), arguments)]


@kernel("box_decode", "box_encode")
def box_codes(request):
    """box_encode and box_decode: offsets from anchors."""
    values, n = request.values, request.values["batch"] * request.values["boxes"]
    if request.name == "box_decode":
        arguments = [Input(0), Input(1), Output(0), Numbers(request.numbers("stds")), I64(n)]
        arguments += [I64(int(values[name])) for name in ("boxes", "shared", "center")]
        arguments.append(F64(*request.number("clip")))
    else:
        arguments = [*map(Input, range(6)), Output(0), Output(1), I64(n)]
        arguments += [I64(values["boxes"]), I64(values["refs"])]
    text = boxes_text(request.dtype, _CODES)
    return refusal(request) or [Launch(text, request.name, spread(n), arguments)]
