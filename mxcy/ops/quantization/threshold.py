"""Quantization threshold of a histogram with minimal Kullback-Leibler divergence.

A candidate keeps the bins within a distance of the middle one and clips the others. Its loss is the
divergence of the clipped histogram from its quantization to `levels` groups of bins. The loss is
nearly flat around its minimum, so that rounding matters: `_divergence` sums sequentially in single
precision, as MXNet does. It takes a pass over the bins, too slow for thousands of candidates;
`_estimates` therefore preselects candidates in double precision, from cumulative sums.
"""

import numpy as np

__all__ = ["best_threshold"]

_EPSILON = 1e-4  # count of an empty bin
#: error bound of a divergence in single precision
_DOUBT = 1.5e-4
#: candidates estimated per batch
_AT_ONCE = 256


def best_threshold(histogram, edges, levels=255):
    """Find the clipping threshold of a histogram.

    Parameters
    ----------
    histogram : array
        Counts of an odd number of bins, the middle one around zero.
    edges : array
        Bin edges, one more than bins.
    levels : int
        Number of quantization levels.

    Returns
    -------
    (float32, float32)
        The threshold and its divergence.

    Raises
    ------
    ValueError
        If the number of bins is even, or not one less than that of edges.
    """
    counts, edges = np.asarray(histogram, np.float32), np.asarray(edges, np.float32)
    if counts.ndim != 1 or counts.size % 2 == 0 or edges.shape != (counts.size + 1,):
        raise ValueError(
            "calibrate_entropy: expected an odd number of bins and one edge more, "
            f"got {counts.shape} and {edges.shape}"
        )
    middle = counts.size // 2
    widths = np.arange(min(levels // 2, middle), middle + 1)
    divergences = np.full(widths.size, np.inf, np.float32)
    estimates = _estimates(counts.astype(np.float64), widths, levels)
    least = np.inf
    for place in np.argsort(np.where(np.isnan(estimates), -np.inf, estimates), kind="stable"):
        if estimates[place] > least + _DOUBT:
            break  # it and its successors are larger
        divergences[place] = _divergence(counts, widths[place], levels)
        least = min(least, divergences[place])
    best = np.argmin(divergences)
    return edges[middle + widths[best] + 1], divergences[best]


def _divergence(counts, width, levels):
    """Return the loss of the bins within `width` of the middle, rounded as in MXNet."""
    middle = counts.size // 2
    first, end = middle - width, middle + width + 1
    inside = counts[first:end].copy()
    inside[0] = 0
    kept = counts[first:end].copy()
    kept[0] = _added(counts[: first + 1])
    kept[-1] += _added(counts[end:])
    starts, sizes = _groups(kept.size, levels)
    filled = np.add.reduceat((inside != 0).astype(np.float32), starts)
    level = np.add.reduceat(inside, starts) / np.maximum(filled, 1)
    approximation = np.where(kept != 0, np.repeat(level, sizes), np.float32(0))
    kept, approximation = _smoothed(kept), _smoothed(approximation)
    if kept is None or approximation is None:
        return np.inf
    kept, approximation = kept / _added(kept), approximation / _added(approximation)
    return _added(kept * np.log(kept / approximation))


def _added(values):
    """Sum values sequentially, rounding after each."""
    return np.add.accumulate(values)[-1] if values.size else np.float32(0)


def _groups(size, levels):
    """Return (starts, sizes) of the groups of `size` bins; the last takes the remainder."""
    sizes = np.full(min(levels, size), size // min(levels, size))
    starts = np.arange(sizes.size) * sizes[0]
    sizes[-1] = size - starts[-1]
    return starts, sizes


def _smoothed(values):
    """Replace zeros of a distribution at the expense of other bins; None if impossible."""
    empty = values == 0
    zeros = np.float32(empty.sum())
    if zeros == values.size:
        return None
    price = np.float32(_EPSILON) * zeros / (values.size - zeros)
    if price >= 1:
        return None
    return np.where(empty, np.float32(_EPSILON), values - price)


# --- estimates -----------------------------------------------------------------------------------


def _estimates(counts, widths, levels):
    """Return each candidate's loss in double precision; NaN if not estimable."""
    running = _Running(counts)
    parts = np.split(widths, range(_AT_ONCE, widths.size, _AT_ONCE))
    with np.errstate(all="ignore"):
        return np.concatenate([running.losses(part, levels) for part in parts])


class _Running:
    """Cumulative sums of a histogram, of powers and logarithms."""

    def __init__(self, counts):
        filled = counts != 0
        safe = np.where(filled, counts, 1)
        self.counts, self.least = counts, safe[filled].min(initial=np.inf)
        self.mass, self.filled = _before(counts), _before(filled)
        self.logs, self.of_mass = _before(np.log(safe)), _before(counts * np.log(safe))
        self.inverses = [_before(np.where(filled, safe**-n, 0)) for n in (1, 2, 3)]

    def losses(self, widths, levels):
        """Return the divergences of all candidates."""
        counts, middle = self.counts, self.counts.size // 2
        first, last = middle - widths, middle + widths
        sizes = last - first + 1
        low, high = self.mass[first + 1], counts[last] + self.mass[-1] - self.mass[last + 1]
        inner = self.filled[last] - self.filled[first + 1]
        filled = inner + (low != 0) + (high != 0)
        price = _EPSILON * (sizes - filled) / filled
        # Groups of the inner bins; the first and the last group include a clipped end.
        starts = first[:, None] + np.arange(levels) * (sizes // levels)[:, None]
        bounds = np.concatenate([starts, (last + 1)[:, None]], axis=1)
        bounds[:, 0] += 1  # the first bin is excluded
        mass = np.diff(self.mass[bounds], axis=1)
        bins = np.diff(self.filled[bounds], axis=1)
        level = mass / np.maximum(bins, 1)
        between = bins.copy()
        between[:, -1] -= counts[last] != 0
        weight = mass.copy()
        weight[:, -1] -= counts[last]
        ends = (low, level[:, 0]), (high, level[:, -1])
        approximation = (between * level).sum(1) + sum(
            np.where(end != 0, at, 0) for end, at in ends
        )
        empty = sizes - between.sum(1) - sum((end != 0) & (at != 0) for end, at in ends)
        price_told = _EPSILON * empty / (sizes - empty)
        weight -= between * price[:, None]
        divergences = np.where(between != 0, weight * np.log(level - price_told[:, None]), 0).sum(1)
        own = self._own(first + 1, last, price)
        for end, at in ends:
            reduced = end - price
            image = np.where(at != 0, at - price_told, _EPSILON)
            own += np.where(end != 0, reduced * np.log(reduced), 0)
            divergences += np.where(end != 0, reduced * np.log(image), 0)
        total = self.mass[-1]
        losses = (own - divergences) / total + np.log(approximation / total)
        losses[(price >= 1) | (price_told >= 1) | (sizes == empty)] = np.inf
        losses[price > 0.1 * self.least] = np.nan  # where `_own` is too inaccurate
        return losses

    def _own(self, first, end, price):
        """Return the sums of (c - price) log(c - price) over nonempty bins: a series in `price`."""
        of_mass, logs, filled, *inverses = (
            values[end] - values[first]
            for values in (self.of_mass, self.logs, self.filled, *self.inverses)
        )
        powers = (
            of_mass,
            -(logs + filled),
            *(i / f for i, f in zip(inverses, (2, 6, 12), strict=True)),
        )
        return sum(power * price**n for n, power in enumerate(powers))


def _before(values):
    """Return the exclusive cumulative sums of the values, and the total."""
    return np.concatenate([[0.0], np.cumsum(values, dtype=np.float64)])
