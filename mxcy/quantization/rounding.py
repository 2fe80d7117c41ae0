"""Round weights to 8 bits so that layers answer to calibration data as they did.

The numbers that a filter reads go together, neighbours in an image above all. So what rounding one
weight does to the result is taken back by the weights that are rounded after it, as far as their
data are alike: the error e of weight i is spread over those j > i by ``e U[i, j] / U[i, i]``, where
the upper triangle U is the Cholesky factor of the inverse of the data's second moments (the way of
optimal brain surgeons). What it does on the average is added to the layer's shift.
"""

import numpy as np

from mxcy import ndarray as nd
from mxcy.quantization.collectors import CalibrationCollector

__all__ = ["Moments", "round_layer", "rounded"]

#: weights of a filter that are looked at together: this squared is the size of their moments
_BLOCK = 256
#: of these, those whose errors are spread one by one
_STRIP = 32
#: how many places of its data a layer is shown, and how many numbers of these in one batch
_PLACES, _NUMBERS = 4096, 1 << 22
#: layers with more weights are left alone
_WEIGHTS = 1 << 23
#: added to the moments' diagonal, of its mean
_DAMPING = 0.01
#: the same of the squares' mean, as the covariances may be nothing but rounding errors
_FLOOR = 1e-6
_LIMIT = 127


class Moments(CalibrationCollector):
    """Keeps the means and covariances of what layers read.

    Parameters
    ----------
    readers : dict of str to list of Layer
        Layers by the names of their data.
    batches : int
        How many there will be.
    """

    def __init__(self, readers, batches):
        super().__init__()
        self.include_layers = list(readers)
        self._readers, self._batches = readers, batches
        self._random = np.random.default_rng(0)
        self._sums = {}  # id of a layer -> [count, what is taken off, sums, products by block]

    def collect(self, name, op_name, arr):
        """Look at one array.

        Parameters
        ----------
        name, op_name : str
        arr : NDArray
        """
        array = arr.asnumpy().astype(np.float32)
        for layer in self._readers[name]:
            self._add(layer, array)

    def _add(self, layer, array):
        groups, _, depth = layer.rows().shape
        count = min(_PLACES // self._batches, _NUMBERS // (groups * depth))
        read = _places(layer, array, max(count, 16), self._random)
        read = read.reshape(len(read), groups, depth).transpose(1, 2, 0)
        if id(layer) not in self._sums:
            widths = [min(_BLOCK, depth - first) for first in range(0, depth, _BLOCK)]
            products = [np.zeros((groups, width, width)) for width in widths]
            middle = read.mean(axis=-1, keepdims=True)  # small numbers leave small rounding errors
            self._sums[id(layer)] = [0, middle, np.zeros((groups, depth)), products]
        sums = self._sums[id(layer)]
        read = read - sums[1]
        sums[0] += read.shape[-1]
        sums[2] += read.sum(axis=-1, dtype=np.float64)
        for number, products in enumerate(sums[3]):
            part = read[:, number * _BLOCK : (number + 1) * _BLOCK]
            products += _product(part, part.transpose(0, 2, 1))

    def of(self, layer):
        """What was found out about a layer's data.

        Returns
        -------
        (numpy.ndarray, list of numpy.ndarray) or None
            The means (groups, n), and for each block of numbers their covariances (groups, n, n).
        """
        if id(layer) not in self._sums:
            return None
        count, middle, sums, products = self._sums[id(layer)]
        off, covariances = sums / count, []
        for number, product in enumerate(products):
            part = off[:, number * _BLOCK : number * _BLOCK + product.shape[-1]]
            covariances.append(product / count - part[:, :, None] * part[:, None])
        return middle[..., 0] + off, covariances


def _places(layer, array, count, random):
    """What a layer's filters read at `count` places of its data, as rows."""
    if layer.is_dense:
        rows = array.reshape(len(array), -1) if layer.attrs.flatten else array
        rows = rows.reshape(-1, rows.shape[-1])
        return rows if len(rows) <= count else rows[random.choice(len(rows), count, replace=False)]
    kernel = layer.attrs.kernel
    ones = (1,) * len(kernel)
    stride, dilate = layer.attrs.stride or ones, layer.attrs.dilate or ones
    pad = layer.attrs.pad or (0,) * len(kernel)
    padded = np.pad(array, ((0, 0), (0, 0), *((p, p) for p in pad)))
    index = [random.integers(len(array), size=count).reshape(-1, *[1] * len(kernel)), slice(None)]
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilate, strict=True)):
        last = (padded.shape[2 + axis] - (k - 1) * d - 1) // s
        starts = random.integers(last + 1, size=count) * s
        shape = [1] * len(kernel)
        shape[axis] = k
        steps = starts.reshape(-1, *[1] * len(kernel)) + d * np.arange(k).reshape(1, *shape)
        index.append(steps)
    read = padded[tuple(index)]  # (count, kernel..., channels)
    return np.moveaxis(read, -1, 1).reshape(count, -1)


