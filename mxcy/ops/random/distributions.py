"""Random operators: distributions with scalar or array parameters, multinomial, shuffle.

The kernels reproduce MXNet 1.9.1's random numbers for the same seed. The references draw from their
own NumPy generators: same distributions, different numbers.
"""

from typing import ClassVar

from mxcy._base import dtypes
from mxcy._base.errors import MXNetError
from mxcy.ops.core.attrs import Bool, DType, Dynamic, Field, Float, Int, Long, Shape, Str
from mxcy.ops.core.infer import Spec, back_data, require, same_dtype
from mxcy.ops.core.params import RANDINT, RANDOM
from mxcy.ops.core.record import native, op, register, sample, values
from mxcy.ops.core.stypes import on_stored

__all__ = ["distribution", "generator", "seed"]

_FLOATS = DType("None", "float16", "float32", "float64")


class _Draws:
    seed = 0
    generators: ClassVar[dict] = {}  # array module -> its generator, created on demand


def seed(value):
    """Seed the generators of the references."""
    _Draws.seed = value
    _Draws.generators.clear()


def generator(xp):
    """Return the references' generator for array module `xp`."""
    if xp not in _Draws.generators:
        _Draws.generators[xp] = xp.random.default_rng(_Draws.seed)
    return _Draws.generators[xp]


def _float_code(dtype, default="float32"):
    return dtypes.code_of(default if dtype == "None" else dtype)


def _infer_scalar(default):
    def infer(a):
        require(a.shape is not None, "shape must be given")
        require(min(a.shape, default=0) >= 0, f"shape must have no negative sizes, got {a.shape}")
        return Spec(a.shape, _float_code(a.dtype, default))

    return infer


def _infer_like(a, data):
    known = data.dtype is None or data.dtype in (0, 1, 2)
    require(known, f"argument data: expected a floating dtype, got {data}")
    return Spec(data.shape, data.dtype)


def _infer_rows(names):
    def infer(a, *parameters):
        shape = next((p.shape for p in parameters if p.shape is not None), None)
        for spec, name in zip(parameters, names, strict=True):
            spec.fill(name, shape=shape)
        same_dtype(parameters, names)
        rows = parameters[0].shape
        return Spec(None if rows is None else rows + (a.shape or ()), _float_code(a.dtype))

    return infer


def _zero_gradients(a, F, g, inputs):
    return [F.zeros_like(array) for array in inputs]


def distribution(name, scalars, rows, cost, draw, doc, tries, like=True):
    """Register the three operators of a distribution.

    ``_random_<name>`` has scalar parameters, ``_random_<name>_like`` takes shape and dtype from an
    array, ``_sample_<name>`` draws `shape` samples for each element of parameter arrays.

    Parameters
    ----------
    name : str
    scalars : tuple of Field
        Scalar parameters.
    rows : str
        Names of the parameter arrays.
    cost : int
        Cost of a sample in elementwise steps.
    draw : callable
        ``draw(generator, *parameters, size)``: the reference.
    doc : str
        Description of the distribution.
    tries : tuple of array-like
        Test parameters.
    like : bool
        Whether to register the ``_like`` operator.
    """
    fields = tuple(scalars)

    def work(a, ins, outs):
        return cost * outs[0].size

    def draw_like(a, xp, shape, dtype):
        numbers = [getattr(a, field.name) for field in fields]
        return draw(generator(xp), *numbers, shape).astype(dtypes.dtype_of(dtype))

    static = [field.name for field in fields if not field.type.dynamic]
    kernel = native(
        f"random_{name}",
        struct=RANDOM[name],
        params=lambda a, ins, outs: {field: getattr(a, field) for field in static},
        work=work,
    )
    _register_numbers(name, fields, draw_like, kernel, doc)
    if like:
        _register_like(name, fields, draw_like, kernel, doc)
    _register_rows(name, rows, draw, native(f"sample_{name}", work=work, mixed=True), doc, tries)


def _names_in_npx(name):
    """Return MXNet 2's names of the operators with scalar and with array parameters, if any."""
    return (f"_npx_scalar_{name}", f"_npx_tensor_{name}") if name == "poisson" else ()


def _register_numbers(name, fields, draw_like, kernel, doc):
    shaped = (Field("shape", Shape, None), Field("ctx", Str, ""), Field("dtype", _FLOATS, "None"))
    aliases = [f"random_{name}"] + ([name] if name in ("uniform", "normal") else [])
    defaults = {field.name: field.default for field in fields}
    register(
        f"_random_{name}",
        aliases=(*aliases, *_names_in_npx(name)[:1]),
        inputs="",
        fields=(*fields, *shaped),
        uses_rng=True,
        like_out=("shape", "dtype"),
        infer=_infer_scalar("float32"),
        ref=lambda a, xp: draw_like(a, xp, a.shape, _float_code(a.dtype)),
        kernels=(kernel,),
        samples=(
            sample(shape=(3, 4), **defaults),
            sample(shape=(200,), dtype="float16", **defaults),
        ),
        doc=f"Draw samples from {doc}",
    )


