"""Round weights to 8 bits so that layers give the same results on calibration data.

The inputs of a filter are correlated, neighbouring pixels above all, so weights that are rounded
later can compensate for the rounding error of earlier ones. The error e of weight i is subtracted
from the weights j > i as ``e U[i, j] / U[i, i]``, where U is the upper Cholesky factor of the
inverse second moments of the inputs (the update of Optimal Brain Surgeon, as in GPTQ). The mean
error that remains is corrected in the bias, along with the mean error of the quantized inputs.

Before rounding, weights are moved so that results for the quantized inputs come nearer to those of
the float network: the layer compensates for errors of the layers before it.
"""

import numpy as np

from mxcy import ndarray as nd

__all__ = ["Moments", "compensated", "round_layer", "rounded"]

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
#: the same when weights are moved: errors of other images are alike only where data vary most
_CAUTION = 10.0
#: added to the diagonal relative to the mean square: covariances may be rounding errors only
_FLOOR = 1e-6
_LIMIT = 127


class Moments:
    """Means of a layer's float and quantized inputs, and the second moments with the latter.

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
        self._products = [np.zeros((2, groups, width, width)) for width in widths]
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
            parts = [inputs[:, number * _BLOCK : (number + 1) * _BLOCK] for inputs in both]
            columns = parts[1].transpose(0, 2, 1)
            for total, part in zip(products, parts, strict=True):
                total += _product(part, columns)

    def means(self):
        """Return the mean inputs of the float and of the quantized network.

        Returns
        -------
        numpy.ndarray
            Shape (2, groups, n).
        """
        return self._offset[..., 0] + self._sums / self._count

    def seconds(self, centred):
        """Return the second moments of the float and of the quantized inputs with the latter.

        Parameters
        ----------
        centred : bool
            Whether to return covariances, which are about the means, rather than about zero.

        Returns
        -------
        list of numpy.ndarray
            (2, groups, n, n) for each block of inputs.
        """
        offsets, means, seconds = self._sums / self._count, self.means(), []
        for number, products in enumerate(self._products):
            block = slice(number * _BLOCK, number * _BLOCK + products.shape[-1])
            second = products / self._count - _outer(offsets[..., block])
            squares = np.einsum("gii->gi", second[1]) + means[1, :, block] ** 2
            floor = _FLOOR * squares.mean(axis=-1)
            second += floor[:, None, None] * np.eye(second.shape[-1])
            seconds.append(second if centred else second + _outer(means[..., block]))
        return seconds


def _outer(means):
    """Multiply the means of float and of quantized inputs by the latter."""
    return means[..., :, None] * means[1][:, None, :]


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
    seconds = moments.seconds(layer.shifts())
    if not all(np.isfinite(second).all() for second in seconds):
        return
    blocks = [slice(first, first + _BLOCK) for first in range(0, rows.shape[-1], _BLOCK)]
    pairs = list(zip(blocks, seconds, strict=True))
    moved = [compensated(rows[..., block], *second) for block, second in pairs]
    moved = np.concatenate(moved, axis=-1)
    tops = np.abs(moved).max(axis=None if per_tensor else -1, keepdims=True)
    steps = np.broadcast_to(np.where(tops > 0, tops, 1.0) / _LIMIT, (*rows.shape[:2], 1))
    parts = [rounded(moved[..., block], steps, own) for block, (_, own) in pairs]
    new_rows = np.concatenate(parts, axis=-1)
    layer.write_rows(new_rows.astype(np.float32))
    if layer.shifts():
        float_means, int8_means = moments.means()
        errors = rows * float_means[:, None] - new_rows * int8_means[:, None]
        layer.shift(errors.sum(axis=-1).reshape(-1))


def compensated(rows, cross, own):
    """Move weights so that results for quantized inputs come nearer to those for float inputs.

    The mean square of the difference plus a penalty on the change of the weights is least.

    Parameters
    ----------
    rows : numpy.ndarray
        Weights (groups, filters, n), float64.
    cross, own : numpy.ndarray
        Second moments of the float and of the quantized inputs with the latter (groups, n, n).

    Returns
    -------
    numpy.ndarray
        Weights, shaped like `rows`.
    """
    penalty = _CAUTION * np.einsum("gii->gi", own).mean(axis=-1)
    penalty[penalty <= 0] = 1.0
    damped = nd.array(own + penalty[:, None, None] * np.eye(own.shape[-1]), dtype=np.float64)
    inverse = nd.linalg.potri(nd.linalg.potrf(damped)).asnumpy()
    return rows + _product(rows, _product(cross - own, inverse))


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
