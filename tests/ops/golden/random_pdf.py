"""Calls of the densities of distributions."""

import numpy as np

from .case import Case, array, draw

_KINDS = {
    "uniform": (draw(2, 3), draw(2, 3, low=1, high=2, seed=1)),
    "normal": (draw(2, 3), draw(2, 3, low=0.5, high=2, seed=1)),
    "gamma": (draw(2, 3, low=0.5, high=3), draw(2, 3, low=0.5, high=2, seed=1)),
    "exponential": (draw(2, 3, low=0.5, high=2),),
    "poisson": (draw(2, 3, low=0.5, high=2),),
    "negative_binomial": (array(1, 2, 3, 4, 5, 6).reshape(2, 3), draw(2, 3, low=0.2, high=0.8)),
    "generalized_negative_binomial": (
        draw(2, 3, low=0.5, high=2),
        draw(2, 3, low=0.5, high=2, seed=1),
    ),
}
_WHOLE = ("poisson", "negative_binomial", "generalized_negative_binomial")


def one_number():
    for name, parameters in _KINDS.items():
        wrt = tuple(range(1 + len(parameters)))
        for shape in ((2, 3), (2, 3, 4)):
            drawn = draw(*shape, low=0.2, high=4, seed=2)
            drawn = np.floor(drawn) if name in _WHOLE else drawn
            for is_log in (False, True):
                case = Case(f"random_pdf_{name}", drawn, *parameters, wrt=wrt, is_log=is_log, tol=5)
                yield f"{name} {len(shape)} {is_log}", case


def dirichlet():
    alpha = draw(2, 3, low=0.5, high=3)
    for shape in ((2, 3), (2, 4, 3)):
        drawn = draw(*shape, low=0.1, high=1, seed=3)
        drawn /= drawn.sum(-1, keepdims=True)
        for is_log in (False, True):
            case = Case("random_pdf_dirichlet", drawn, alpha, wrt=(0, 1), is_log=is_log, tol=5)
            yield f"{len(shape)} {is_log}", case


FAMILY = (one_number, dirichlet)