def _register_like(name, fields, draw_like, kernel, doc):
    defaults = {field.name: field.default for field in fields}
    register(
        f"_random_{name}_like",
        stypes=on_stored("row_sparse"),
        fields=fields,
        uses_rng=True,
        infer=_infer_like,
        infer_back=back_data,
        grad=_zero_gradients,
        ref=lambda a, xp, data: draw_like(a, xp, data.shape, dtypes.code_of(data.dtype)),
        kernels=(kernel,),
        samples=(sample((3, 4), grad=False, **defaults),),
        doc=f"Draw samples with the shape and dtype of an array from {doc}",
    )


def _register_rows(name, rows, draw, kernel, doc, tries):
    def ref(a, xp, *parameters):
        extra = a.shape or ()
        aligned = [p.reshape(p.shape + (1,) * len(extra)) for p in parameters]
        drawn = draw(generator(xp), *aligned, parameters[0].shape + extra)
        return drawn.astype(dtypes.dtype_of(_float_code(a.dtype)))

    register(
        f"_sample_{name}",
        aliases=(f"sample_{name}", *_names_in_npx(name)[1:]),
        inputs=rows,
        fields=(Field("shape", Shape, ()), Field("dtype", _FLOATS, "None")),
        uses_rng=True,
        like_out=("dtype",),
        infer=_infer_rows(rows.split()),
        grad=_zero_gradients,
        ref=ref,
        kernels=(kernel,),
        samples=(sample(*tries, grad=False), sample(*tries, grad=False, shape=(2, 5))),
        doc=f"Draw samples for each element of parameter arrays from {doc}",
    )


def _number(name, default, kind=Float):
    return Field(name, Dynamic(kind), default)


_ONES = values(1, 2, (3,))

distribution(
    "uniform",
    (_number("low", 0.0), _number("high", 1.0)),
    "low high",
    3,
    lambda g, low, high, size: g.uniform(low, high, size),
    "the uniform distribution on [low, high).",
    (values(-1, 1, (3,)), values(2, 3, (3,))),
)
distribution(
    "normal",
    (_number("loc", 0.0), _number("scale", 1.0)),
    "mu sigma",
    20,
    lambda g, mean, deviation, size: mean + deviation * g.standard_normal(size),
    "the normal distribution with a mean and a standard deviation.",
    (_ONES, _ONES),
)
distribution(
    "exponential",
    (_number("lam", 1.0),),
    "lam",
    20,
    lambda g, rate, size: g.standard_exponential(size) / rate,
    "the exponential distribution with rate lam (1 / mean).",
    (_ONES,),
)
distribution(
    "gamma",
    (_number("alpha", 1.0), _number("beta", 1.0)),
    "alpha beta",
    150,
    lambda g, shape, scale, size: g.gamma(shape, scale, size),
    "the gamma distribution with shape alpha and scale beta.",
    (_ONES, _ONES),
)
distribution(
    "poisson",
    (_number("lam", 1.0),),
    "lam",
    150,
    lambda g, rate, size: g.poisson(rate, size),
    "the Poisson distribution with rate lam.",
    (_ONES,),
)
distribution(
    "binomial",
    (Field("n", Int, 1), _number("p", 1.0)),
    "n p",
    150,
    lambda g, n, p, size: g.binomial(n if isinstance(n, int) else n.astype(int), p, size),
    "the binomial distribution: successes with probability p in n trials.",
    (_ONES, values(0.2, 0.9, (3,))),
    like=False,
)
distribution(
    "negative_binomial",
    (Field("k", Int, 1), _number("p", 1.0)),
    "k p",
    300,
    lambda g, k, p, size: g.poisson(g.gamma(k, (1 - p) / p, size)),
    "the negative binomial distribution: failures with probability p before the k-th success.",
    (_ONES, values(0.2, 0.9, (3,))),
)
distribution(
    "generalized_negative_binomial",
    (_number("mu", 1.0), _number("alpha", 1.0)),
    "mu alpha",
    300,
    lambda g, mean, alpha, size: g.poisson(g.gamma(1 / alpha, alpha * mean, size)),
    "the generalized negative binomial distribution with mean mu and dispersion alpha.",
    (_ONES, _ONES),
)


