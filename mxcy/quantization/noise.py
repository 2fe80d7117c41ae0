"""The rounding noise that channel factors leave in the results of the layers that read an array.

Rounding adds errors that are uniform within a step, of variance step² / 12. A larger factor of a
channel reduces the share of the array's errors, but its weights are divided by it and use fewer of
the steps of their filter, whose errors are multiplied by larger data.
"""

import numpy as np

__all__ = ["expected_noise"]

#: steps in the range of an array of signed and of unsigned data, and of a filter
_SIGNED, _UNSIGNED, _FILTER = 127.5, 255.5, 127


def expected_noise(readers, factors, top, squares, unsigned):
    """Return the variance of rounding errors relative to that of the results, summed over filters.

    Parameters
    ----------
    readers : list of Layer
        The layers that read the array.
    factors : numpy.ndarray
        A factor for each channel.
    top : float
        The largest magnitude in the array, after scaling.
    squares : numpy.ndarray
        Mean square of each channel, before scaling.
    unsigned : bool
        Whether the array has no negative values.

    Returns
    -------
    float
    """
    step = top / (_UNSIGNED if unsigned else _SIGNED)
    total = 0.0
    for layer in readers:
        rows = layer.rows().astype(np.float64)
        scaled = rows / layer.spread(factors)
        power = layer.spread(squares)
        powers = (rows**2 * power).sum(axis=-1)  # of the results, if channels are independent
        filter_steps = np.abs(scaled).max(axis=-1) / _FILTER
        of_data = step**2 * (scaled**2).sum(axis=-1)
        of_weights = filter_steps**2 * (power * layer.spread(factors) ** 2).sum(axis=-1)
        known = powers > 0
        total += ((of_data + of_weights)[known] / powers[known]).sum() / 12
    return total
