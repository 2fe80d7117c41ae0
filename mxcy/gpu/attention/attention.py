"""Attention in one launch, and its gradients in four: scores are never stored.

Gradients recompute the scores, once for the queries' and once for each of the keys' and the
values', so no two blocks add to the same element and results are deterministic.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.launch import F64, I64, Input, Launch, Numbers, Output, Workspace, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = ["attention_text"]

_TILE, _MOST_BLOCKS = 64, (1 << 31) - 1
_FORWARD = """
extern "C" __global__ void __launch_bounds__(BOUNDS)
attend(const T* queries, const T* keys, const T* values, const M* masks, T* out, T* stats,
       Plan plan, double scale_) {
  const Places places = places_of(plan);
  const Sizes sizes = sizes_of(plan);
  __shared__ Shared shared;
  const T scale = (T)scale_, none = (T)-kInfinity;
  const int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
  const Long columns = (sizes.width + 63) / 64, blocks = (sizes.queries + 63) / 64;
  const Long column = blockIdx.x % columns * 64, q0 = blockIdx.x / columns % blocks * 64;
  const Long matrix = blockIdx.x / columns / blocks;
  const T* query = queries + start_of(places, sizes, 0, matrix);
  const T* key = keys + start_of(places, sizes, 1, matrix);
  const T* value = values + start_of(places, sizes, 2, matrix);
  const M* mask = mask_of(masks, places, sizes, matrix);
  T sums[4][4] = {}, top[4], total[4] = {};
#pragma unroll
  for (int i = 0; i < 4; ++i) top[i] = none;
  for (Long k0 = 0; k0 < sizes.keys; k0 += 64) {
    T scores[4][4] = {};
    add_products<true, true>(
        &shared, sizes.depth, scores,
        [&](int m, Long k) {
          return q0 + m < sizes.queries ? query[(q0 + m) * places.row[0] + k] : T(0);
        },
        [&](Long k, int n) {
          return k0 + n < sizes.keys ? key[(k0 + n) * places.row[1] + k] : T(0);
        });
#pragma unroll
    for (int i = 0; i < 4; ++i) {
      T here = none, sum = 0;
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        scores[i][j] = exponent(scores[i][j], scale, mask, places, sizes, q0 + down + i,
                                k0 + across + j);
        here = scores[i][j] > here ? scores[i][j] : here;
      }
      here = joined_of_row(here, [](T x, T y) { return x > y ? x : y; });
      const T larger = top[i] > here ? top[i] : here;
      // Avoid inf - inf while everything so far is masked.
      const T base = larger == none ? T(0) : larger;
      const T shrunk = top[i] == larger ? T(1) : ::exp(top[i] - base);
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const T x = ::exp(scores[i][j] - base);
        shared.p[across + j][down + i] = x;
        sum += x;
      }
      total[i] = total[i] * shrunk + joined_of_row(sum, [](T x, T y) { return x + y; });
      top[i] = larger;
#pragma unroll
      for (int j = 0; j < 4; ++j) sums[i][j] *= shrunk;
    }
    __syncthreads();
    const Long rest = sizes.keys - k0;
    add_products<false, false>(
        &shared, rest < 64 ? rest : 64, sums, [&](int m, Long k) { return shared.p[k][m]; },
        [&](Long k, int n) {
          return column + n < sizes.width ? value[(k0 + k) * places.row[2] + column + n] : T(0);
        });
  }
  T* to = out + start_of(places, sizes, 3, matrix);
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    const Long q = q0 + down + i;
    if (q >= sizes.queries) break;
    const bool empty = total[i] == 0 && MASKING > kAdd;
    const T inverse = empty ? T(0) : 1 / total[i];
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const Long n = column + across + j;
      if (n < sizes.width) to[q * places.row[3] + n] = sums[i][j] * inverse;
    }
    if (column == 0 && across == 0) {
      T* of_row = stats + (matrix * sizes.queries + q) * 2;
      of_row[0] = top[i] == none ? T(0) : top[i];
      of_row[1] = inverse;
    }
  }
}
"""
_BEFORE = """
// Dot product of each query's result and its gradient, one warp per query; also zeroes gradients
// with more elements than are computed.
extern "C" __global__ void __launch_bounds__(256)
prepare(const T* gradient, const T* result, T* products, T* first, T* second, T* third, Long n0,
        Long n1, Long n2, Long rows, Plan plan) {
  const Places places = places_of(plan);
  const Sizes sizes = sizes_of(plan);
  const Long thread = (Long)blockIdx.x * 256 + threadIdx.x, threads = (Long)gridDim.x * 256;
  for (Long row = thread / 32; row < rows; row += threads / 32) {
    const Long matrix = row / sizes.queries;
    const Long at = start_of(places, sizes, 3, matrix) + row % sizes.queries * places.row[3];
    T sum = 0;
    for (Long i = threadIdx.x % 32; i < sizes.width; i += 32)
      sum += gradient[at + i] * result[at + i];
    for (int step = 16; step; step /= 2) sum += __shfl_xor_sync(0xffffffffu, sum, step);
    if (threadIdx.x % 32 == 0) products[row] = sum;
  }
  for (Long i = thread; i < n0; i += threads) first[i] = 0;
  for (Long i = thread; i < n1; i += threads) second[i] = 0;
  for (Long i = thread; i < n2; i += threads) third[i] = 0;
}
"""
_BACK = """
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ == 900 && __CUDACC_VER_MAJOR__ < 13 && !MASKING && !BY
#undef BOUNDS
#define BOUNDS 256, 1  // CUDA 12's compiler spills with 128 registers per thread
#endif
// Gradient of queries (BY 0), keys (1) or values (2), which are the rows; the columns of scores are
// keys for queries, and queries for the others.
extern "C" __global__ void __launch_bounds__(BOUNDS)
slopes(const T* queries, const T* keys, const T* values, const M* masks, const T* gradient,
       const T* stats, const T* products, T* out, Plan plan, double scale_) {
  const Places places = places_of(plan);
  const Sizes sizes = sizes_of(plan);
  __shared__ Shared shared;
  const T scale = (T)scale_;
  const int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
  const Long width = BY == 2 ? sizes.width : sizes.depth;
  const Long rows = BY ? sizes.keys : sizes.queries, others = BY ? sizes.queries : sizes.keys;
  const Long columns = (width + 63) / 64, blocks = (rows + 63) / 64;
  const Long column = blockIdx.x % columns * 64, r0 = blockIdx.x / columns % blocks * 64;
  const Long matrix = blockIdx.x / columns / blocks;
  const T* query = queries + start_of(places, sizes, 0, matrix);
  const T* key = keys + start_of(places, sizes, 1, matrix);
  const T* value = values + start_of(places, sizes, 2, matrix);
  const M* mask = mask_of(masks, places, sizes, matrix);
  const T* grad = gradient + start_of(places, sizes, 3, matrix);
  // Operands of the scores, of the weights' gradients, and of the last product.
  const T *own = BY ? key : query, *other = BY ? query : key;
  const T *own_by = BY ? value : grad, *other_by = BY ? grad : value;
  const T* last = BY == 2 ? grad : other;
  const Long own_row = places.row[BY ? 1 : 0], other_row = places.row[BY ? 0 : 1];
  const Long own_by_row = places.row[BY ? 2 : 3], other_by_row = places.row[BY ? 3 : 2];
  const Long last_row = BY == 2 ? places.row[3] : other_row;
  T sums[4][4] = {};
  for (Long c0 = 0; c0 < others; c0 += 64) {
    T scores[4][4] = {}, by_weights[4][4] = {};
    add_products<true, true>(
        &shared, sizes.depth, scores,
        [&](int m, Long k) { return r0 + m < rows ? own[(r0 + m) * own_row + k] : T(0); },
        [&](Long k, int n) { return c0 + n < others ? other[(c0 + n) * other_row + k] : T(0); });
    if (BY < 2)
      add_products<true, true>(
          &shared, sizes.width, by_weights,
          [&](int m, Long k) { return r0 + m < rows ? own_by[(r0 + m) * own_by_row + k] : T(0); },
          [&](Long k, int n) {
            return c0 + n < others ? other_by[(c0 + n) * other_by_row + k] : T(0);
          });
#pragma unroll
    for (int i = 0; i < 4; ++i)
#pragma unroll
      for (int j = 0; j < 4; ++j) {
        const Long r = r0 + down + i, c = c0 + across + j, q = BY ? c : r, k = BY ? r : c;
        T x = 0;
        if (r < rows && c < others) {
          const Long row = matrix * sizes.queries + q;
          const T score = exponent(scores[i][j], scale, mask, places, sizes, q, k);
          x = ::exp(score - stats[row * 2]) * stats[row * 2 + 1];
          if (BY < 2) x *= (by_weights[i][j] - products[row]) * scale;
        }
        shared.p[across + j][down + i] = x;
      }
    __syncthreads();
    const Long rest = others - c0;
    add_products<false, false>(
        &shared, rest < 64 ? rest : 64, sums, [&](int m, Long k) { return shared.p[k][m]; },
        [&](Long k, int n) {
          return column + n < width ? last[(c0 + k) * last_row + column + n] : T(0);
        });
  }
  T* to = out + start_of(places, sizes, BY, matrix);
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {
      const Long r = r0 + down + i, n = column + across + j;
      if (r < rows && n < width) to[r * places.row[BY] + n] = sums[i][j];
    }
}
"""


def attention_text(dtype, mask, masking, body, by=0):
    """Return CUDA source of attention.

    Parameters
    ----------
    dtype, mask : int
        The element types of arrays and of masks.
    masking : int
        Kind of mask, as in the CPU's kernel.
    body : str
        The kernels.
    by : int
        0, 1, 2: the gradient of queries, keys or values.
    """
    slice_ = 8 if dtype == dtypes.CODES["float64"] else 16  # fits into 48 KB of shared memory
    return (
        f"{elements()}typedef {TYPES[dtype]} T;\ntypedef {TYPES[mask]} M;\n"
        f"#define SLICE {slice_}\n#define MASKING {masking}\n#define BY {by}\n"
        f"{text_of('attention.cuh')}{body}"
    )


class _Call:
    """Arguments common to both kernels; arrays follow `first` other inputs."""

    def __init__(self, request, first):
        values = self.values = request.values
        self.dtype, self.masking = request.dtype, values["masking"]
        mask = first + values["arrays"]
        self.mask = Input(mask) if self.masking else I64(0)
        self.mask_type = request.ins[mask].dtype if self.masking else request.dtype
        self.arrays = [Input(first + values["source"][i]) for i in range(3)]
        self.matrices = values["outer"] * values["inner"]
        names = ("offset", "outer_step", "inner_step", "row", "mask_step")
        sizes = ("inner", "queries", "keys", "depth", "width")
        arguments = [number for name in names for number in values[name]]
        arguments += [values[name] for name in sizes]
        self.plan = Numbers((float(number), None) for number in arguments)

    def blocks(self, rows, columns):
        """Return the number of blocks for a result."""
        return self.matrices * -(-rows // _TILE) * -(-columns // _TILE)

    def text(self, body, by=0):
        """Return the source of kernels."""
        return attention_text(self.dtype, self.mask_type, self.masking, body, by)


@kernel("attention")
def attention(request):
    """Scaled dot-product attention."""
    call, values = _Call(request, 0), request.values
    blocks = call.blocks(values["queries"], values["width"])
    if blocks > _MOST_BLOCKS:
        return "needs more blocks than a grid has"
    arguments = [*call.arrays, call.mask, Output(0), Output(1), call.plan]
    arguments.append(F64(*request.number("scale")))
    return [Launch(call.text(_FORWARD), "attend", (blocks,), arguments)]


@kernel("attention_grad")
def gradients(request):
    """Gradients of queries, keys and values."""
    call, values = _Call(request, 3), request.values
    sides = [("queries", "depth"), ("keys", "depth"), ("keys", "width")]
    grids = [call.blocks(*(values[name] for name in side)) for side in sides]
    if max(grids) > _MOST_BLOCKS:
        return "needs more blocks than a grid has"
    rows, products = call.matrices * values["queries"], Workspace()
    request.workspace = rows * dtypes.dtype_of(request.dtype).itemsize
    last = len(request.outs) - 1
    outs = [Output(min(i, last)) for i in range(3)]
    sizes = [request.outs[i].size if values["clear"][i] else 0 for i in range(last + 1)]
    counts = [*sizes, 0, 0][:3]
    arguments = [Input(0), Input(1), products, *outs, *map(I64, (*counts, rows)), call.plan]
    most = max(rows * 32, *counts)
    launches = [Launch(call.text(_BEFORE), "prepare", spread(most), arguments)]
    for by in range(3):
        arguments = [*call.arrays, call.mask, Input(0), Input(2), products]
        arguments += [Output(values["source"][by]), call.plan, F64(*request.number("scale"))]
        launches.append(Launch(call.text(_BACK, by), "slopes", (grids[by],), arguments))
    return launches
