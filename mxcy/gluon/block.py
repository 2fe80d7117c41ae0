"""The base classes of blocks, under the module name that MXNet gives them."""

from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.plain_block import Block
from mxcy.gluon.symbol_block import SymbolBlock

__all__ = ["Block", "HybridBlock", "SymbolBlock"]
