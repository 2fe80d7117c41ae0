"""Matrix products, and convolutions as implicit matrix products.

A block of 256 threads computes a 64 x 64 tile, 4 x 4 elements per thread, from slices of depth 16
in shared memory. Kernels differ in how operands are read and results stored; sums are in the order
of the inner dimension, so results are deterministic.
"""

from mxcy._base import dtypes
from mxcy.gpu.convolution.convolutions import planned
from mxcy.gpu.elementwise.pointwise import elements, position_type
from mxcy.gpu.launch import F64, I64, Input, Launch, Output
from mxcy.gpu.matrix.blas import product, strided_products
from mxcy.gpu.shape.copying import clear_all, copy_all
from mxcy.gpu.table import TYPES, kernel

__all__ = ["strided_text"]

_FLOATS = tuple(map(dtypes.CODES.get, ("float32", "float64", "float16", "bfloat16")))
_TILE, _MOST_BLOCKS = 64, 65535
_PRODUCT = """
extern "C" __global__ void __launch_bounds__(256, 2)
product(const S* first, const S* second, const S* third, S* out{parameters}) {{
  __shared__ T a[16][68], b[16][68];
  const At z = blockIdx.z, row = (At)blockIdx.y * 64, column = (At)blockIdx.x * 64;
  const int right = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
  {locals}
  const auto left_of = [&](At m, At k) -> T {{ {left} }};
  const auto right_of = [&](At k, At n) -> T {{ {right} }};
  T sums[4][4] = {{}};
  for (At k0 = 0; k0 < depth; k0 += 16) {{
    for (int i = threadIdx.x; i < 1024; i += 256) {{
      const int ka = {a_first} ? i / 64 : i % 16, m = {a_first} ? i % 64 : i / 16;
      a[ka][m] = row + m < rows && k0 + ka < depth ? left_of(row + m, k0 + ka) : T(0);
      const int kb = {b_first} ? i % 16 : i / 64, n = {b_first} ? i / 16 : i % 64;
      b[kb][n] = column + n < columns && k0 + kb < depth ? right_of(k0 + kb, column + n) : T(0);
    }}
    __syncthreads();
#pragma unroll
    for (int k = 0; k < 16; ++k) {{
      T x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = a[k][down + i], y[i] = b[k][right + i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
    }}
    __syncthreads();
  }}
#pragma unroll
  for (int i = 0; i < 4; ++i)
#pragma unroll
    for (int j = 0; j < 4; ++j) {{
      const At m = row + down + i, n = column + right + j;
      if (m < rows && n < columns) {{
        const T sum = sums[i][j];
        {store}
      }}
    }}
}}
"""


