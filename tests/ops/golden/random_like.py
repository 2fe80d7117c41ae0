"""Calls of samplers that take the shape and type of an array, after seeding."""

from .case import normal
from .image_random import Seeded

PARAMETERS = {
    "uniform": {"low": -2.7, "high": 9.1},
    "normal": {"loc": 0.3, "scale": 2.7},
    "exponential": {"lam": 0.37},
    "gamma": {"alpha": 0.3, "beta": 2.5},
    "poisson": {"lam": 33.3},
    "negative_binomial": {"k": 3, "p": 0.4},
    "generalized_negative_binomial": {"mu": 2.0, "alpha": 0.3},
}


def like():
    for name, given in PARAMETERS.items():
        yield name, Seeded(f"random.{name}_like", normal(70, 2), **given)
        yield f"{name}-half", Seeded(f"random.{name}_like", normal(5, dtype="float16"), **given)


FAMILY = (like,)
