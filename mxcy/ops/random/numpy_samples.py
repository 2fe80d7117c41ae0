"""Random operators of `mx.np`, whose parameters are scalars or broadcast arrays.

The kernels draw from the device's serial engine and reproduce MXNet 2's random numbers. A second
output for gradients holds each sample's derivative with respect to the last parameter. The
references draw from their own generators.
"""

from functools import reduce

import numpy as np

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, DoubleOrNone, DType, Field, Long, Shape, ShapeOrNone, Str
from mxcy.ops.core.in_symbols import InSymbols
from mxcy.ops.core.infer import Spec, broadcast_shapes, most, require
from mxcy.ops.core.params import NUMPY_CHOICE, NUMPY_RANDOM
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.core.result_types import default_float
from mxcy.ops.elementwise.broadcast import sum_to
from mxcy.ops.random.distributions import generator

__all__ = ["numpy_distribution"]

_FLOATS = DType(None, "float16", "float32", "float64")
_TRUTHS = DType(None, "bool", "float16", "float32", "float64", "int32", "int64", "uint8", "int8")


def _code(a):
    return default_float(a.numpy_types) if a.dtype is None else dtypes.code_of(a.dtype)


def _shape(a, shapes):
    """Return the result's shape: `size`, to which parameters must broadcast, or theirs.

    A leading -2 in `size` stands for the parameters' shape, placed after the other extents.
    """
    try:
        common = reduce(broadcast_shapes, shapes, ())
        size = a.size
        if size and size[0] == -2:
            size = (*size[1:], *common)
        if size is None or (size == () and shapes):
            return common
        require(min(size, default=0) >= 0, f"size must have no negative sizes, got {size}")
        fits = broadcast_shapes(size, common) == size
    except MXNetError:
        fits = False
    require(fits, f"parameters of shapes {shapes} do not broadcast to size {a.size}")
    return tuple(size)


#: distributions whose operator has an attribute `dtype` in MXNet
_TYPED = ("bernoulli", "gamma", "laplace", "normal", "uniform")


def numpy_distribution(name, names, draw, doc, tries, slope_of_first=None, attrs=(), kinds=_FLOATS):
    """Register an operator ``_npi_<name>``.

    Parameters
    ----------
    name : str
    names : str
        Parameter attributes; those that are None are inputs, in this order.
    draw : callable
        ``draw(generator, *parameters, size)``: the reference.
    doc : str
        Description of the distribution.
    tries : tuple of number
        Test parameters.
    slope_of_first : callable, optional
        ``slope_of_first(F, slope, first, second)``: the derivative with respect to the first of two
        parameters, an array; the second may be a scalar.
    attrs : tuple of Field
        Further attributes.
    kinds : DType
        Dtypes of samples.
    """
    distribution = _Distribution(name, names.split(), draw, slope_of_first, kinds)
    names = distribution.names
    samples = (
        sample(size=(3, 4), grad=False, **dict(zip(names, tries, strict=True))),
        sample(
            *(values(t, t + 0.1, (3,)) for t in tries),
            grad=False,
            size=(2, 3),
            **dict.fromkeys(names),
        ),
    )
    register(
        f"_npi_{name}",
        inputs="input1? input2?" if len(names) == 2 else "input1?",
        fields=(
            *(Field(parameter, DoubleOrNone, None) for parameter in names),
            *attrs,
            Field("size", ShapeOrNone, None),
            Field("ctx", Str, "cpu"),
            Field("dtype", kinds, None),
        ),
        arguments=lambda a: ("input1", "input2")[: len(distribution.arrays(a))],
        outputs=lambda a: ("output", "slope") if distribution.arrays(a) else ("output",),
        visible=1,
        uses_rng=True,
        uses_types=True,
        in_symbols=InSymbols(tells=True, typed=name in _TYPED),
        infer=distribution.infer,
        grad=distribution.grad,
        ref=distribution.ref,
        kernels=(
            native(
                distribution.kernel,
                NUMPY_RANDOM,
                distribution.params,
                work=lambda a, ins, outs: 0,
                mixed=True,
                select=lambda ins, outs: outs[0].dtype,
            ),
        ),
        samples=samples,
        doc=f"Draw samples from {doc}",
    )


