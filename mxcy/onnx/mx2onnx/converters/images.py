"""Image conversion, cropping, and sampling on grids."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


@convert("_image_to_tensor")
def to_tensor(a, G, x):
    """Move channels to the front and scale values to [0, 1]."""
    order = (2, 0, 1) if x.ndim == 3 else (0, 3, 1, 2)
    return G.transpose(G.cast(x, np.float32) / 255, order)


@convert("_image_normalize")
def normalize(a, G, x):
    """Subtract the mean and divide by the standard deviation, per channel."""
    channels = x.shape[-3]
    if channels == -1:
        G.unsupported("a free number of channels")

    def spread(numbers):
        numbers = list(numbers) * (channels if len(numbers) == 1 else 1)
        return G.const(np.array(numbers[:channels], x.dtype).reshape(-1, 1, 1))

    return G.Div(G.Sub(x, spread(a.mean)), spread(a.std))


@convert("_image_crop")
def crop(a, G, x):
    """Crop an image with channels last."""
    ends = [a.y + a.height, a.x + a.width]
    return G.slice(x, [a.y, a.x], ends, [x.ndim - 3, x.ndim - 2])


def _flipped(G, x, axis):
    return G.slice(x, [-1], [-(2**63)], [axis], [-1])


@convert("_image_flip_left_right")
def flip_left_right(a, G, x):
    """Reverse the columns."""
    return _flipped(G, x, x.ndim - 2)


@convert("_image_flip_top_bottom")
def flip_top_bottom(a, G, x):
    """Reverse the rows."""
    return _flipped(G, x, x.ndim - 3)


# --- sampling on grids ---------------------------------------------------------------------------


def _sampled(G, x, grid):
    """Interpolate pixels at coordinates (batch, 2, height, width) from -1 to 1."""
    if G.opset < 16:
        G.unsupported("sampling on grids before opset 16")
    mode = "linear" if G.opset >= 20 else "bilinear"
    places = G.transpose(grid, (0, 2, 3, 1))
    return G.GridSample(x, places, mode=mode, padding_mode="zeros", align_corners=1)


@convert("BilinearSampler")
def bilinear_sampler(a, G, x, grid):
    """Convert to GridSample."""
    return _sampled(G, x, grid)


def _affine_grid(G, theta, height, width):
    rows, columns = (np.linspace(-1, 1, n) if n > 1 else np.full(1, -1.0) for n in (height, width))
    x, y = np.meshgrid(columns, rows)
    base = np.stack([x.ravel(), y.ravel(), np.ones(height * width)]).astype(theta.dtype)
    batch = G.dim(theta, 0)
    grid = G.MatMul(G.reshape(theta, [batch, 2, 3]), G.const(base))
    return G.reshape(grid, [batch, 2, height, width])


@convert("GridGenerator")
def grid_generator(a, G, x):
    """Create a grid from an affine map, or from offsets."""
    if a.transform_type == "affine":
        return _affine_grid(G, x, *a.target_shape)
    height, width = x.shape[2:]
    if -1 in (height, width):
        G.unsupported("free spatial extents")
    rows, columns = np.meshgrid(np.arange(height), np.arange(width), indexing="ij")
    base = np.stack([columns, rows])[None].astype(x.dtype)
    scale = np.array([max(width - 1, 1), max(height - 1, 1)], x.dtype).reshape(1, 2, 1, 1) / 2
    return G.Div(G.Add(x, G.const(base)), G.const(scale)) - 1


@convert("SpatialTransformer")
def spatial_transformer(a, G, x, theta):
    """Create a grid and sample on it."""
    height, width = a.target_shape if any(a.target_shape) else x.shape[2:]
    if -1 in (height, width):
        G.unsupported("free spatial extents")
    return _sampled(G, x, _affine_grid(G, theta, height, width))
