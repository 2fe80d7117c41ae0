"""Probability densities and log-densities of distributions.

`sample` has the shape of the parameters, followed by the shape of the samples for each of them.
"""

import math

from mxcy.ops.core.attrs import Bool, Field
from mxcy.ops.core.infer import Spec, require, same_dtype
from mxcy.ops.core.params import DENSITY
from mxcy.ops.core.record import native, register, sample, values
from mxcy.ops.elementwise.unary import by_element

__all__ = ["density"]

_DTYPES = ("float32", "float64")
_lgamma = by_element(math.lgamma)  # of positive values


def _check(drawn, parameter, name):
    """Require that the sample's shape begins with the parameters'."""
    head = drawn[: len(parameter)]
    require(
        len(head) == len(parameter)
        and all(-1 in (a, b) or a == b for a, b in zip(head, parameter, strict=True)),
        f"argument {name}: shape {parameter} is not the beginning of the sample's, {drawn}",
    )


def _infer(names):
    def infer(a, drawn, *parameters):
        same_dtype((drawn, *parameters), ("sample", *names))
        shape = next((p.shape for p in parameters if p.shape is not None), None)
        for spec, name in zip(parameters, names, strict=True):
            spec.fill(name, shape=shape)
            if drawn.shape is not None and spec.shape is not None:
                _check(drawn.shape, spec.shape, name)
        return Spec(drawn.shape, drawn.dtype)

    return infer


def density(name, parameters, log_density, partials, doc, tries, integers=False):
    """Register the density of a scalar distribution.

    Parameters
    ----------
    name : str
    parameters : str
        Names of the parameters.
    log_density : callable
        ``log_density(xp, x, *parameters)``: the log-density.
    partials : callable
        ``partials(F, x, *parameters)``: its derivatives. The first, with respect to the sample, is
        None if no gradient flows to it: samples are integers, or the density is constant.
    doc : str
    tries : tuple
        Test sample and parameters.
    integers : bool
        Whether samples are integers.
    """
    names = parameters.split()

    def grad(a, F, g, inputs, out, specs):
        drawn, *parameters = inputs
        extra = len(specs[0].shape) - len(specs[1].shape)
        shape = specs[1].shape + (1,) * extra
        aligned = [F.Reshape(p, shape=shape) for p in parameters] if extra else parameters
        weight = g if a.is_log else g * out
        first, *others = partials(F, drawn, *aligned)
        gradients = [F.zeros_like(drawn) if first is None else weight * first]
        axes = tuple(range(len(specs[1].shape), len(specs[0].shape)))
        return gradients + [
            F.sum(weight * part, axis=axes) if axes else weight * part for part in others
        ]

    def ref(a, xp, drawn, *arrays):
        extra = (1,) * (drawn.ndim - arrays[0].ndim)
        gradients = log_density(xp, drawn, *(p.reshape(p.shape + extra) for p in arrays))
        gradients = gradients if a.is_log else xp.exp(gradients)
        return xp.broadcast_to(gradients, drawn.shape).astype(drawn.dtype)

    def struct(a, ins, outs):
        shape, head = ins[0].shape, ins[1].ndim
        return {
            "distributions": math.prod(shape[:head]),
            "length": math.prod(shape[head:]),
            "is_log": a.is_log,
        }

    def work(a, ins, outs):
        return 16 * ins[0].size

    register(
        f"_random_pdf_{name}",
        amp="widest",
        aliases=(f"random_pdf_{name}",),
        inputs=f"sample {parameters}",
        fields=(Field("is_log", Bool, False),),
        infer=_infer(names),
        grad=grad,
        ref=ref,
        kernels=(native(f"pdf_{name}", DENSITY, struct, work=work),),
        dtypes=_DTYPES,
        doc=f"Compute the probability density of {doc}\n\nWith `is_log`, the log-density.",
        samples=_samples(tries, integers),
    )


