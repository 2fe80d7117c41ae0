"""Gluon: neural networks built from blocks, and the tools to train them."""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute
from mxcy.gluon import (
    block,
    contrib,
    data,
    loss,
    metric,
    model_zoo,
    nn,
    parameter,
    rnn,
    trainer,
    utils,
)
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.parameter import Constant, DeferredInitializationError, Parameter, tensor_types
from mxcy.gluon.parameter_dict import ParameterDict
from mxcy.gluon.symbol_block import SymbolBlock
from mxcy.gluon.trainer import Trainer

__all__ = [
    "Block",
    "Constant",
    "DeferredInitializationError",
    "HybridBlock",
    "Parameter",
    "ParameterDict",
    "SymbolBlock",
    "Trainer",
    "block",
    "contrib",
    "data",
    "loss",
    "metric",
    "model_zoo",
    "nn",
    "parameter",
    "probability",
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]


def __getattr__(name):
    if name != "probability":  # imported on first access
        raise no_attribute(__name__, name)
    return import_module("mxcy.gluon.probability")


__dir__ = listing(__name__)
