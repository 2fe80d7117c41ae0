"""Derivatives of digamma of every order."""

import math

import numpy as np
import pytest

import mxcy as mx

LARGEST = 2**31 - 1


def polygamma(n, *points):
    return mx.nd._internal._polygamma(mx.nd.array(points, dtype="float64"), n=n).asnumpy()


def by_terms(n, x):
    """The definition; 2,000 terms are enough for orders above 50."""
    terms = math.fsum((x + k) ** -(n + 1) for k in range(2000))
    return (-1) ** (n + 1) * math.factorial(n) * terms


@pytest.mark.parametrize("n", [60, 99, 100, 101, 102, 150])
def test_high_orders(n):
    points = (0.3, 0.65, 1, 2.5, 7, 30, 80)
    np.testing.assert_allclose(polygamma(n, *points), [by_terms(n, x) for x in points], rtol=1e-12)


@pytest.mark.parametrize("n", [101, 150])
def test_large_arguments(n):
    """(n - 1)! / x**n is the first term of the expansion, the second is n / (2 x) of it."""
    x = 1e4
    first = (-1) ** (n + 1) * math.exp(math.lgamma(n) - n * math.log(x))
    np.testing.assert_allclose(polygamma(n, x), first * (1 + n / (2 * x)), rtol=1e-4)


def test_orders_without_end_end():
    values = polygamma(LARGEST, 0.655, 2, 3.2, -0.3, -0.5, -1.7, 0, 1e10)
    assert values.tolist() == [np.inf] * 7 + [0]
    even = polygamma(LARGEST - 1, 2, -0.3, -0.7, -0.5)
    assert even.tolist() == [-np.inf, np.inf, -np.inf, -np.inf]


@pytest.mark.parametrize("n", [1, 2, 5, 20])
def test_between_the_poles(n):
    """Each step to the right removes a pole."""
    x = np.array([-0.3, -0.5, -1.75, -3.2])
    step = (-1) ** n * math.factorial(n) * x ** -(n + 1.0)
    np.testing.assert_allclose(polygamma(n, *(x + 1)), polygamma(n, *x) + step, rtol=1e-6)