def _samples(tries, integers):
    def arrays(shape, shape_of_parameters=None):
        spans = [values(*span, shape_of_parameters or shape) for span in tries[1:]]
        return (values(*tries[0], shape), *spans)

    far = (values(0.5, 30, (3, 41)), *(values(*span, (3,)) for span in tries[1:]))
    return (
        sample(*arrays((2, 3)), grad=not integers),
        sample(*arrays((2, 3, 4), (2, 3)), grad=not integers),
        sample(*arrays((5,)), is_log=True, grad=not integers),
        sample(*arrays((37,)), grad=False),
        sample(*far, is_log=True, grad=False),
    )


density(
    "uniform",
    "low high",
    lambda xp, x, low, high: -xp.log(high - low),
    lambda F, x, low, high: (None, 1 / (high - low), -1 / (high - low)),
    "the uniform distribution on [low, high], wherever the sample lies.",
    ((1, 2), (0, 1), (2, 3)),
)
density(
    "normal",
    "mu sigma",
    lambda xp, x, mean, deviation: (
        -0.5 * ((x - mean) / deviation) ** 2 - xp.log(deviation * (2 * xp.pi) ** 0.5)
    ),
    lambda F, x, mean, deviation: (
        (mean - x) / F.square(deviation),
        (x - mean) / F.square(deviation),
        (F.square((x - mean) / deviation) - 1) / deviation,
    ),
    "the normal distribution with mean mu and standard deviation sigma.",
    ((-1, 1), (-1, 1), (0.5, 2)),
)
density(
    "gamma",
    "alpha beta",
    lambda xp, x, shape, rate: (
        shape * xp.log(rate) + (shape - 1) * xp.log(x) - rate * x - _lgamma(xp, shape)
    ),
    lambda F, x, shape, rate: (
        (shape - 1) / x - rate,
        F.log(rate) + F.log(x) - F.digamma(shape),
        shape / rate - x,
    ),
    "the gamma distribution with shape alpha and rate beta (samplers take the scale).",
    ((0.5, 2), (0.5, 2), (0.5, 2)),
)
density(
    "exponential",
    "lam",
    lambda xp, x, rate: xp.log(rate) - rate * x,
    lambda F, x, rate: (-rate + F.zeros_like(x), 1 / rate - x),
    "the exponential distribution with rate lam.",
    ((0.5, 2), (0.5, 2)),
)
density(
    "poisson",
    "lam",
    lambda xp, x, rate: x * xp.log(rate) - _lgamma(xp, x + 1) - rate,
    lambda F, x, rate: (None, x / rate - 1),
    "the Poisson distribution with rate lam.",
    ((0.5, 4), (0.5, 2)),
    integers=True,
)


def _log_negative_binomial(xp, x, count, p):
    return (
        _lgamma(xp, x + count)
        - _lgamma(xp, x + 1)
        - _lgamma(xp, count)
        + count * xp.log(p)
        + x * xp.log(1 - p)
    )


def _negative_binomial_partials(F, x, count, p):
    return (None, F.digamma(x + count) - F.digamma(count) + F.log(p), count / p - x / (1 - p))


density(
    "negative_binomial",
    "k p",
    _log_negative_binomial,
    _negative_binomial_partials,
    "the negative binomial distribution: failures with probability p before the k-th success.",
    ((0.5, 4), (1, 4), (0.2, 0.8)),
    integers=True,
)


def _generalized_partials(F, x, mean, dispersion):
    """Return the partials, by the chain rule from k = 1 / alpha and p = 1 / (1 + mu alpha)."""
    count, p = 1 / dispersion, 1 / (mean * dispersion + 1)
    _, by_count, by_p = _negative_binomial_partials(F, x, count, p)
    square = F.square(p)
    return (None, -by_p * square * dispersion, -by_count * F.square(count) - by_p * square * mean)


