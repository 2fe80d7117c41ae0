"""Round weights to 8 bits so that layers answer to calibration data as they did.

The numbers that a filter reads go together, neighbours in an image above all. So what rounding one
weight does to the result is taken back by the weights that are rounded after it, as far as their
data are alike: the error e of weight i is spread over those j > i by ``e U[i, j] / U[i, i]``, where
the upper triangle U is the Cholesky factor of the inverse of the data's second moments (the way of
optimal brain surgeons). What it does on the average is added to the layer's shift, and so is what
rounding and cutting did to the data on the average, in all layers before.
"""

import numpy as np

from mxcy import ndarray as nd

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


class Moments:
    """The means of what a layer reads in floats and in 8 bits, and the latter's covariances.

    Parameters
    ----------
    layer : Layer
    exact, rough : list of NDArray
        The layer's data for each batch: in the float network and in the one of 8 bits.
    """

    def __init__(self, layer, exact, rough):
        groups, _, depth = layer.rows().shape
        count = max(16, min(_PLACES // len(exact), _NUMBERS // (groups * depth)))
        random = np.random.default_rng(0)
        widths = [min(_BLOCK, depth - first) for first in range(0, depth, _BLOCK)]
        self._products = [np.zeros((groups, width, width)) for width in widths]
        self._sums, self._count, self._middle = np.zeros((2, groups, depth)), 0, None
        for pair in zip(exact, rough, strict=True):
            wanted, read = (
                rows.reshape(len(rows), groups, depth).transpose(1, 2, 0)
                for rows in _places(layer, [array.asnumpy() for array in pair], count, random)
            )
            if self._middle is None:  # small numbers leave small rounding errors
                self._middle = read.mean(axis=-1, keepdims=True)
            self._add(wanted - self._middle, read - self._middle)

    def _add(self, wanted, read):
        self._count += read.shape[-1]
        self._sums += [part.sum(axis=-1, dtype=np.float64) for part in (wanted, read)]
        for number, products in enumerate(self._products):
            part = read[:, number * _BLOCK : (number + 1) * _BLOCK]
            products += _product(part, part.transpose(0, 2, 1))

    def means(self):
        """What the float network reads on the average, and what the other one does.

        Returns
        -------
        numpy.ndarray
            (2, groups, n).
        """
        return self._middle[..., 0] + self._sums / self._count

    def covariances(self):
        """For each block of the numbers that are read in 8 bits their covariances (groups, n, n).

        Returns
        -------
        list of numpy.ndarray
        """
        off, covariances = self._sums[1] / self._count, []
        for number, products in enumerate(self._products):
            part = off[:, number * _BLOCK : number * _BLOCK + products.shape[-1]]
            covariances.append(products / self._count - part[:, :, None] * part[:, None])
        return covariances


def _places(layer, arrays, count, random):
    """What a layer's filters read at `count` places of its data, as rows; of arrays alike."""
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
    """The products of matrices, by our own threads."""
    lhs, rhs = (nd.array(array, dtype=array.dtype) for array in (lhs, rhs))
    return nd.linalg.gemm2(lhs, rhs).asnumpy()


def round_layer(layer, exact, rough, whole):
    """Round a layer's weight.

    Parameters
    ----------
    layer : Layer
        Its parameters are replaced.
    exact, rough : list of NDArray
        Its data for each batch: in the float network and in the one of 8 bits.
    whole : bool
        Whether all weights have one step, or those of each filter.
    """
    rows = layer.rows()
    if rows.size > _WEIGHTS or rows.size == 0 or not np.isfinite(rows).all():
        return
    rows = rows.astype(np.float64)
    if not all(array.size for array in exact):
        return
    moments = Moments(layer, exact, rough)
    wanted, read = moments.means()
    tops = np.abs(rows).max(axis=None if whole else -1, keepdims=True)
    steps = np.broadcast_to(np.where(tops > 0, tops, 1.0) / _LIMIT, (*rows.shape[:2], 1))
    parts = []
    for number, second in enumerate(moments.covariances()):
        block = slice(number * _BLOCK, number * _BLOCK + second.shape[-1])
        if not np.isfinite(second).all():
            return
        squares = read[:, block] ** 2
        floor = _FLOOR * (squares + np.einsum("gii->gi", second)).mean(axis=-1)
        second = second + floor[:, None, None] * np.eye(second.shape[-1])
        if not layer.shifts():
            second = second + read[:, block, None] * read[:, None, block]
        parts.append(rounded(rows[..., block], steps, second))
    kept = np.concatenate(parts, axis=-1)
    layer.keep_rows(kept.astype(np.float32))
    if layer.shifts():
        layer.shift((rows * wanted[:, None] - kept * read[:, None]).sum(axis=-1).reshape(-1))


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
