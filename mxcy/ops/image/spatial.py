"""Spatial transformers: grid generation and sampling.

A grid is (batch, 2, height, width): the column and the row to sample for each output position, in
coordinates where -1 and 1 are the first and the last pixel. Definition: Jaderberg et al. (2015),
Spatial Transformer Networks.
"""

import math

from mxcy.ops.core.attrs import BoolOrNone, Enum, Shape
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, infer_gradients, require, require_plane, same_dtype
from mxcy.ops.core.params import SAMPLER
from mxcy.ops.core.record import native, no_rule, op, register, sample, values
from mxcy.ops.image.bilinear import Points
from mxcy.ops.norm.batch import require_float

__all__ = []


# --- grids -----------------------------------------------------------------------------------


def _steps(xp, extent, dtype):
    """Return `extent` evenly spaced values from -1 to 1."""
    spacing = 2 / (extent - 1) if extent > 1 else xp.inf
    return -1 + xp.arange(extent, dtype=dtype) * xp.asarray(spacing, dtype)


def _places(xp, shape, dtype):
    """Return the points of a regular grid as columns (column, row, 1): (3, height * width)."""
    rows, columns = (_steps(xp, extent, dtype) for extent in shape)
    y, x = xp.broadcast_to(rows[:, None], shape), xp.broadcast_to(columns, shape)
    return xp.stack([x, y, xp.ones(shape, dtype)]).reshape(3, -1)


def _affine_grid(xp, data, shape):
    grid = xp.matmul(data.reshape(-1, 2, 3), _places(xp, shape, data.dtype))
    return grid.reshape(-1, 2, *shape)


def _target(a):
    require(
        len(a.target_shape) == 2 and min(a.target_shape) > 0,
        f"target_shape: expected (height, width), got {a.target_shape}",
    )
    return tuple(a.target_shape)


@op("GridGenerator", in_symbols=InSymbols(named=True, named_input=True, listed=2))
class GridGenerator:
    """Generate a sampling grid for BilinearSampler from a transformation.

    ``affine``: data (batch, 6) holds the rows of 2 x 3 matrices that map (column, row, 1) of a
    regular grid of `target_shape` to sampling positions. ``warp``: data (batch, 2, height, width)
    holds pixel offsets to the right and down (optical flow).
    Returns (batch, 2, height, width).

    Raises
    ------
    MXNetError
        If an affine transformation has no positive `target_shape`.
    """

    transform_type: Enum("affine", "warp")
    target_shape: Shape = (0, 0)

    samples = (
        sample((2, 6), transform_type="affine", target_shape=(3, 4)),
        sample((2, 2, 3, 5), transform_type="warp"),
    )

    def infer(a, data):
        require_float(data, "data")
        if a.transform_type == "affine":
            data.fill("data", (-1, 6))
            return Spec((data.shape[0], 2, *_target(a)), data.dtype)
        data.fill("data", (-1, 2, -1, -1))
        return Spec(data.shape, data.dtype)

    def grad(a, F, g, specs):
        if a.transform_type == "affine":
            return F._affine_grid_grad(g)
        parts = [
            F.slice_axis(g, axis=1, begin=i, end=i + 1) * (2 / (n - 1) if n > 1 else math.inf)
            for i, n in enumerate(reversed(specs[0].shape[2:]))
        ]
        return F.Concat(*parts, dim=1)

    def ref(a, xp, data):
        if a.transform_type == "affine":
            return _affine_grid(xp, data, a.target_shape)
        height, width = data.shape[2:]
        y, x = xp.indices((height, width), data.dtype)
        half = xp.array([width - 1, height - 1], data.dtype).reshape(2, 1, 1) / 2
        return (data + xp.stack([x, y])) / half - 1


def _infer_affine_back(a, data):
    require_float(data, "data")
    data.fill("data", (-1, 2, -1, -1))
    return Spec((data.shape[0], 6), data.dtype)


register(
    "_affine_grid_grad",
    doc="""Gradient of an affine transformation (batch, 6) from that of its grid.""",
    infer=_infer_affine_back,
    grad=lambda a, F, g, specs: F.GridGenerator(
        g, transform_type="affine", target_shape=specs[0].shape[2:]
    ),
    ref=lambda a, xp, data: xp.matmul(
        data.reshape(len(data), 2, -1), _places(xp, data.shape[2:], data.dtype).T
    ).reshape(-1, 6),
    samples=(sample((2, 2, 3, 4)),),
)


# --- sampling ---------------------------------------------------------------------------------


def _points(xp, image, grid):
    """Return the sampling points of a grid (2, ...) in an image (channels, height, width)."""
    height, width = image.shape[1:]
    x, y = (grid[0] + 1) * ((width - 1) / 2), (grid[1] + 1) * ((height - 1) / 2)
    return Points(xp, y, x, (height, width))


def _sampled(xp, data, grid):
    out = xp.empty((*data.shape[:2], *grid.shape[2:]), data.dtype)
    for image, places, target in zip(data, grid, out, strict=True):
        target[:] = _points(xp, image, places).values(image.reshape(len(image), -1))
    return out


def _sampler_params(data, out, affine):
    return {
        "batch": data.shape[0],
        "channels": data.shape[1],
        "source": data.shape[2:],
        "target": out.shape[2:],
        "affine": affine,
    }


def _sampler_work(a, ins, outs):
    return 4 * max(spec.size for spec in (*ins, *outs))


