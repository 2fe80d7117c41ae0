"""Gluon: neural networks built from blocks, and the tools to train them."""

from importlib import import_module

from mxcy._base.listing import listing
from mxcy._base.suggestions import no_attribute
from mxcy.gluon import block, loss, nn, parameter, rnn, trainer, utils
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

#: modules that are imported when they are first accessed
_LATER = ("contrib", "data", "metric", "model_zoo", "probability")


def __getattr__(name):
    if name not in _LATER:
        raise no_attribute(__name__, name)
    return import_module(f"{__name__}.{name}")


__dir__ = listing(__name__)
