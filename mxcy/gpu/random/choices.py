"""Random choice and shuffling: sampling by probability, and permutations.

Up to 2,048 items are ordered in one block by a random key for each. A longer permutation is a
Feistel network over the next power of two; values beyond the last item are permuted again until
they are valid ("cycle walking", Black and Rogaway, 2002). More items with weights are ordered by
their keys in chunks of 2,048; then each item finds its rank by bisection in all chunks.
"""

from mxcy._base import dtypes
from mxcy.gpu.elementwise.pointwise import elements, text_of
from mxcy.gpu.indexing.ordering import ordering_text
from mxcy.gpu.launch import I64, Alarm, Input, Launch, Output, Random, Workspace, spread
from mxcy.gpu.random.random import COUNTED, INTEGERS
from mxcy.gpu.table import TYPES, kernel

__all__ = ["chance_text"]

_CODES = dtypes.CODES
_REAL = tuple(map(_CODES.get, ("float32", "float64", "float16")))
_CHUNK, _MOST_WEIGHTS, _MOST_BLOCKS = 2048, 1 << 20, (1 << 31) - 1
_BITS = {1: "unsigned char", 2: "unsigned short", 4: "unsigned", 8: "unsigned long long"}
_TABLE = """
// Cumulative probabilities, one block per row.
extern "C" __global__ void __launch_bounds__(256, 4)
cumulate(const S* x, T* sums, Long choices) {
  __shared__ double parts[256];
  const S* row = x + blockIdx.x * choices;
  const Long each = (choices + 255) / 256, begin = threadIdx.x * each;
  const Long end = begin + each < choices ? begin + each : choices;
  double sum = 0;
  for (Long i = begin; i < end; ++i) sum += cast<double>(row[i]);
  parts[threadIdx.x] = sum;
  __syncthreads();
  sum = 0;
  for (int i = 0; i < (int)threadIdx.x; ++i) sum += parts[i];
  for (Long i = begin; i < end; ++i)
    sums[blockIdx.x * choices + i] = (T)(sum += cast<double>(row[i]));
}
// The first choice whose cumulative probability exceeds a uniform number, at most the last.
extern "C" __global__ void __launch_bounds__(256, 2)
choose(const Sets* sets, const S* x, const T* sums, O* out, S* logarithm, Long n, Long choices,
       Long draws) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    Draws d(sets, p);
    const T wanted = below_one<T>(&d), *row = sums + p / draws * choices;
    Long low = 0, high = choices - 1;
    while (low < high) {
      const Long middle = low + (high - low) / 2;
      if (row[middle] <= wanted) low = middle + 1;
      else high = middle;
    }
    out[p] = cast<O>(low);
    if (logarithm) logarithm[p] = cast<S>(::log(cast<T>(x[p / draws * choices + low])));
  }
}
// Counts of `draws` per choice: each is binomial among the remaining draws.
extern "C" __global__ void __launch_bounds__(256, 1)
shares(const Sets* sets, const S* x, O* out, Alarm alarm, Long rows, Long choices, Long draws) {
  for (Long row = (Long)blockIdx.x * blockDim.x + threadIdx.x; row < rows;
       row += (Long)gridDim.x * blockDim.x) {
    Draws d(sets, row);
    double before = 0, left = (double)draws;
    for (Long i = 0; i < choices; ++i) {
      const double p = cast<double>(x[i]), rest = 1 - before;
      const double share = p >= rest || i + 1 == choices ? 1 : p > 0 ? p / rest : 0;
      const double mine = left > 0 ? binomial(&d, left, share) : 0;
      out[row * choices + i] = cast<O>(mine);
      left -= mine;
      if (i + 1 < choices) before += p;
    }
    if (before > 1 + 1e-5) set_alarm(alarm);
  }
}
"""
_ORDER = """
// The first k of n items in the order of random keys; one block.
extern "C" __global__ void __launch_bounds__(256, 1)
rank(const Sets* sets, const S* weights, Long* order, Long n, Long k) {
  __shared__ double keys[2048];
  for (int i = threadIdx.x; i < n; i += 256) {
    Draws d(sets, i);
    // Gumbel keys; without weights any order-preserving key will do.
    const double u = above_zero<double>(&d);
    keys[i] = weights ? ::log(cast<double>(weights[i])) - ::log(-::log(u)) : u;
  }
  __syncthreads();
  for (int i = threadIdx.x; i < n; i += 256) {
    int before = 0;
    for (int j = 0; j < n; ++j)
      before += keys[j] > keys[i] || (keys[j] == keys[i] && j < i);
    if (before < k) order[before] = i;
  }
}
// A permutation of any number of items, each computed independently.
extern "C" __global__ void __launch_bounds__(256, 2)
permute(const Sets* sets, Long* order, Long n, Long k, Long low_bits, Long high_bits) {
  typedef unsigned long long Word;
  const auto& mine = sets->set[sets->turn];
  const Word low_mask = ((Word)1 << low_bits) - 1, high_mask = ((Word)1 << high_bits) - 1;
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < k;
       p += (Long)gridDim.x * blockDim.x) {
    Word x = (Word)p;
    do {
      Word low = x & low_mask, high = x >> low_bits;
      for (unsigned round = 0; round < 12; ++round) {
        const Words counter{{(unsigned)(round % 2 ? high : low), (unsigned)(mine.call >> 32) << 16,
                             0xffffff00u + round, (unsigned)mine.call}};
        const Words drawn = philox(counter, (unsigned)mine.key, (unsigned)(mine.key >> 32));
        if (round % 2) low ^= drawn.x[0] & low_mask;
        else high ^= drawn.x[0] & high_mask;
      }
      x = high << low_bits | low;
    } while (x >= (Word)n);
    order[p] = (Long)x;
  }
}
"""
_RANKS = """
// Keys that order weighted items: the smallest comes first (Efraimidis and Spirakis, 2006).
extern "C" __global__ void __launch_bounds__(256, 2)
draw_keys(const Sets* sets, const S* weights, Key* keys, Long n) {
  for (Long i = (Long)blockIdx.x * blockDim.x + threadIdx.x; i < n;
       i += (Long)gridDim.x * blockDim.x) {
    Draws d(sets, i);
    const double u = above_zero<double>(&d);
    keys[i] = ~KeyOf<double>::of(::log(cast<double>(weights[i])) - ::log(-::log(u)));
  }
}
// Sort the items of each chunk by their keys, one block per chunk.
extern "C" __global__ void __launch_bounds__(256, 4)
sort_chunks(const Key* keys, unsigned* items, Long n) {
  __shared__ Key mine[2048];
  __shared__ unsigned places[2][2048];
  const Long first = (Long)blockIdx.x * 2048, extent = n - first < 2048 ? n - first : 2048;
  unsigned *from = places[0], *to = places[1];
  for (Long i = threadIdx.x; i < extent; i += blockDim.x) {
    mine[i] = keys[first + i];
    from[i] = (unsigned)i;
  }
  __syncthreads();
  for (Long width = 1; width < extent; width *= 2) {
    merge(from, to, extent, width, [&](unsigned at) { return mine[at]; });
    __syncthreads();
    unsigned* last = from;
    from = to, to = last;
  }
  for (Long i = threadIdx.x; i < extent; i += blockDim.x) items[first + i] = first + from[i];
}
// The first k items of all sorted chunks.
extern "C" __global__ void __launch_bounds__(256, 4)
rank_chunks(const Key* keys, const unsigned* items, Long* order, Long n, Long k) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x) {
    const Long own = p / 2048;
    const Key mine = keys[items[p]];
    Long rank = p % 2048;
    for (Long chunk = 0; chunk * 2048 < n && rank < k; ++chunk) {
      if (chunk == own) continue;
      Long low = chunk * 2048, high = low + 2048 < n ? low + 2048 : n;
      while (low < high) {  // ties: earlier chunks first
        const Long middle = (low + high) / 2;
        const Key other = keys[items[middle]];
        if (chunk < own ? other <= mine : other < mine) low = middle + 1;
        else high = middle;
      }
      rank += low - chunk * 2048;
    }
    if (rank < k) order[rank] = items[p];
  }
}
"""
_MOVE = """
extern "C" __global__ void __launch_bounds__(256, 4)
move(const B* x, const Long* order, B* y, Long n, Long inner) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < n;
       p += (Long)gridDim.x * blockDim.x)
    y[p] = x[order[p / inner] * inner + p % inner];
}
"""