@op("BilinearSampler", inputs="data grid", in_symbols=InSymbols(named=True, listed=2))
class BilinearSampler:
    """Sample images at the positions of a grid by bilinear interpolation.

    Shapes: data (batch, channels, height, width); grid (batch, 2, rows, columns), columns first, in
    coordinates where -1 and 1 are the first and the last pixel; out (batch, channels, rows,
    columns). Pixels outside the image are zero. `cudnn_off` is ignored on CPU.
    """

    cudnn_off: BoolOrNone = None

    samples = (
        sample((2, 3, 4, 5), values(-0.9, 0.9, (2, 2, 3, 4)), tol=10),
        sample((1, 2, 3, 3), values(-1.6, 1.6, (1, 2, 9, 20)), tol=10),
        sample((1, 1, 1, 4), (1, 2, 2, 2), tol=10),
    )
    kernels = (
        native(
            "bilinear_sampler",
            struct=SAMPLER,
            work=_sampler_work,
            params=lambda a, ins, outs: _sampler_params(ins[0], outs[0], affine=0),
        ),
    )

    def infer(a, data, grid):
        dtype = same_dtype((data, grid), ("data", "grid"))
        require_float(data, "data")
        data.fill("data", (-1, -1, -1, -1))
        require_plane(data)
        grid.fill("grid", (data.shape[0], 2, -1, -1))
        return Spec((*data.shape[:2], *grid.shape[2:]), dtype)

    def grad(a, F, g, data, grid):
        return tuple(F._bilinear_sampler_grad(g, data, grid))

    def ref(a, xp, data, grid):
        return _sampled(xp, data, grid)


def _sampler_grad(a, xp, grads, data, grid):
    by_data, by_grid = xp.zeros_like(data), xp.empty_like(grid)
    half = [(extent - 1) / 2 for extent in data.shape[2:]]
    for g, image, places, into, moved in zip(grads, data, grid, by_data, by_grid, strict=True):
        points = _points(xp, image, places)
        points.add_to(into.reshape(len(into), -1), g)
        by_row, by_column = points.slopes(image.reshape(len(image), -1))
        moved[0] = (g * by_column).sum(0) * half[1]
        moved[1] = (g * by_row).sum(0) * half[0]
    return by_data, by_grid


register(
    "_bilinear_sampler_grad",
    doc="""Gradients of BilinearSampler with respect to data and grid.

Takes the gradient of the output, the data and the grid.""",
    inputs="grads data grid",
    outputs="data_grad grid_grad",
    grad=no_rule,
    infer=lambda a, grads, data, grid: infer_gradients(
        lambda a, *ins: BilinearSampler.infer(a, ins), a, grads, data, grid
    ),
    ref=_sampler_grad,
    kernels=(
        native(
            "bilinear_sampler_grad",
            struct=SAMPLER,
            work=_sampler_work,
            params=lambda a, ins, outs: _sampler_params(ins[1], ins[0], affine=0),
        ),
    ),
    samples=(
        sample((2, 3, 3, 4), (2, 3, 4, 5), values(-1.6, 1.6, (2, 2, 3, 4)), tol=10),
        sample((1, 2, 9, 20), (1, 2, 3, 3), (1, 2, 9, 20), tol=10),
    ),
)


@op("SpatialTransformer", inputs="data loc", in_symbols=InSymbols(named=True, listed=3))
class SpatialTransformer:
    """Apply affine transformations to images: BilinearSampler on an affine GridGenerator.

    Shapes: data (batch, channels, height, width); loc (batch, 6), the rows of 2 x 3 matrices that
    map (column, row, 1) of the result to positions in the data, both in coordinates where -1 and 1
    are the first and the last pixel; out (batch, channels, *target_shape). `cudnn_off` is ignored
    on CPU.

    Raises
    ------
    MXNetError
        If `target_shape` is not positive.
    """

    target_shape: Shape = (0, 0)
    transform_type: Enum("affine")
    sampler_type: Enum("bilinear")
    cudnn_off: BoolOrNone = None

    samples = (
        sample(
            (2, 3, 4, 5),
            values(-0.6, 0.6, (2, 6)),
            target_shape=(3, 4),
            transform_type="affine",
            sampler_type="bilinear",
            tol=10,
        ),
        sample(
            (1, 2, 4, 3),
            (1, 6),
            target_shape=(11, 13),
            transform_type="affine",
            sampler_type="bilinear",
            tol=10,
        ),
    )
    kernels = (
        native(
            "bilinear_sampler",
            struct=SAMPLER,
            work=_sampler_work,
            params=lambda a, ins, outs: _sampler_params(ins[0], outs[0], affine=1),
        ),
    )

    def infer(a, data, loc):
        dtype = same_dtype((data, loc), ("data", "loc"))
        require_float(data, "data")
        data.fill("data", (-1, -1, -1, -1))
        require_plane(data)
        loc.fill("loc", (data.shape[0], 6))
        return Spec((*data.shape[:2], *_target(a)), dtype)

    def grad(a, F, g, data, loc):
        grid = F.GridGenerator(loc, transform_type="affine", target_shape=a.target_shape)
        by_data, by_grid = F._bilinear_sampler_grad(g, data, grid)
        return by_data, F._affine_grid_grad(by_grid)

    def ref(a, xp, data, loc):
        return _sampled(xp, data, _affine_grid(xp, loc, a.target_shape))
