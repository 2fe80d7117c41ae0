"""Gluon: networks made of blocks, and what is needed to train them."""

from mxcy._base.suggestions import module_getattr
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
    "rnn",
    "tensor_types",
    "trainer",
    "utils",
]

__getattr__ = module_getattr(__name__)