def chance_text(body, dtype, out=None, bits="unsigned"):
    """Return CUDA source with the types of a draw.

    Parameters
    ----------
    body : str
        The kernels.
    dtype, out : int
        The dtypes of probabilities, and of results.
    bits : str
        The unsigned type by which items are moved.
    """
    computed = "double" if dtype == _CODES["float64"] else "float"
    types = f"typedef {computed} T;\ntypedef {TYPES[dtype]} S;\ntypedef {bits} B;\n"
    types += f"typedef {TYPES[dtype if out is None else out]} O;\n"
    philox = text_of("philox.cuh")
    return f"{elements()}{text_of('alarms.cuh')}{philox}{types}{COUNTED}{body}"


def _counted(text):
    """Return the launch that advances the streams after a draw."""
    return Launch(text, "counted", (1,), [Random()], block=1)


def _chosen(text, probabilities, out, choices, draws, logarithm=False):
    """Return the launches that draw from rows of probabilities."""
    rows = probabilities.size // choices
    last = Output(1) if logarithm else I64(0)
    arguments = [Random(), Input(0), Workspace(), Output(0), last]
    arguments += map(I64, (out.size, choices, draws))
    return [
        Launch(text, "cumulate", (rows,), [Input(0), Workspace(), I64(choices)]),
        Launch(text, "choose", spread(out.size), arguments),
        _counted(text),
    ]


