"""Scalar distributions that SciPy has too: their SciPy counterparts, and test values."""

import dataclasses
from collections.abc import Callable

import numpy as np

LOC = np.array([[-1.0, 0.5, 2.0], [0.0, 3.0, -0.25]])
SCALE = np.array([[0.5, 1.0, 2.0], [1.5, 0.75, 3.0]])
SHAPE = np.array([[0.7, 1.0, 2.5], [4.5, 6.0, 1.25]])
PROB = np.array([[0.1, 0.5, 0.75], [0.02, 0.9, 0.3]])
REAL = np.array([[-2.0, 0.5, 1.25], [0.1, 7.0, -0.25]])
POSITIVE = np.array([[0.2, 1.0, 3.0], [0.5, 2.0, 7.0]])
COUNTS = np.array([[0.0, 1.0, 3.0], [2.0, 5.0, 4.0]])


@dataclasses.dataclass
class Case:
    """A distribution, its parameters as NumPy arrays, and its SciPy counterpart."""

    name: str
    parameters: dict
    scipy: Callable
    values: np.ndarray
    outside: tuple = ()  # values whose density is zero
    discrete: bool = False
    lacks: tuple = ()  # methods it does not define
    density: Callable | None = None  # SciPy's function of the densities, where it is another

    def make(self, mx, dtype="float32", **options):
        """The distribution, with arrays of a type."""
        arrays = {k: mx.np.array(v, dtype=dtype) for k, v in self.parameters.items()}
        return getattr(mx.gluon.probability, self.name)(**arrays, **options)

    def reference(self):
        """SciPy's."""
        return self.scipy(**self.parameters)

    def densities(self):
        """SciPy's for `log_prob` and `pdf`."""
        return (self.density or self.scipy)(**self.parameters)

    def __str__(self):
        return f"{self.name}-{'-'.join(self.parameters)}"


NO_CDF = ("cdf", "icdf")


def distributions(ss):
    """The cases, with the functions of `scipy.stats`."""
    yield from _of_place(ss)
    yield from _of_shape(ss)
    yield from _of_counts(ss)


def _of_place(ss):
    """Location-scale distributions."""
    yield Case("Normal", {"loc": LOC, "scale": SCALE}, ss.norm, REAL)
    yield Case("Laplace", {"loc": LOC, "scale": SCALE}, ss.laplace, REAL)
    yield Case("Cauchy", {"loc": LOC, "scale": SCALE}, ss.cauchy, REAL)
    yield Case("Gumbel", {"loc": LOC, "scale": SCALE}, ss.gumbel_r, REAL)
    yield Case(
        "Uniform",
        {"low": LOC, "high": LOC + SCALE},
        lambda low, high: ss.uniform(low, high - low),
        LOC + 0.3 * SCALE,
        (-9, 99),
    )
    yield Case("Exponential", {"scale": SCALE}, lambda scale: ss.expon(0, scale), POSITIVE, (-1,))
    yield Case("HalfNormal", {"scale": SCALE}, lambda scale: ss.halfnorm(0, scale), POSITIVE, (-1,))
    yield Case(
        "HalfCauchy", {"scale": SCALE}, lambda scale: ss.halfcauchy(0, scale), POSITIVE, (-1,)
    )


def _of_shape(ss):
    """Distributions with a shape parameter."""
    yield Case(
        "Weibull",
        {"concentration": SHAPE, "scale": SCALE},
        lambda concentration, scale: ss.weibull_min(concentration, 0, scale),
        POSITIVE,
        (-1,),
    )
    yield Case(
        "Pareto",
        {"alpha": SHAPE, "scale": SCALE},
        lambda alpha, scale: ss.pareto(alpha, 0, scale),
        SCALE * (1 + POSITIVE),
        (-1, 0, 0.1),
    )
    yield Case(
        "Gamma",
        {"shape": SHAPE, "scale": SCALE},
        lambda shape, scale: ss.gamma(shape, 0, scale),
        POSITIVE,
        (-1,),
        lacks=NO_CDF,
    )
    yield Case("Chi2", {"df": SHAPE}, ss.chi2, POSITIVE, (-1,), lacks=NO_CDF)
    yield Case(
        "Beta",
        {"alpha": SHAPE, "beta": SCALE},
        lambda alpha, beta: ss.beta(alpha, beta),
        PROB,
        (-1, 2),
        lacks=NO_CDF,
    )
    yield Case("StudentT", {"df": SHAPE, "loc": LOC, "scale": SCALE}, ss.t, REAL, lacks=NO_CDF)
    yield Case(
        "FisherSnedecor",
        {"df1": SCALE, "df2": SHAPE},
        lambda df1, df2: ss.f(df1, df2),
        POSITIVE,
        (-1,),
        lacks=NO_CDF,
    )


def _of_counts(ss):
    """Discrete distributions."""
    logit = np.log(PROB / (1 - PROB))
    trials = np.array([[5.0, 5.0, 3.0], [2.0, 9.0, 10.0]])
    for odds in ({"prob": PROB}, {"logit": logit}):
        yield Case(
            "Bernoulli",
            odds,
            lambda prob=None, logit=None: ss.bernoulli(PROB),
            COUNTS % 2,
            discrete=True,
            lacks=NO_CDF,
        )
        yield Case(
            "Geometric",
            odds,
            lambda prob=None, logit=None: ss.geom(PROB, -1),
            COUNTS,
            (-1,),
            discrete=True,
            lacks=("icdf",),
        )
        yield Case(
            "Binomial",
            {"n": trials, **odds},
            lambda n, prob=None, logit=None: ss.binom(n, PROB),
            np.minimum(COUNTS, trials),
            (-1, 11),
            discrete=True,
            lacks=("entropy", *NO_CDF),
        )
        yield Case(
            "NegativeBinomial",
            {"n": trials, **odds},
            lambda n, prob=None, logit=None: ss.nbinom(n, 1 - PROB),
            COUNTS,
            (-1,),
            discrete=True,
            lacks=("entropy", *NO_CDF),
            density=lambda n, prob=None, logit=None: ss.nbinom(n, PROB),
        )
    yield Case(
        "Poisson",
        {"rate": SHAPE},
        lambda rate: ss.poisson(rate),
        COUNTS,
        (-1,),
        discrete=True,
        lacks=("entropy", *NO_CDF),
    )


def cases():
    """All cases, if SciPy is installed."""
    try:
        import scipy.stats
    except ImportError:
        return []
    return list(distributions(scipy.stats))
