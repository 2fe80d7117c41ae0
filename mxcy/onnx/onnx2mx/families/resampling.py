"""Coordinates and weights for resizing one axis, in NumPy."""

import numpy as np

from mxcy.base import MXNetError

__all__ = ["positions", "weights"]


def positions(kind, size, extent, scale, region):
    """Source coordinates of `size` new elements among `extent` old ones.

    Parameters
    ----------
    kind : str
        ONNX's `coordinate_transformation_mode`.
    size, extent : int
    scale : float
        Scale given by the node; the sizes may be rounded.
    region : (float, float)
        Cropped region of ``tf_crop_and_resize``.
    """
    new = np.arange(size, dtype=np.float64)
    if kind == "half_pixel":
        return (new + 0.5) / scale - 0.5
    if kind == "half_pixel_symmetric":
        shift = (extent / 2) * (1 - size / (scale * extent))
        return shift + (new + 0.5) / scale - 0.5
    if kind == "pytorch_half_pixel":
        return (new + 0.5) / scale - 0.5 if size > 1 else np.zeros(size)
    if kind == "align_corners":
        # size before rounding
        resized = scale * extent
        return new * (extent - 1) / (resized - 1) if resized != 1 else np.zeros(size)
    if kind == "asymmetric":
        return new / scale
    if kind == "tf_half_pixel_for_nn":
        return (new + 0.5) / scale
    if kind == "tf_crop_and_resize":
        start, end = region
        if size > 1:
            return start * (extent - 1) + new * (end - start) * (extent - 1) / (size - 1)
        return np.full(size, 0.5 * (start + end) * (extent - 1))
    raise MXNetError(f"attribute coordinate_transformation_mode: {kind!r} is not known")


def _linear(distance, a):
    return np.maximum(1 - np.abs(distance), 0)


def _cubic(distance, a):
    d = np.abs(distance)
    near = ((a + 2) * d - (a + 3)) * d * d + 1
    far = ((d * a - 5 * a) * d + 8 * a) * d - 4 * a
    return np.where(d <= 1, near, np.where(d < 2, far, 0))


def weights(where, extent, scale, how):
    """The matrix (new, old) that resizes an axis."""
    if how.mode not in ("linear", "cubic"):
        raise MXNetError(f"attribute mode: {how.mode!r} is not known")
    kernel, reach = (_linear, 1) if how.mode == "linear" else (_cubic, 2)
    shrinkage = min(scale, 1.0) if how.antialias else 1.0
    reach = int(np.ceil(reach / shrinkage))
    first = np.floor(where).astype(np.int64) - reach + 1
    offsets = np.arange(2 * reach)
    places = first[:, None] + offsets
    values = kernel((places - where[:, None]) * shrinkage, how.cubic)
    outside = (places < 0) | (places >= extent)
    if how.exclude_outside:
        values = np.where(outside, 0, values)
    if how.exclude_outside or how.antialias:
        if how.antialias:
            # Only existing pixels under the kernel count.
            values = np.where(outside, 0, values) if how.exclude_outside else values
        values = values / values.sum(1, keepdims=True)
    matrix = np.zeros((len(where), extent))
    rows = np.repeat(np.arange(len(where))[:, None], len(offsets), 1)
    np.add.at(matrix, (rows, np.clip(places, 0, extent - 1)), values)
    return matrix