class _Distribution:
    """Rules of one operator; parameters as in `numpy_distribution`, `names` as a list."""

    def __init__(self, name, names, draw, slope_of_first, kinds):
        self.name, self.names, self.draw = name, names, draw
        self.slope_of_first, self.kinds = slope_of_first, kinds

    def arrays(self, a):
        """Return the indices of the parameters that are inputs."""
        return [i for i, parameter in enumerate(self.names) if getattr(a, parameter) is None]

    def infer(self, a, *specs):
        shapes = [spec.shape for spec in specs]
        shape = None if None in shapes else _shape(a, shapes)
        result = Spec(shape, _code(a))
        return (result, Spec(shape, _code(a))) if specs else result

    def parameters(self, a, tensors):
        """Return scalars and arrays in the order of the names."""
        tensors = iter(tensors)
        return [next(tensors) if getattr(a, n) is None else getattr(a, n) for n in self.names]

    def ref(self, a, xp, *tensors):
        shape = _shape(a, [x.shape for x in tensors])
        kind = dtypes.dtype_of(_code(a))
        drawn = self.draw(a, generator(xp), *self.parameters(a, tensors), shape)
        samples = xp.asarray(drawn).astype(kind)
        return (samples, xp.zeros(shape, kind)) if tensors else samples

    def grad(self, a, F, g, inputs, outs, specs):
        g = g[0] if isinstance(g, (list, tuple)) else g
        if not specs or self.kinds is _TRUTHS:
            return [None] * len(specs)
        slope, gradients = outs[1], []
        for i, spec in zip(self.arrays(a), specs, strict=True):
            last = i == len(self.names) - 1
            if not last and self.slope_of_first is None:
                gradients.append(None)
                continue
            part = slope if last else self._slope_of_first(a, F, slope, inputs)
            full = F.broadcast_mul(g, part)
            if spec.dtype != _code(a):
                full = F.Cast(full, dtype=dtypes.name_of(spec.dtype))
            gradients.append(sum_to(F, full, spec, Spec(_shape(a, [s.shape for s in specs]))))
        return gradients

    def _slope_of_first(self, a, F, slope, inputs):
        tensors = [F.Cast(x, dtype=dtypes.name_of(_code(a))) for x in inputs]
        return self.slope_of_first(F, slope, *self.parameters(a, tensors))

    def params(self, a, ins, outs):
        numbers = [getattr(a, parameter) or 0.0 for parameter in self.names]
        first = numbers[0] if len(self.names) == 2 else 0.0
        bits = [i + 2 - len(self.names) for i in self.arrays(a)]
        return {"first": first, "second": numbers[-1], "arrays": sum(1 << bit for bit in bits)}

    def kernel(self, a, ins, outs):
        """Return the kernel's name."""
        return "np_bernoulli_logit" if getattr(a, "is_logit", False) else f"np_{self.name}"


numpy_distribution(
    "uniform",
    "low high",
    lambda a, g, low, high, size: low + (high - low) * g.random(size),
    "the uniform distribution on [low, high).",
    (0.0, 2.0),
    lambda F, slope, low, high: 1 - slope,
)
for _name, _draw, _text in (
    ("normal", lambda g, size: g.standard_normal(size), "normal"),
    ("laplace", lambda g, size: g.laplace(size=size), "Laplace"),
    ("gumbel", lambda g, size: g.gumbel(size=size), "Gumbel"),
    ("logistic", lambda g, size: g.logistic(size=size), "logistic"),
):
    numpy_distribution(
        _name,
        "loc scale",
        lambda a, g, loc, scale, size, _draw=_draw: loc + scale * _draw(g, size),
        f"the {_text} distribution with location and scale.",
        (0.5, 2.0),
        lambda F, slope, loc, scale: F.ones_like(slope),
    )
for _name, _parameter, _draw, _text in (
    ("exponential", "scale", lambda g, p, size: p * g.exponential(size=size), "exponential"),
    ("rayleigh", "scale", lambda g, p, size: p * g.rayleigh(size=size), "Rayleigh"),
    ("weibull", "a", lambda g, p, size: g.weibull(p, size), "Weibull"),
    ("pareto", "a", lambda g, p, size: g.pareto(p, size), "Pareto II (Lomax)"),
    ("powerd", "a", lambda g, p, size: g.power(p, size), "power"),
):
    numpy_distribution(
        _name,
        _parameter,
        lambda a, g, p, size, _draw=_draw: _draw(g, p, size),
        f"the {_text} distribution.",
        (2.0,),
    )


