"""Matrix products by cuBLAS: finding the library, compute types, calls."""

import functools
import importlib.util
from pathlib import Path

from mxcy import env
from mxcy._base import dtypes
from mxcy.gpu import driver
from mxcy.gpu.compile import function
from mxcy.gpu.copies import memory_type
from mxcy.gpu.elementwise.pointwise import elements
from mxcy.gpu.launch import spread
from mxcy.gpu.table import TYPES, NativeCall
from mxcy.ops.core.params import BLAS, STRIDED_DOT

__all__ = ["is_open", "product", "strided_products", "way_of"]

_NAMES = ("libcublas.so.13", "libcublas.so.12")
#: dtype -> cudaDataType
_TYPES = {
    dtypes.CODES[name]: number
    for name, number in {"float32": 0, "float64": 1, "float16": 2, "bfloat16": 14}.items()
}
#: cublasComputeType_t, and the pedantic ones without Tensor Cores
_IN_16, _IN_32, _IN_64, _TF32 = (64, 65), (68, 69), (70, 71), 77
_MOST = (1 << 31) - 1
_ROWS = """
extern "C" __global__ void __launch_bounds__(256, 4)
rows(S* out, const S* row, Long count, Long columns) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < count;
       p += (Long)gridDim.x * blockDim.x)
    out[p] = row[p % columns];
}
"""


_ZEROS = """
extern "C" __global__ void __launch_bounds__(256, 4)
zeros(S* out, Long count) {
  for (Long p = (Long)blockIdx.x * blockDim.x + threadIdx.x; p < count;
       p += (Long)gridDim.x * blockDim.x)
    out[p] = cast<S>(0);
}
"""


def _folders():
    package = importlib.util.find_spec("nvidia")
    for root in () if package is None else package.submodule_search_locations:
        yield from (Path(root, folder, "lib") for folder in ("cu13", "cublas"))


@functools.cache
def is_open():
    """Return whether cuBLAS is available; CuPy's copy if it has loaded one."""
    if any(driver.open_blas(name, True) for name in _NAMES):
        return True
    files = [str(Path(folder, name)) for folder in _folders() for name in _NAMES]
    return any(driver.open_blas(path, False) for path in (*files, *_NAMES))


def way_of(dtype):
    """Return the compute type of a dtype under the environment variables.

    Parameters
    ----------
    dtype : int

    Returns
    -------
    dict
        The fields `type` (of elements), `compute` and `scalar` (of alpha and beta).
    """
    compute, scalar = _way(dtype)
    return {"type": _TYPES[dtype], "compute": compute, "scalar": scalar}


def _way(dtype):
    """Return (compute type, scalar type) of a dtype under the environment variables."""
    pedantic = not env.get("MXNET_CUDA_ALLOW_TENSOR_CORE")
    if dtype == dtypes.CODES["float64"]:
        return _IN_64[pedantic], 1
    if dtype == dtypes.CODES["float16"] and env.get("MXNET_FC_TRUE_FP16"):
        return _IN_16[pedantic], 2
    is_float32 = dtype == dtypes.CODES["float32"]
    if is_float32 and not pedantic and env.get("MXNET_CUDA_TENSOR_OP_MATH_ALLOW_CONVERSION"):
        return _TF32, 0
    return _IN_32[pedantic], 0


def product(request, extents, transposed, alpha=1.0, beta=0.0, adds_row=False):
    """Return a matrix product by cuBLAS.

    Parameters
    ----------
    request : Request
    extents : tuple of int
        Batch, rows, columns and depth.
    transposed : (bool, bool)
        Whether the operands are stored transposed.
    alpha, beta : float
    adds_row : bool
        Whether the third input is a row that is added to each row of the product.

    Returns
    -------
    NativeCall or None
        None if cuBLAS cannot compute it.
    """
    dtype = request.outs[0].dtype
    if dtype not in _TYPES or any(spec.dtype != dtype for spec in request.ins):
        return None
    if min(extents) < 1 or max(extents) > _MOST or not is_open():
        return None
    batch, m, n, k = extents
    fill, grid = 0, 1
    if adds_row:
        text = f"{elements()}typedef {TYPES[dtype]} S;\n{_ROWS}"
        fill, grid = function(text, "rows", request.device), spread(m * n)[0]
    params = BLAS.pack(
        device=request.device,
        **way_of(dtype),
        bytes=memory_type(dtype).itemsize,
        transpose_a=int(transposed[0]),
        transpose_b=int(transposed[1]),
        grid=grid,
        batch=batch,
        m=m,
        n=n,
        k=k,
        fill=fill,
        alpha=alpha,
        beta=beta,
    )
    return NativeCall("gpu_gemm", params)


def strided_products(request):
    """Return products of strided matrices by cuBLAS.

    Parameters
    ----------
    request : Request
        Of the kernel ``strided_dot``.

    Returns
    -------
    NativeCall or None
        None if cuBLAS cannot compute it.
    """
    values, dtype, (out,) = request.values, request.dtype, request.outs
    m, n, k = (values[name] for name in "mnk")
    if dtype not in _TYPES or max(values["outer"], values["inner"], m, n, k) > _MOST:
        return None
    widths = (m if values["transpose_lhs"] else k, k if values["transpose_rhs"] else n, n)
    rows = (k if values["transpose_lhs"] else m, n if values["transpose_rhs"] else k, m)
    for row, width, count in zip(values["row"], widths, rows, strict=True):
        if not (width <= row <= _MOST or count == 1):
            return None
    if not is_open():
        return None
    fill = 0
    if values["clear"] and not values["base"]:
        text = f"{elements()}typedef {TYPES[dtype]} S;\n{_ZEROS}"
        fill = function(text, "zeros", request.device)
    way = BLAS.pack(
        device=request.device,
        **way_of(dtype),
        bytes=memory_type(dtype).itemsize,
        transpose_a=0,
        transpose_b=0,
        grid=spread(out.size)[0],
        batch=0,
        m=0,
        n=0,
        k=0,
        fill=fill,
        alpha=0,
        beta=0,
    )
    rows = [max(row, width) for row, width in zip(values["row"], widths, strict=True)]
    return NativeCall("gpu_strided_dot", STRIDED_DOT.pack(**(values | {"row": rows})) + way)
