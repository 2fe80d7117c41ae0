"""Creation of arrays from a shape, including random ones."""

import numpy as np

from mxcy.onnx.mx2onnx.registry import convert

__all__ = []


def _constant(a, G):
    """Evaluate the record's definition to a constant."""
    return G.const(np.asarray(G.node.op.ref(a, np)).astype(G.out.dtype, copy=False))


convert(
    "_constant",
    "_arange",
    "_linspace",
    "_eye",
    "_npi_eye",
    "_npi_arange",
    "_npi_linspace",
    "_npi_hanning",
    "_npi_hamming",
    "_npi_blackman",
    "_npi_identity",
    "_npi_logspace",
    "_npi_indices",
    "_npi_tri",
)(_constant)


@convert("_npi_tril_indices")
def tril_indices(a, G):
    """Two index vectors."""
    return [G.const(np.asarray(x).astype(np.int64)) for x in G.node.op.ref(a, np)]


def _extents(G):
    """Extents of the result; free ones are computed from the inputs' extents they equal."""
    shape = G.out.shape
    if -1 not in shape:
        return list(shape)
    return G.tied_extents()


@convert("_zeros", "_npi_zeros")
def zeros(a, G):
    """Support shapes inferred from consumers, e.g. for initial states of recurrent networks."""
    return G.full(_extents(G), 0, G.out.dtype)


@convert("_ones", "_npi_ones")
def ones(a, G):
    """Support shapes inferred from consumers."""
    return G.full(_extents(G), 1, G.out.dtype)


@convert("_full")
def full(a, G):
    """Constant value."""
    return G.full(_extents(G), a.value, G.out.dtype)


@convert("_npi_full")
def np_full(a, G):
    """Constant value, possibly an int64."""
    number = (a.double_value, a.int_value, a.uint_value)
    filled = np.asarray(G.node.op.ref(a, np))
    value = filled.reshape(-1)[0] if filled.size else number[0]
    return G.full(_extents(G), value, G.out.dtype)


@convert("zeros_like", "_npi_zeros_like")
def zeros_like(a, G, x):
    """Shape of the input."""
    return G.full(G.dims(x), 0, G.out.dtype)


@convert("ones_like", "_npi_ones_like")
def ones_like(a, G, x):
    """Shape of the input."""
    return G.full(G.dims(x), 1, G.out.dtype)


@convert("_npi_full_like")
def full_like(a, G, x):
    """Shape of the input."""
    return G.full(G.dims(x), a.fill_value, G.out.dtype)


@convert("_contrib_arange_like")
def arange_like(a, G, x):
    """As many elements as the input, or as one of its axes."""
    if a.repeat != 1:
        if not x.static:
            G.unsupported("repeat with free extents")
        return G.const(G.node.op.ref(a, np, np.zeros(x.shape, x.dtype)))
    if a.axis is None:
        count = G.times(*G.dims(x)) if x.ndim else 1
    else:
        count = G.dim(x, a.axis)
    places = G.cast(G.arange(0, count), G.out.dtype)
    places.shape = (count if isinstance(count, int) else -1,)
    result = places * a.step + a.start
    return result if a.axis is not None else G.reshape(result, G.dims(x))


# --- random numbers ------------------------------------------------------------------------------


def _uniform(a, G):
    out = G.out
    return G.op("RandomUniform", low=a.low, high=a.high, shape=out.shape, dtype=out.dtype)


def _normal(a, G):
    out = G.out
    return G.op("RandomNormal", mean=a.loc, scale=a.scale, shape=out.shape, dtype=out.dtype)


@convert("_random_uniform")
def random_uniform(a, G):
    """The random numbers depend on the runtime."""
    return _uniform(a, G)


@convert("_random_normal")
def random_normal(a, G):
    """The random numbers depend on the runtime."""
    return _normal(a, G)


@convert("_random_uniform_like")
def random_uniform_like(a, G, x):
    """Shape of the input."""
    return G.RandomUniformLike(x, low=a.low, high=a.high)


@convert("_random_normal_like")
def random_normal_like(a, G, x):
    """Shape of the input."""
    return G.RandomNormalLike(x, mean=a.loc, scale=a.scale)


@convert("_npi_uniform", "_npi_normal")
def np_random(a, G, *inputs):
    """Support scalar parameters only."""
    if inputs:
        G.unsupported("parameters that are arrays")
    return _uniform(a, G) if "uniform" in G.node.op.name else _normal(a, G)


@convert("_sample_multinomial")
def multinomial(a, G, x):
    """Pass log-probabilities, as ONNX expects."""
    if a.get_prob:
        G.unsupported("get_prob=True")
    rows = x if x.ndim == 2 else G.reshape(x, [1, -1])
    count = int(np.prod(a.shape or (1,)))
    kind = np.dtype(np.int32)
    result = G.op("Multinomial", G.Log(rows), sample_size=count, dtype=kind)
    result.dtype = kind
    shape = list(a.shape or ())
    return G.cast(G.reshape(result, [*G.dims(x)[:-1], *shape] or [1]), G.out.dtype)
