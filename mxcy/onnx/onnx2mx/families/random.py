"""Random numbers, from mxcy's generators, and dropout."""

import numpy as np

from mxcy._base import dtypes
from mxcy.onnx.onnx2mx.table import row
from mxcy.onnx.onnx2mx.tensors import code_of

__all__ = []


def _type(a, like):
    if a.dtype is not None:
        return dtypes.name_of(code_of(a.dtype, "attribute dtype"))
    return "float32" if like is None else dtypes.name_of(like.spec.dtype)


def _uniform(F, a, shape, like=None):
    drawn = F("_random_uniform", low=a.low, high=a.high, shape=tuple(shape), dtype="float32")
    return drawn.astype(_type(a, like))


def _normal(F, a, shape, like=None):
    drawn = F("_random_normal", loc=a.mean, scale=a.scale, shape=tuple(shape), dtype="float32")
    return drawn.astype(_type(a, like))


for _name, _draw in (("RandomUniform", _uniform), ("RandomNormal", _normal)):
    row(_name)(lambda F, a, draw=_draw: draw(F, a, a.shape))
    row(f"{_name}Like")(lambda F, a, x, draw=_draw: draw(F, a, x.full_shape, x))


@row("Bernoulli", since=15)
def bernoulli(F, a, x):
    drawn = F("_random_uniform", low=0.0, high=1.0, shape=x.full_shape, dtype="float32")
    return F("_npi_less", drawn, x.astype("float32")).astype(_type(a, x))


@row("Multinomial", since=7)
def multinomial(F, a, x):
    chances = F("softmax", x, axis=-1)
    word = "int32" if a.dtype is None else dtypes.name_of(code_of(a.dtype, "attribute dtype"))
    return F("_sample_multinomial", chances, shape=(a.sample_size,), dtype=word)


@row("Dropout")
def dropout(F, a, x, ratio=None, training=None):
    trains = training is not None and bool(training.numbers("the input training_mode").any())
    chance = 0.5 if ratio is None else float(ratio.numbers("the input ratio").reshape(()))
    if trains and chance > 0:
        shape = x.full_shape
        drawn = F("_random_uniform", low=0.0, high=1.0, shape=shape, dtype="float32")
        kept = F("_npi_greater_equal", drawn, F.like(chance, drawn))
        scaled = F.binary("multiply", x, 1 / (1 - chance)) if chance < 1 else x
        return F.where(kept, scaled, F.like(0, x)), kept
    if not a.wants(1):
        return x
    return x, F.constant(np.ones(x.full_shape, bool if a.opset >= 10 else x.dtype))
