"""Neural network layers."""

from mxcy._base.listing import listing
from mxcy._base.suggestions import module_getattr
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.nn import activations, basic_layers, conv_layers
from mxcy.gluon.nn.activations import *  # noqa: F403
from mxcy.gluon.nn.activations import __all__ as _activations
from mxcy.gluon.nn.basic_layers import *  # noqa: F403
from mxcy.gluon.nn.basic_layers import __all__ as _basic_layers
from mxcy.gluon.nn.conv_layers import *  # noqa: F403
from mxcy.gluon.nn.conv_layers import __all__ as _conv_layers
from mxcy.gluon.symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock", "activations", "basic_layers", "conv_layers"]
__all__ += _activations + _basic_layers + _conv_layers

__getattr__ = module_getattr(__name__)
__dir__ = listing(__name__)
