"""Statistical tests of random generators: functions that return `n` samples."""

import math

import numpy as np

__all__ = [
    "chi_square_check",
    "gen_buckets_probs_with_ppf",
    "mean_check",
    "var_check",
    "verify_generator",
]


def gen_buckets_probs_with_ppf(ppf, nbuckets):
    """Return intervals of equal probability.

    Parameters
    ----------
    ppf : callable
        Inverse of the cumulative distribution function.
    nbuckets : int
        Number of intervals.

    Returns
    -------
    list of (float, float)
        Intervals.
    list of float
        Their probabilities.
    """
    assert nbuckets > 0, "there must be an interval"
    edges = [ppf(i / nbuckets) for i in range(nbuckets + 1)]
    return list(zip(edges[:-1], edges[1:], strict=True)), [1 / nbuckets] * nbuckets


def _numbers(generator, nsamples):
    numbers = generator(nsamples)
    return np.asarray(numbers.asnumpy() if hasattr(numbers, "asnumpy") else numbers)


def mean_check(generator, mu, sigma, nsamples=1000000):
    """Return whether the mean of samples is within three standard errors of `mu`."""
    mean = _numbers(generator, nsamples).astype(np.float64).mean()
    return bool(abs(mean - mu) < 3 * sigma / np.sqrt(nsamples))


def var_check(generator, sigma, nsamples=1000000):
    """Return whether the variance of normal samples is within 3 standard errors of `sigma` ** 2."""
    variance = _numbers(generator, nsamples).astype(np.float64).var(ddof=1)
    return bool(abs(variance - sigma**2) < 3 * np.sqrt(2 * sigma**4 / (nsamples - 1)))


def _tail_of_chi_square(value, degrees):
    """Return the probability that a chi-square variable exceeds `value`."""
    half = value / 2
    # The upper incomplete gamma function, from Q(1/2) or Q(1) on by Q(a+1) = Q(a) + x^a e^-x / a!
    order = 0.5 if degrees % 2 else 1.0
    tail = math.erfc(math.sqrt(half)) if degrees % 2 else math.exp(-half)
    while order < degrees / 2 and half > 0:
        tail += math.exp(order * math.log(half) - half - math.lgamma(order + 1))
        order += 1
    return min(tail, 1.0)


def chi_square_check(generator, buckets, probs, nsamples=1000000):
    """Apply Pearson's chi-square test to a generator.

    Parameters
    ----------
    generator : callable
        ``generator(n)`` returns `n` samples.
    buckets : list of (float, float), or list of number
        Intervals for continuous distributions, values for discrete ones.
    probs : list of float
        Their probabilities.
    nsamples : int
        Number of samples to draw.

    Returns
    -------
    float
        p-value: the probability of a deviation at least as large.
    numpy.ndarray of int
        Observed counts.
    numpy.ndarray of float
        Expected counts.
    """
    assert isinstance(buckets, list), f"buckets must be a list, not {type(buckets).__name__}"
    assert len(buckets) == len(probs), f"{len(buckets)} buckets, but {len(probs)} probabilities"
    samples = _numbers(generator, nsamples).ravel()
    if isinstance(buckets[0], list | tuple):
        counts = [np.count_nonzero((samples >= low) & (samples < high)) for low, high in buckets]
    else:
        counts = [np.count_nonzero(samples == value) for value in buckets]
    counts, expected = np.array(counts), np.asarray(probs, np.float64) * samples.size
    deviation = float(((counts - expected) ** 2 / expected).sum())
    return _tail_of_chi_square(deviation, len(counts) - 1), counts, expected


def verify_generator(
    generator, buckets, probs, nsamples=1000000, nrepeat=5, success_rate=0.2, alpha=0.05
):
    """Assert that a generator passes `chi_square_check` often enough.

    Parameters
    ----------
    generator, buckets, probs, nsamples
        See `chi_square_check`.
    nrepeat : int
        Number of tests.
    success_rate : float
        Required fraction of passing tests.
    alpha : float
        Smallest p-value that passes.

    Returns
    -------
    list of float
        The p-values.

    Raises
    ------
    AssertionError
        If too few pass.
    """
    results = [chi_square_check(generator, buckets, probs, nsamples) for _ in range(nrepeat)]
    passed = sum(result[0] > alpha for result in results)
    if passed < nrepeat * success_rate:
        raise AssertionError(
            f"Generator test fails, Chi-square p={[result[0] for result in results]}.\n"
            f"buckets={buckets}\nprobs={probs}\nfound={[result[1].tolist() for result in results]}"
        )
    return [result[0] for result in results]
