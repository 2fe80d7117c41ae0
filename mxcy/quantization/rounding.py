"""Round weights to 8 bits so that layers give the same results on calibration data.

The inputs of a filter are correlated, neighbouring pixels above all, so weights that are rounded
later can compensate for the rounding error of earlier ones. The error e of weight i is subtracted
from the weights j > i as ``e U[i, j] / U[i, i]``, where U is the upper Cholesky factor of the
inverse second moments of the inputs (the update of Optimal Brain Surgeon, as in GPTQ). The mean
error that remains is corrected in the bias, along with the mean error of the quantized inputs.
"""

import numpy as np

from mxcy import ndarray as nd

__all__ = ["Moments", "round_layer", "rounded"]

#: weights of a filter that are rounded together; their moments have this number of rows and columns
_BLOCK = 256
#: weights of a block whose errors are propagated one at a time
_STRIP = 32
#: number of sampled positions of a layer's data, and of values per batch
_POSITIONS, _VALUES = 4096, 1 << 22
#: layers with more weights are rounded to nearest
_WEIGHTS = 1 << 23
#: added to the diagonal of the moments, relative to its mean
_DAMPING = 0.01
#: added to the diagonal relative to the mean square: covariances may be rounding errors only
_FLOOR = 1e-6
_LIMIT = 127