def _product(lhs, rhs):
    """The products of matrices, by our own threads."""
    lhs, rhs = (nd.array(array, dtype=array.dtype) for array in (lhs, rhs))
    return nd.linalg.gemm2(lhs, rhs).asnumpy()


def round_layer(layer, moments, whole):
    """Round a layer's weight.

    Parameters
    ----------
    layer : Layer
        Its parameters are replaced.
    moments : Moments
        That have seen its data.
    whole : bool
        Whether all weights have one step, or those of each filter.
    """
    rows = layer.rows().astype(np.float64)
    seen = moments.of(layer)
    if seen is None or rows.size > _WEIGHTS or rows.size == 0 or not np.isfinite(rows).all():
        return
    means, covariances = seen
    tops = np.abs(rows).max(axis=None if whole else -1, keepdims=True)
    steps = np.broadcast_to(np.where(tops > 0, tops, 1.0) / _LIMIT, (*rows.shape[:2], 1))
    parts = []
    for number, second in enumerate(covariances):
        block = slice(number * _BLOCK, number * _BLOCK + second.shape[-1])
        if not np.isfinite(second).all():
            return
        squares = means[:, block] ** 2
        floor = _FLOOR * (squares + np.einsum("gii->gi", second)).mean(axis=-1)
        second = second + floor[:, None, None] * np.eye(second.shape[-1])
        if not layer.shifts():
            second = second + means[:, block, None] * means[:, None, block]
        parts.append(rounded(rows[..., block], steps, second))
    kept = np.concatenate(parts, axis=-1)
    layer.keep_rows(kept.astype(np.float32))
    if layer.shifts():
        layer.shift((((rows - kept) * means[:, None]).sum(axis=-1)).reshape(-1))


def rounded(rows, steps, moments):
    """Round weights, each with regard to the errors of those before.

    Parameters
    ----------
    rows : numpy.ndarray
        (groups, filters, n) float64.
    steps : numpy.ndarray
        (groups, filters, 1): what the weights become multiples of. Weights of 127 steps stay, so
        that a reader who takes the largest for 127 finds the same.
    moments : numpy.ndarray
        (groups, n, n): the second moments of what the weights are multiplied by.

    Returns
    -------
    numpy.ndarray
        Like `rows`.
    """
    groups, _, depth = rows.shape
    diagonal = np.einsum("gii->gi", moments)
    damping = _DAMPING * diagonal.mean(axis=-1)
    damping[damping <= 0] = 1.0
    order = np.argsort(-diagonal, axis=-1, kind="stable")
    group = np.arange(groups)[:, None]
    damped = moments + damping[:, None, None] * np.eye(depth)
    damped = damped[group[:, :, None], order[:, :, None], order[:, None, :]]
    damped = nd.array(damped, dtype=np.float64)
    upper = nd.linalg.potrf(nd.linalg.potri(nd.linalg.potrf(damped))).asnumpy().transpose(0, 2, 1)
    # the weights that are rounded together lie together: (groups, n, filters)
    left = rows.transpose(0, 2, 1)[group, order]
    steps = steps.transpose(0, 2, 1)
    numbers = np.sign(left) * _LIMIT
    loose = np.abs(left) < _LIMIT * steps * (1 - 1e-6)
    for first in range(0, depth, _STRIP):
        end = min(first + _STRIP, depth)
        errors = np.empty((groups, end - first, left.shape[-1]))
        for i in range(first, end):
            nearest = np.clip(np.rint(left[:, i] / steps[:, 0]), -_LIMIT, _LIMIT)
            np.copyto(numbers[:, i], nearest, where=loose[:, i])
            error = (left[:, i] - numbers[:, i] * steps[:, 0]) / upper[:, i, i, None]
            errors[:, i - first] = error
            left[:, i + 1 : end] -= upper[:, i, i + 1 : end, None] * error[:, None]
        if end < depth:
            left[:, end:] -= _product(upper[:, first:end, end:].transpose(0, 2, 1), errors)
    kept = np.empty_like(left)
    kept[group, order] = numbers * steps
    return kept.transpose(0, 2, 1)