@op(
    "_random_randint",
    aliases=("_npi_random_randint", "random_randint"),
    inputs="",
    uses_rng=True,
    like_out=("shape", "dtype"),
)
class Randint:
    """Draw integers from the uniform distribution on [low, high)."""

    low: Long
    high: Long
    shape: Shape = None
    ctx: Str = ""
    dtype: DType("None", "int32", "int64") = "None"

    def infer(a):
        require(a.low < a.high, f"low must be less than high, got {a.low} and {a.high}")
        return _infer_scalar("int32")(a)

    def ref(a, xp):
        drawn = generator(xp).integers(a.low, a.high, a.shape)
        return drawn.astype(dtypes.dtype_of(_float_code(a.dtype, "int32")))

    kernels = (
        native(
            "random_randint",
            struct=RANDINT,
            params=lambda a, ins, outs: {"low": a.low, "high": a.high},
            work=lambda a, ins, outs: 10 * outs[0].size,
        ),
    )
    samples = (
        sample(low=-3, high=9, shape=(3, 4)),
        sample(low=0, high=2**40, shape=(5,), dtype="int64"),
    )


_MULTINOMIAL = ("sample_multinomial", "_sample_categorical", "sample_categorical")


@op(
    "_sample_multinomial",
    aliases=_MULTINOMIAL,
    uses_rng=True,
    outputs=lambda a: ("output", "log_probability") if a.get_prob else ("output",),
)
class Multinomial:
    """Draw indices with the probabilities along the last axis of an array.

    `data` has shape (..., k) and sums to one along its last axis; the indices have shape
    (...) + shape, or (1,) for 1-D `data` and no `shape`. With `get_prob` the second output holds
    the log-probabilities of the samples, through which gradients flow to `data`.
    """

    shape: Shape = ()
    get_prob: Bool = False
    dtype: DType("float16", "float32", "float64", "int32", "uint8") = "int32"

    def infer(a, data):
        out = Spec(None, dtypes.code_of(a.dtype))
        if data.dtype is not None:
            require(
                dtypes.is_float(data.dtype), f"argument data: expected a floating dtype, got {data}"
            )
        if data.shape is not None:
            require(data.ndim >= 1, "argument data: expected at least one axis")
            out.shape = data.shape[:-1] + (a.shape or ()) or (1,)
        return (out, Spec(out.shape, data.dtype)) if a.get_prob else out

    def grad(a, F, g, data, outs, specs):
        if not a.get_prob:
            return F.zeros_like(data)
        indices, log_probability = outs
        # d log p / dp of each draw, scattered to its index and summed over the draws.
        shape, axis = specs[0].shape, specs[0].ndim - 1
        share = F.Reshape(g[1] / F.exp(log_probability), shape=(*shape[:-1], -1))
        drawn = F.Reshape(indices, shape=(*shape[:-1], -1))
        return F._backward_along(share, drawn, axis=axis, shape=shape)

    def ref(a, xp, data):
        shape = data.shape[:-1] + (a.shape or ()) or (1,)
        rows = data.reshape(-1, data.shape[-1])
        u = generator(xp).random((len(rows), -(-_size(shape) // max(len(rows), 1))))
        reached = xp.cumsum(rows, axis=1)[:, None, :-1] < u[:, :, None]
        chosen = reached.sum(axis=2)
        out = chosen.reshape(shape).astype(dtypes.dtype_of(dtypes.code_of(a.dtype)))
        if not a.get_prob:
            return out
        return out, xp.log(xp.take_along_axis(rows, chosen, axis=1)).reshape(shape)

    kernels = (native("sample_multinomial", work=lambda a, ins, outs: 0, mixed=True),)
    samples = (
        sample(values(0.2, 0.3, (2, 4)), grad=False, shape=(3,)),
        sample(values(0.2, 0.3, (4,)), grad=False),
        sample(values(0.2, 0.3, (2, 4)), grad=False, shape=(2, 2), get_prob=True),
    )


def _size(shape):
    n = 1
    for extent in shape:
        n *= extent
    return n


@op("_shuffle", aliases=("_npi_shuffle", "shuffle"), uses_rng=True, amp="either/either")
class Shuffle:
    """Shuffle an array along its first axis; not differentiable."""

    def infer(a, data):
        return Spec(data.shape, data.dtype)

    infer_back = back_data

    def grad(a, F, g):
        raise MXNetError("Operator _shuffle is non-differentiable")

    def ref(a, xp, data):
        return data[generator(xp).permutation(len(data))]

    kernels = (native("shuffle", inplace=True, work=lambda a, ins, outs: 0),)
    samples = (sample((5,), grad=False), sample((4, 3), grad=False))
