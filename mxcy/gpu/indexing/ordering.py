"""Sorting along an axis: sort, argsort, topk; and searchsorted.

One block sorts one line by a stable merge sort, in which each element finds its place in the other
run by bisection. Elements are mapped to unsigned keys of the same order first: NaN is the largest,
and all bits are flipped for descending order.
"""

from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import I64, Input, Launch, Output, Workspace, spread
from mxcy.gpu.table import TYPES, kernel

__all__ = ["ordering_text"]

_IN_SHARED = 2048  # longest line that is sorted in shared memory
_LONGEST = 1 << 17  # longer ones are for CuPy's sort, which uses all blocks
_MOST_LINES = (1 << 31) - 1
_KEYS = """
typedef unsigned long long Key;
template <class T> struct KeyOf {  // integers
  __device__ static Key of(T x) { return (Key)x ^ (T(-1) < T(0) ? 0x8000000000000000ull : 0); }
};
template <> struct KeyOf<double> {
  __device__ static Key of(double x) {
    if (x != x) return ~0ull;
    const Key bits = __builtin_bit_cast(Key, x == 0 ? 0.0 : x);
    return bits >> 63 ? ~bits : bits | 0x8000000000000000ull;
  }
};
template <> struct KeyOf<float> {
  __device__ static Key of(float x) { return KeyOf<double>::of((double)x); }
};
"""
_MERGE = """
// Merge runs of `width` positions; `key` returns the key of a position.
template <class Keys>
__device__ inline void merge(const unsigned* from, unsigned* to, Long extent, Long width,
                             const Keys& key) {
  for (Long i = threadIdx.x; i < extent; i += blockDim.x) {
    const Long first = i / (2 * width) * (2 * width);
    const Long middle = first + width < extent ? first + width : extent;
    const Long end = middle + width < extent ? middle + width : extent;
    const bool is_left = i < middle;
    const Key mine = key(from[i]);
    Long low = is_left ? middle : first, high = is_left ? end : middle;
    const Long start = low;
    while (low < high) {  // stable: equal keys of the left run come first
      const Long at = (low + high) / 2;
      const Key other = key(from[at]);
      if (is_left ? other < mine : other <= mine) low = at + 1;
      else high = at;
    }
    to[first + (is_left ? i - first : i - middle) + (low - start)] = from[i];
  }
}
"""
_ORDER = """
extern "C" __global__ void __launch_bounds__(256, 4)
order(const S* x, V* values, I* indices, V* mask, unsigned* one, unsigned* other, Long extent,
      Long inner, Long taken) {
  const Long line = blockIdx.x, outer = line / inner, base = outer * extent * inner + line % inner;
#if SHARED
  __shared__ Key keys[MOST];
  __shared__ unsigned places[2][MOST];
  unsigned *from = places[0], *to = places[1];
  for (Long i = threadIdx.x; i < extent; i += blockDim.x)
    keys[i] = DIRECTION KeyOf<T>::of(read(x[base + i * inner]));
  const auto key = [&](unsigned at) { return keys[at]; };
#else
  unsigned *from = one + line * extent, *to = other + line * extent;
  const auto key = [&](unsigned at) { return DIRECTION KeyOf<T>::of(read(x[base + at * inner])); };
#endif
  for (Long i = threadIdx.x; i < extent; i += blockDim.x) from[i] = (unsigned)i;
  __syncthreads();
  for (Long width = 1; width < extent; width *= 2) {
    merge(from, to, extent, width, key);
    __syncthreads();
    unsigned* last = from;
    from = to, to = last;
  }
  if (mask) {
    for (Long i = threadIdx.x; i < extent; i += blockDim.x) mask[base + i * inner] = cast<V>(0);
    __syncthreads();
  }
  for (Long i = threadIdx.x; i < taken; i += blockDim.x) {
    const Long at = from[i], to_i = (outer * taken + i) * inner + line % inner;
    if (values) values[to_i] = x[base + at * inner];
    if (indices) indices[to_i] = cast<I>(at);
    if (mask) mask[base + at * inner] = cast<V>(1);
  }
}
"""
_SEARCH = """
extern "C" __global__ void __launch_bounds__(256, 4)
search(const S* sequence, const S* wanted, Long* out, Long n, Long extent) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Key mine = KeyOf<T>::of(read(wanted[p]));
    Long low = 0, high = extent;
    while (low < high) {
      const Long at = (low + high) / 2;
      const Key other = KeyOf<T>::of(read(sequence[at]));
      if (RIGHT ? other <= mine : other < mine) low = at + 1;
      else high = at;
    }
    out[p] = low;
  }
}
"""


def ordering_text():
    """Return the source of ``KeyOf``, the order-preserving keys, and of ``merge``."""
    return _KEYS + _MERGE


def _types(spec):
    """Return typedefs of the stored and the compared element type."""
    name = TYPES[spec.dtype]
    compared = {"Half": "float", "Bf16": "float", "Bool": "unsigned char"}.get(name, name)
    return f"{elements()}typedef {name} S;\ntypedef {compared} T;\n{_KEYS}"


@kernel("order", "sort")
def order(request):
    """Values, indices or a mask of the first elements of each sorted line."""
    values, data = request.values, request.ins[0]
    extent, lines = values["extent"], values["outer"] * values["inner"]
    if data.dtype not in TYPES or any(spec.dtype not in TYPES for spec in request.outs):
        return "does not support complex dtypes"
    if extent > _LONGEST or lines > _MOST_LINES:
        return "has lines too long for one block each, or too many"
    outputs = [values["values"], values["indices"], values["mask"]]
    kinds = [None if number < 0 else request.outs[number] for number in outputs]
    index = "Long" if kinds[1] is None else TYPES[kinds[1].dtype]
    in_shared = extent <= _IN_SHARED
    text = (
        f"{_types(data)}typedef S V;\ntypedef {index} I;\n#define SHARED {int(in_shared)}\n"
        f"#define MOST {_IN_SHARED}\n#define DIRECTION {'' if values['ascending'] else '~'}\n"
        f"{_MERGE}{_ORDER}"
    )
    request.workspace = 0 if in_shared else 8 * lines * extent
    places = [I64(0), I64(0)] if in_shared else [Workspace(), Workspace(4 * lines * extent)]
    arguments = [Input(0), *(I64(0) if n < 0 else Output(n) for n in outputs), *places]
    arguments += [I64(extent), I64(values["inner"]), I64(values["taken"])]
    return [Launch(text, "order", (lines,), arguments)]


@kernel("searchsorted")
def search(request):
    """Insertion points into a sorted array."""
    sequence, wanted = request.ins
    if sequence.dtype not in TYPES or sequence.dtype != wanted.dtype:
        return "requires arrays of one dtype"
    text = f"{_types(sequence)}#define RIGHT {int(request.values['right'])}\n{_SEARCH}"
    arguments = [Input(0), Input(1), Output(0), I64(wanted.size), I64(sequence.size)]
    return [Launch(text, "search", spread(wanted.size), arguments)]
