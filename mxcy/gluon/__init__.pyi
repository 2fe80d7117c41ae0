"""Gluon: neural networks built from blocks, and the tools to train them."""

# Written by `python -m tools.stubs --write`.

from typing import Any
from mxcy.gluon import (
    block as block, contrib as contrib, data as data, loss as loss, metric as metric,
    model_zoo as model_zoo, nn as nn, parameter as parameter, probability as probability,
    rnn as rnn, trainer as trainer, utils as utils,
)
from mxcy.gluon.hybrid_block import (
    HybridBlock as HybridBlock,
)
from mxcy.gluon.parameter import (
    Constant as Constant, Parameter as Parameter,
)
from mxcy.gluon.parameter_dict import (
    ParameterDict as ParameterDict,
)
from mxcy.gluon.plain_block import (
    Block as Block,
)
from mxcy.gluon.symbol_block import (
    SymbolBlock as SymbolBlock,
)
from mxcy.gluon.trainer import (
    Trainer as Trainer,
)
from mxcy.gluon.utils import (
    DeferredInitializationError as DeferredInitializationError,
)

tensor_types: Any