def _product(request, extents, batch, left, right, store, names=(), numbers=(), inner=(0, 0)):
    """Return the launch of a product.

    Parameters
    ----------
    extents : (int, int, int)
        Rows, columns and depth.
    batch : int
        Number of products, indexed by `z`.
    left, right, store : str
        Statements that return elements (m, k) and (k, n), and that store `sum` at (m, n).
    names : sequence of (str, int)
        Integer parameters of these statements.
    numbers : sequence of (str, (float, int or None))
        Float parameters.
    inner : (bool, bool)
        Whether the left operand is contiguous along m, and the right along k.
    """
    inner = int(inner[0]), int(inner[1])
    spec, third = request.ins[0], len(request.ins) > 2
    if spec.dtype not in _FLOATS or any(s.dtype != spec.dtype for s in request.ins):
        return "requires one floating-point dtype"
    grid = (-(-extents[1] // _TILE), -(-extents[0] // _TILE), batch)
    if max(grid[1:]) > _MOST_BLOCKS:
        return "has more rows or products than a grid has blocks"
    names = [*zip(("rows", "columns", "depth"), extents, strict=True), *names]
    at = position_type((*request.ins, *request.outs), extents)
    text = _text(spec.dtype, at, left, right, store, names, numbers, inner)
    numbers_of = (0, min(1, len(request.ins) - 1), 2 if third else 0)
    arguments = [*map(Input, numbers_of), Output(0)]
    arguments += [I64(value) for _, value in names] + [F64(*number) for _, number in numbers]
    return [Launch(text, "product", grid, arguments)]


def _text(dtype, at, left, right, store, names, numbers, inner):
    """Return the source of a product, see `_product`; `at` is the index type."""
    computed = "double" if dtype == dtypes.CODES["float64"] else "float"
    parameters = "".join(f", Long {name}_" for name, _ in names)
    parameters += "".join(f", double {name}_" for name, _ in numbers)
    head = f"{elements()}typedef {at} At;\ntypedef {computed} T;\ntypedef {TYPES[dtype]} S;\n"
    return head + _PRODUCT.format(
        parameters=parameters,
        locals=" ".join(
            [f"const At {name} = (At){name}_; (void){name};" for name, _ in names]
            + [f"const T {name} = (T){name}_;" for name, _ in numbers]
        ),
        left=left,
        right=right,
        store=store,
        a_first=inner[0],
        b_first=inner[1],
    )


def strided_text(dtype):
    """Return the source of ``product``: c (m x n) = a b + beta * c with strides.

    After the addresses it takes m, n, k, the strides of a along m and k, of b along k and n, of c
    along m, and beta.

    Parameters
    ----------
    dtype : int
    """
    names = ("rows", "columns", "depth", "a_m", "a_k", "b_k", "b_n", "c_m")
    return _text(
        dtype,
        "Long",
        "return cast<T>(first[m * a_m + k * a_k]);",
        "return cast<T>(second[k * b_k + n * b_n]);",
        "const At to = m * c_m + n; "
        "out[to] = cast<S>(beta == 0 ? sum : sum + beta * cast<T>(third[to]));",
        [(name, None) for name in names],
        [("beta", None)],
        ("(a_m == 1)", "(b_k == 1)"),
    )


@kernel("gemm")
def gemm(request):
    """Batched out = alpha * op(lhs) op(rhs) + beta * in[2]."""
    values = request.values
    m, n, k = (values[name] for name in "mnk")
    transposed, has_base = (values["transpose_a"], values["transpose_b"]), len(request.ins) > 2
    if not request.dynamic and not (has_base and request.ins[2].size != values["batch"] * m * n):
        beta = values["beta"] if has_base else 0.0
        launches = product(request, (values["batch"], m, n, k), transposed, values["alpha"], beta)
        if launches:
            return launches
    left = "k * rows + m" if values["transpose_a"] else "m * depth + k"
    right = "n * depth + k" if values["transpose_b"] else "k * columns + n"
    place = "(z * rows + m) * columns + n"
    base = f" + beta * cast<T>(third[{place}])" if len(request.ins) > 2 else ""
    return _product(
        request,
        (m, n, k),
        values["batch"],
        f"return cast<T>(first[z * rows * depth + {left}]);",
        f"return cast<T>(second[z * depth * columns + {right}]);",
        f"out[{place}] = cast<S>(alpha * sum{base});",
        numbers=[("alpha", request.number("alpha")), ("beta", request.number("beta"))],
        inner=(values["transpose_a"], values["transpose_b"]),
    )


@kernel("fully_connected")
def fully_connected(request):
    """Out = data weight^T + bias."""
    values = request.values
    has_bias = len(request.ins) > 2
    extents = 1, values["rows"], values["hidden"], values["depth"]
    launches = product(request, extents, (0, 1), beta=float(has_bias), adds_row=has_bias)
    if launches:
        return launches
    bias = " + cast<T>(third[n])" if len(request.ins) > 2 else ""
    return _product(
        request,
        (values["rows"], values["hidden"], values["depth"]),
        1,
        "return cast<T>(first[m * depth + k]);",
        "return cast<T>(second[n * depth + k]);",
        f"out[m * columns + n] = cast<S>(sum{bias});",
        inner=(0, 1),
    )


@kernel("strided_dot")
def strided(request):
    """Products of strided matrices, written into a copy of an array."""
    if launches := strided_products(request):
        return launches
    values, (out,) = request.values, request.outs
    arrays = [("first", "second")[values[side]] for side in ("lhs", "rhs")]
    places = ["k * row0 + m" if values["transpose_lhs"] else "m * row0 + k"]
    places += ["n * row1 + k" if values["transpose_rhs"] else "k * row1 + n", "m * row2 + n"]
    starts = [f"offset{i} + z / inner * outer{i} + z % inner * inner{i}" for i in range(3)]
    left, right, to = (f"{a} + {b}" for a, b in zip(starts, places, strict=True))
    names = [("inner", values["inner"])]
    for name, field in (("offset", "offset"), ("outer", "outer_step"), ("inner", "inner_step")):
        names += [(f"{name}{i}", values[field][i]) for i in range(3)]
    names += [(f"row{i}", values["row"][i]) for i in range(3)]
    launches = _product(
        request,
        (values["m"], values["n"], values["k"]),
        values["outer"] * values["inner"],
        f"return cast<T>({arrays[0]}[{left}]);",
        f"return cast<T>({arrays[1]}[{right}]);",
        f"out[{to}] = cast<S>(scale * sum);",
        names,
        [("scale", request.number("scale"))],
        (values["transpose_lhs"], values["transpose_rhs"]),
    )
    if isinstance(launches, str) or not (values["base"] or values["clear"]):
        return launches
    return [copy_all(request.ins[2], out, 2) if values["base"] else clear_all(out), *launches]


_FIELDS = ("source", "target", "kernel", "stride", "dilate", "pad")


def _numbers(values):
    names = [(name, values[name]) for name in ("groups", "channels", "filters")]
    return names + [(f"{f}{d}", values[f][d]) for f in _FIELDS for d in range(3)]


def _count(field):
    return f"({field}0 * {field}1 * {field}2)"


def _split(variable, field, prefix):
    """Return statements that split an index into three coordinates."""
    return (
        f"const At {prefix}2 = {variable} % {field}2, "
        f"{prefix}1 = {variable} / {field}2 % {field}1, "
        f"{prefix}0 = {variable} / ({field}2 * {field}1) % {field}0;"
    )


def _gathered(array, k, n):
    """Return statements that read the input of tap and channel `k` at output `n`."""
    at = " ".join(f"const At x{d} = t{d} * stride{d} + k{d} * dilate{d} - pad{d};" for d in "012")
    inside = " && ".join(f"x{d} >= 0 && x{d} < source{d}" for d in "012")
    return (
        f"{_split(k, 'kernel', 'k')} {_split(n, 'target', 't')} {at} "
        f"const At channel = {k} / {_count('kernel')}, image = {n} / {_count('target')}; "
        f"return {inside} ? cast<T>({array}[((((image * groups + z) * channels + channel) * source0"
        " + x0) * source1 + x1) * source2 + x2]) : T(0);"
    )


@kernel("conv_im2col")
def convolution(request):
    """Convolution: filters times windows of the data, per group."""
    launches = planned(request, "fwd")
    if launches:
        return launches
    values = request.values
    kernel_size, target = _volume(values["kernel"]), _volume(values["target"])
    bias = " + cast<T>(third[z * filters + m])" if len(request.ins) > 2 else ""
    positions = _count("target")
    return _product(
        request,
        (values["filters"], values["batch"] * target, values["channels"] * kernel_size),
        values["groups"],
        "return cast<T>(second[(z * filters + m) * depth + k]);",
        _gathered("first", "k", "n"),
        f"out[((n / {positions} * groups + z) * filters + m) * {positions} + n % {positions}] = "
        f"cast<S>(sum{bias});",
        _numbers(values),
    )


@kernel("conv_im2col_data")
def of_data(request):
    """Gradient of the data, or transposed convolution: gathers from the windows of each element."""
    launches = planned(request, "dgrad")
    if launches:
        return launches
    values = request.values
    kernel_size, source = _volume(values["kernel"]), _volume(values["source"])
    bias = " + cast<T>(third[z * channels + m])" if len(request.ins) > 2 else ""
    taps, places, positions = _count("kernel"), _count("source"), _count("target")
    at = " ".join(f"const At q{d} = s{d} + pad{d} - k{d} * dilate{d};" for d in "012")
    hit = " && ".join(
        f"q{d} >= 0 && q{d} % stride{d} == 0 && q{d} / stride{d} < target{d}" for d in "012"
    )
    return _product(
        request,
        (values["channels"], values["batch"] * source, values["filters"] * kernel_size),
        values["groups"],
        f"return cast<T>(second[((z * filters + k / {taps}) * rows + m) * {taps} + k % {taps}]);",
        f"{_split('k', 'kernel', 'k')} {_split('n', 'source', 's')} {at} "
        f"const At filter = k / {taps}, image = n / {places}; return {hit} ? "
        f"cast<T>(first[((image * groups + z) * filters + filter) * {positions} + "
        "(q0 / stride0 * target1 + q1 / stride1) * target2 + q2 / stride2]) : T(0);",
        f"out[((n / {places} * groups + z) * rows + m) * {places} + n % {places}] = "
        f"cast<S>(sum{bias});",
        _numbers(values),
    )


@kernel("conv_im2col_weight")
def of_weight(request):
    """Gradient of the weight: output gradients times windows of the data."""
    launches = planned(request, "wgrad")
    if launches:
        return launches
    values = request.values
    kernel_size, target = _volume(values["kernel"]), _volume(values["target"])
    positions = _count("target")
    return _product(
        request,
        (values["filters"], values["channels"] * kernel_size, values["batch"] * target),
        values["groups"],
        f"return cast<T>(second[((k / {positions} * groups + z) * filters + m) * {positions} + "
        f"k % {positions}]);",
        _gathered("first", "n", "k"),
        "out[(z * filters + m) * columns + n] = cast<S>(sum);",
        _numbers(values),
        inner=(0, 1),
    )


def _volume(extents):
    return extents[0] * extents[1] * extents[2]