def _gamma_slope(F, standard, shape, scale):
    """Return the derivative with respect to the shape; for the scale it is the standard sample."""
    slope = F._gamma_slope(F.broadcast_add(shape, F.zeros_like(standard)), standard)
    return slope * scale if isinstance(scale, (int, float)) else F.broadcast_mul(slope, scale)


numpy_distribution(
    "gamma",
    "shape scale",
    lambda a, g, shape, scale, size: g.gamma(shape, scale, size),
    "the gamma distribution.",
    (2.0, 1.5),
    _gamma_slope,
)


def _bernoulli(a, g, chance, size):
    if a.is_logit:
        chance = 1 / (1 + np.exp(-chance))
    return g.random(size) < chance


numpy_distribution(
    "bernoulli",
    "prob",
    _bernoulli,
    "the Bernoulli distribution, given a probability or its logit.",
    (0.4,),
    attrs=(Field("is_logit", Bool, False),),
    kinds=_TRUTHS,
)


@op("_npi_multinomial", inputs="pvals", uses_rng=True)
class NumpyMultinomial:
    """Draw from the multinomial distribution: counts of each class in n draws."""

    n: Long
    size: ShapeOrNone = None
    listed: Bool = False  # given as a list: MXNet has a separate attribute

    def infer(a, pvals):
        require(a.n >= 0, f"n must not be negative, got {a.n}")
        most(a.n, 10**8, "n")  # each has draws
        shape = pvals.shape
        if shape is not None:
            require(len(shape) == 1, f"pvals: expected one axis, got shape {shape}")
        return Spec(None if shape is None else (*(a.size or ()), *shape), dtypes.CODES["int64"])

    def grad(a, F, g):
        return None

    def ref(a, xp, pvals):
        probabilities = pvals.astype("float64")
        if not probabilities.size:
            return xp.zeros((*(a.size or ()), 0), "int64")
        return xp.asarray(
            generator(xp).multinomial(a.n, probabilities / probabilities.sum(), a.size or None)
        )

    kernels = (
        native(
            "np_multinomial",
            NUMPY_CHOICE,
            lambda a, ins, outs: {"n": a.n, "replace": 1, "spare": 2 * ins[0].shape[0] * a.listed},
            work=lambda a, ins, outs: 0,
            mixed=True,
        ),
    )
    samples = (
        sample(values(0.2, 0.25, (4,)), grad=False, n=10, size=(3,)),
        sample((0,), grad=False, n=10, size=(2, 3)),
    )


@op("_npi_choice", inputs="p?", uses_rng=True)
class NumpyChoice:
    """Draw integers below `a`, with probabilities `p` if `weighted`."""

    a: Long
    size: Shape = ()
    replace: Bool = True
    weighted: Bool = False
    ctx: Str = "cpu"

    def arguments(a):
        return ("p",) if a.weighted else ()

    def infer(a, p=None):
        shape = a.size or ()
        count = 1
        for extent in shape:
            require(extent >= 0, f"size must have no negative sizes, got {shape}")
            count *= extent
        require(a.a > 0 or count == 0, f"a must be greater than 0, got {a.a}")
        require(a.replace or count <= a.a, f"cannot take {count} of {a.a} without replacement")
        if p is not None and p.shape is not None:
            require(p.shape == (a.a,), f"p: expected shape ({a.a},), got {p.shape}")
        return Spec(shape, dtypes.CODES["int64"])

    def grad(a, F, g):
        return None

    def ref(a, xp, p=None):
        p = None if p is None else p.astype("float64") / p.astype("float64").sum()
        return xp.asarray(generator(xp).choice(a.a, a.size or (), a.replace, p), "int64")

    kernels = (
        native(
            "np_choice",
            NUMPY_CHOICE,
            lambda a, ins, outs: {"n": a.a, "replace": a.replace, "spare": 0},
            work=lambda a, ins, outs: 0,
            mixed=True,
        ),
    )
    samples = (
        sample(a=5, size=(3, 2), grad=False),
        sample(a=5, size=(3,), replace=False, grad=False),
        sample(values(0.2, 0.21, (5,)), a=5, size=(3,), weighted=True, grad=False),
    )
