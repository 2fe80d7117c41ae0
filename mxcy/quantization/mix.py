"""Mix the channels of arrays between linear layers so that rounding them does less harm.

If no activation lies between layers, as around the narrow arrays of inverted residual blocks, the
channels can be multiplied by an invertible matrix in the layers before and by its inverse in those
after: the float network computes the same. Rounding adds the same error to all channels, in
proportion to the widest of them. The best matrix makes all channels equally wide, and the width of
each independent component proportional to the square root of its share in the results.
"""

import numpy as np

from mxcy.quantization.collectors import CalibrationCollector

__all__ = ["Samples", "mix"]

#: sampled positions of an array
_POSITIONS = 8192
#: random rotations to choose from
_ROTATIONS = 8
#: largest number of channels to mix
_CHANNELS = 1024
#: smallest variances of components that count, relative to the mean
_FLOOR = 1e-4


class Samples(CalibrationCollector):
    """Collect the channels (axis 1) of arrays at random positions.

    Parameters
    ----------
    names : list of str
        Names of the arrays.
    batches : int
        Number of batches.

    Attributes
    ----------
    rows : dict of str to list of numpy.ndarray
        Values of shape (positions, channels), by array name.
    """

    def __init__(self, names, batches):
        super().__init__()
        self.include_layers, self.rows = names, {}
        self._count, self._random = max(1, _POSITIONS // max(1, batches)), np.random.default_rng(0)

    def collect(self, name, op_name, arr):
        array = np.moveaxis(arr.asnumpy(), 1, -1)
        rows = array.reshape(-1, array.shape[-1])
        if len(rows) > self._count:
            rows = rows[self._random.choice(len(rows), self._count, replace=False)]
        self.rows.setdefault(name, []).append(rows.astype(np.float64))


def mix(group, arrays, examples):
    """Mix the channels of a group of arrays.

    Parameters
    ----------
    group : ChannelGroup
        A linear one; its layers are modified.
    arrays : list of numpy.ndarray
        Samples of its arrays, of shape (positions, channels).
    examples : int
        Number of examples that the samples are from.

    Returns
    -------
    bool
        Whether the channels were mixed.
    """
    count = arrays[0].shape[1]
    if count > _CHANNELS or not all(np.isfinite(a).all() and len(a) > 1 for a in arrays):
        return False
    matrix = _matrix([layer.taps(count) for layer in group.readers], arrays, examples)
    if matrix is None:
        return False
    for layer in group.writers:
        layer.mix_outputs(matrix)
    inverse = np.linalg.inv(matrix)
    for layer in group.readers:
        layer.unmix_inputs(inverse)
    return True


def _matrix(weights, arrays, examples):
    """Return the matrix for arrays that layers with these weights read, or None."""
    count = arrays[0].shape[1]
    covariance = np.mean([np.cov(a, rowvar=False).reshape(count, count) for a in arrays], axis=0)
    variance = covariance.trace() / count
    if not variance > 0:
        return None
    covariance += _FLOOR * variance * np.eye(count)
    # correlations of few examples are not those of other data
    own = examples / (examples + count)
    covariance *= own + (1 - own) * np.eye(count)
    root = _components(covariance)
    harm = np.zeros((count, count))
    for taps in weights:
        powers = np.einsum("fcp,cd,fdp->f", taps, covariance, taps, optimize=True)
        taps = taps[powers > 0] / np.sqrt(powers[powers > 0])[:, None, None]
        harm += np.einsum("fcp,fdp->cd", taps, taps, optimize=True)
    shares = _components(root.T @ harm @ root)
    widths = np.sqrt(np.linalg.norm(shares, axis=0))
    widths /= np.sqrt(np.mean(widths**2))
    scaled = widths[:, None] * (shares / np.linalg.norm(shares, axis=0)).T @ np.linalg.inv(root)
    rotations = (_evened(widths, seed) for seed in range(_ROTATIONS))
    return min((rotation @ scaled for rotation in rotations), key=lambda m: _width(m, arrays))


def _components(matrix):
    """Return the orthogonal columns whose outer products add up to a nonnegative matrix."""
    values, vectors = np.linalg.eigh(matrix)
    return vectors * np.sqrt(np.maximum(values, _FLOOR * values.mean()))


def _width(matrix, arrays):
    """Return the root mean square of the arrays' widest channels after mixing."""
    widths = [np.ptp(array @ matrix.T, axis=0).max() for array in arrays]
    return np.linalg.norm(widths)


def _evened(scales, seed):
    """Return a random orthogonal matrix for which all rows of it @ diag(scales) have norm 1.

    Parameters
    ----------
    scales : numpy.ndarray
        With mean square 1.
    seed : int
    """
    count = len(scales)
    turned, _ = np.linalg.qr(np.random.default_rng(seed).normal(size=(count, count)))
    for _ in range(count - 1):
        powers = ((turned * scales) ** 2).sum(axis=1)
        low, high = powers.argmin(), powers.argmax()
        if powers[high] - powers[low] < 1e-9:
            break
        first, second = turned[low].copy(), turned[high].copy()
        # turn both rows in their plane until one of them has norm 1
        more, less = powers[high] - 1, powers[low] - 1
        half = (first * second * scales**2).sum()
        tangent = (np.sqrt(half**2 - more * less) - half) / more
        angle = np.arctan(tangent)
        turned[low] = np.cos(angle) * first + np.sin(angle) * second
        turned[high] = np.cos(angle) * second - np.sin(angle) * first
    return turned