density(
    "generalized_negative_binomial",
    "mu alpha",
    lambda xp, x, mean, dispersion: _log_negative_binomial(
        xp, x, 1 / dispersion, 1 / (mean * dispersion + 1)
    ),
    _generalized_partials,
    "the generalized negative binomial distribution with mean mu and dispersion alpha.",
    ((0.5, 4), (0.5, 2), (0.5, 2)),
    integers=True,
)


# --- Dirichlet: one density per row ----------------------------------------------------------


def _infer_dirichlet(a, drawn, alpha):
    same_dtype((drawn, alpha), ("sample", "alpha"))
    if drawn.shape is None:
        return Spec(None, drawn.dtype)
    require(drawn.ndim >= 1, f"argument sample: needs a last axis, got {drawn}")
    if alpha.shape is not None:
        _check(drawn.shape[:-1], alpha.shape[:-1], "alpha")
        require(
            alpha.ndim >= 1
            and -1 in (alpha.shape[-1], drawn.shape[-1])
            or alpha.shape[-1:] == drawn.shape[-1:],
            f"argument alpha: {alpha} and the sample, {drawn}, differ in their last axis",
        )
    return Spec(drawn.shape[:-1], drawn.dtype)


def _grad_dirichlet(a, F, g, inputs, out, specs):
    drawn, alpha = inputs
    shape, rows = specs[0].shape, specs[1].shape
    extra = len(shape) - len(rows)
    aligned = F.Reshape(alpha, shape=(*rows[:-1], *(1,) * extra, rows[-1])) if extra else alpha
    weight = F.expand_dims(g if a.is_log else g * out, axis=-1)
    total = F.sum(aligned, axis=-1, keepdims=True)
    by_alpha = weight * (F.log(drawn) + (F.digamma(total) - F.digamma(aligned)))
    axes = tuple(range(len(rows) - 1, len(shape) - 1))
    return weight * ((aligned - 1) / drawn), F.sum(by_alpha, axis=axes) if axes else by_alpha


def _ref_dirichlet(a, xp, drawn, alpha):
    extra = (1,) * (drawn.ndim - alpha.ndim)
    alpha = alpha.reshape(alpha.shape[:-1] + extra + alpha.shape[-1:])
    log_density = ((alpha - 1) * xp.log(drawn)).sum(-1)
    log_density = log_density + _lgamma(xp, alpha.sum(-1)) - _lgamma(xp, alpha).sum(-1)
    return (log_density if a.is_log else xp.exp(log_density)).astype(drawn.dtype)


def _struct_dirichlet(a, ins, outs):
    shape, head = ins[0].shape, ins[1].ndim - 1
    return {
        "distributions": math.prod(shape[:head]),
        "length": math.prod(shape[head:-1]),
        "is_log": a.is_log,
    }


register(
    "_random_pdf_dirichlet",
    aliases=("random_pdf_dirichlet",),
    inputs="sample alpha",
    fields=(Field("is_log", Bool, False),),
    infer=_infer_dirichlet,
    grad=_grad_dirichlet,
    ref=_ref_dirichlet,
    kernels=(
        native(
            "pdf_dirichlet", DENSITY, _struct_dirichlet, work=lambda a, ins, outs: 16 * ins[0].size
        ),
    ),
    dtypes=_DTYPES,
    doc="Compute the Dirichlet density with concentrations alpha of each row along the last axis."
    "\n\nWith `is_log`, the log-density.",
    samples=(
        sample(values(0.1, 0.9, (2, 3)), values(0.5, 2, (2, 3))),
        sample(values(0.1, 0.9, (2, 4, 3)), values(0.5, 2, (2, 3))),
        sample(values(0.1, 0.9, (4, 3)), values(0.5, 2, (3,)), is_log=True),
        sample(values(0.1, 0.9, (3, 2, 19)), values(0.5, 12, (3, 19)), is_log=True, grad=False),
    ),
    amp="widest",
)