class Moments:
    """Means of a layer's float and quantized inputs, and the covariances of the latter.

    Parameters
    ----------
    layer : Layer
    float_data, int8_data : list of NDArray
        The layer's data of each batch, in the float and in the quantized network.
    """

    def __init__(self, layer, float_data, int8_data):
        groups, _, depth = layer.rows().shape
        count = max(16, min(_POSITIONS // len(float_data), _VALUES // (groups * depth)))
        random = np.random.default_rng(0)
        widths = [min(_BLOCK, depth - first) for first in range(0, depth, _BLOCK)]
        self._products = [np.zeros((groups, width, width)) for width in widths]
        self._sums, self._count, self._offset = np.zeros((2, groups, depth)), 0, None
        for pair in zip(float_data, int8_data, strict=True):
            float_inputs, int8_inputs = (
                rows.reshape(len(rows), groups, depth).transpose(1, 2, 0)
                for rows in _sample(layer, [array.asnumpy() for array in pair], count, random)
            )
            if self._offset is None:  # centred sums have smaller rounding errors
                self._offset = int8_inputs.mean(axis=-1, keepdims=True)
            self._add(float_inputs - self._offset, int8_inputs - self._offset)

    def _add(self, float_inputs, int8_inputs):
        self._count += int8_inputs.shape[-1]
        both = float_inputs, int8_inputs
        self._sums += [inputs.sum(axis=-1, dtype=np.float64) for inputs in both]
        for number, products in enumerate(self._products):
            block = int8_inputs[:, number * _BLOCK : (number + 1) * _BLOCK]
            products += _product(block, block.transpose(0, 2, 1))

    def means(self):
        """Return the mean inputs of the float and of the quantized network.

        Returns
        -------
        numpy.ndarray
            Shape (2, groups, n).
        """
        return self._offset[..., 0] + self._sums / self._count

    def covariances(self):
        """Return the covariances of the quantized inputs, (groups, n, n) for each block.

        Returns
        -------
        list of numpy.ndarray
        """
        means, covariances = self._sums[1] / self._count, []
        for number, products in enumerate(self._products):
            block = means[:, number * _BLOCK : number * _BLOCK + products.shape[-1]]
            covariances.append(products / self._count - block[:, :, None] * block[:, None])
        return covariances


def _sample(layer, arrays, count, random):
    """Return the filters' inputs at `count` random positions as rows, the same in all arrays."""
    if layer.is_dense:
        rows = [a.reshape(len(a), -1) if layer.attrs.flatten else a for a in arrays]
        rows = [a.reshape(-1, a.shape[-1]) for a in rows]
        if len(rows[0]) <= count:
            return rows
        chosen = random.choice(len(rows[0]), count, replace=False)
        return [a[chosen] for a in rows]
    kernel = layer.attrs.kernel
    ones = (1,) * len(kernel)
    stride, dilate = layer.attrs.stride or ones, layer.attrs.dilate or ones
    pad = layer.attrs.pad or (0,) * len(kernel)
    padded = [np.pad(a, ((0, 0), (0, 0), *((p, p) for p in pad))) for a in arrays]
    shape = padded[0].shape
    index = [random.integers(shape[0], size=count).reshape(-1, *[1] * len(kernel)), slice(None)]
    for axis, (k, s, d) in enumerate(zip(kernel, stride, dilate, strict=True)):
        last = (shape[2 + axis] - (k - 1) * d - 1) // s
        starts = random.integers(last + 1, size=count) * s
        steps = [1] * len(kernel)
        steps[axis] = k
        index.append(starts.reshape(-1, *[1] * len(kernel)) + d * np.arange(k).reshape(1, *steps))
    # (count, kernel..., channels)
    return [np.moveaxis(a[tuple(index)], -1, 1).reshape(count, -1) for a in padded]


def _product(lhs, rhs):
    """Multiply batches of matrices with mxcy's threads."""
    lhs, rhs = (nd.array(array, dtype=array.dtype) for array in (lhs, rhs))
    return nd.linalg.gemm2(lhs, rhs).asnumpy()


def round_layer(layer, float_data, int8_data, per_tensor):
    """Round the weight of a layer and correct its bias.

    Parameters
    ----------
    layer : Layer
        Its parameters are replaced.
    float_data, int8_data : list of NDArray
        Its data of each batch, in the float and in the quantized network.
    per_tensor : bool
        Whether all weights share one scale; else each filter has its own.
    """
    rows = layer.rows()
    if rows.size > _WEIGHTS or rows.size == 0 or not np.isfinite(rows).all():
        return
    rows = rows.astype(np.float64)
    if not all(array.size for array in float_data):
        return
    moments = Moments(layer, float_data, int8_data)
    float_means, int8_means = moments.means()
    tops = np.abs(rows).max(axis=None if per_tensor else -1, keepdims=True)
    steps = np.broadcast_to(np.where(tops > 0, tops, 1.0) / _LIMIT, (*rows.shape[:2], 1))
    parts = []
    for number, second in enumerate(moments.covariances()):
        block = slice(number * _BLOCK, number * _BLOCK + second.shape[-1])
        if not np.isfinite(second).all():
            return
        squares = int8_means[:, block] ** 2
        floor = _FLOOR * (squares + np.einsum("gii->gi", second)).mean(axis=-1)
        second = second + floor[:, None, None] * np.eye(second.shape[-1])
        if not layer.shifts():
            second = second + int8_means[:, block, None] * int8_means[:, None, block]
        parts.append(rounded(rows[..., block], steps, second))
    new_rows = np.concatenate(parts, axis=-1)
    layer.write_rows(new_rows.astype(np.float32))
    if layer.shifts():
        errors = rows * float_means[:, None] - new_rows * int8_means[:, None]
        layer.shift(errors.sum(axis=-1).reshape(-1))


def rounded(rows, steps, moments):
    """Round weights one after another, compensating for the errors of the previous ones.

    Parameters
    ----------
    rows : numpy.ndarray
        Weights (groups, filters, n), float64.
    steps : numpy.ndarray
        Quantization steps (groups, filters, 1). Weights of 127 steps do not change, so the scale
        that is later derived from the largest weight stays the same.
    moments : numpy.ndarray
        Second moments of the inputs (groups, n, n).

    Returns
    -------
    numpy.ndarray
        Multiples of `steps`, shaped like `rows`.
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
    # weights that are rounded together are adjacent: (groups, n, filters)
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