@kernel("sample_multinomial")
def multinomial(request):
    """Indices along the last axis, distributed by the probabilities there."""
    (probabilities,), (out, *logarithms) = request.ins, request.outs
    choices = probabilities.shape[-1]
    if probabilities.dtype not in _REAL or not choices or not out.size:
        return "requires probabilities and draws"
    rows = probabilities.size // choices
    if rows > _MOST_BLOCKS:
        return "has more rows than a grid has blocks"
    request.workspace = probabilities.size * (8 if probabilities.dtype == _CODES["float64"] else 4)
    text = chance_text(_TABLE, probabilities.dtype, out.dtype)
    draws = out.size // rows
    return _chosen(text, probabilities, out, choices, draws, bool(logarithms))


def _order(text, n, k, to, weights):
    """Return the launch that finds the first k of n items in random order."""
    if n <= _CHUNK:
        return Launch(text, "rank", (1,), [Random(), weights, to, I64(n), I64(k)])
    bits = (n - 1).bit_length()
    sizes = map(I64, (n, k, bits // 2, bits - bits // 2))
    return Launch(text, "permute", spread(k), [Random(), to, *sizes])


def _weighted_order(dtype, n, k):
    """Return the launches that find the first k of more than a chunk of weighted items."""
    text = chance_text(ordering_text() + _RANKS, dtype)
    keys, items = Workspace(), Workspace(8 * n)
    return [
        Launch(text, "draw_keys", spread(n), [Random(), Input(0), keys, I64(n)]),
        Launch(text, "sort_chunks", (-(-n // _CHUNK),), [keys, items, I64(n)]),
        Launch(text, "rank_chunks", spread(n), [keys, items, Output(0), I64(n), I64(k)]),
        _counted(text),
    ]


@kernel("shuffle")
def shuffle(request):
    """Shuffle along the first axis."""
    (data,), (out,) = request.ins, request.outs
    size = 2 if data.dtype == dtypes.BFLOAT16 else dtypes.dtype_of(data.dtype).itemsize
    items = data.shape[0] if data.shape else 1
    if not out.size or items >= 1 << 62:
        return "has no items"
    request.workspace = items * 8
    text = chance_text(_ORDER + _MOVE, _CODES["float32"], bits=_BITS[size])
    arguments = [Input(0), Workspace(), Output(0), I64(out.size), I64(out.size // items)]
    moved = Launch(text, "move", spread(out.size), arguments)
    return [_order(text, items, items, Workspace(), I64(0)), moved, _counted(text)]


@kernel("np_choice")
def choice(request):
    """Random integers below n, with or without weights and replacement."""
    values, (out,) = request.values, request.outs
    weighted, n, k = bool(request.ins), values["n"], out.size
    dtype = request.ins[0].dtype if weighted else _CODES["float32"]
    if dtype not in _REAL or out.dtype != _CODES["int64"] or not k:
        return "requires floating-point probabilities"
    if values["replace"] and weighted:
        request.workspace = n * (8 if dtype == _CODES["float64"] else 4)
        text = chance_text(_TABLE, dtype, out.dtype)
        return _chosen(text, request.ins[0], out, n, k)
    if values["replace"]:
        text = chance_text(INTEGERS, dtype, out.dtype)
        arguments = [Random(), Output(0), I64(k), I64(0), I64(n)]
        return [Launch(text, "draw", spread(k), arguments), _counted(text)]
    if weighted and n > _CHUNK:
        request.workspace = 12 * n
        return _weighted_order(dtype, n, k) if n <= _MOST_WEIGHTS else "has more than 2**20 weights"
    text = chance_text(_ORDER, dtype)
    weights = Input(0) if weighted else I64(0)
    return [_order(text, n, k, Output(0), weights), _counted(text)]


@kernel("np_multinomial")
def shares(request):
    """Multinomial counts."""
    values, (probabilities,), (out,) = request.values, request.ins, request.outs
    if probabilities.dtype not in _REAL or not probabilities.size:
        return "requires floating-point probabilities"
    text = chance_text(_TABLE, probabilities.dtype, out.dtype)
    rows = out.size // probabilities.size
    alarm = Alarm("np.random.multinomial: sum(pvals[:-1]) <= 1 is required", "ValueError: ")
    sizes = map(I64, (rows, probabilities.size, values["n"]))
    arguments = [Random(), Input(0), Output(0), alarm, *sizes]
    return [Launch(text, "shares", spread(rows), arguments), _counted(text)]
