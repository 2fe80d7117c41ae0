"""The base classes of blocks, under the module name that MXNet gives them."""

from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.plain_block import Block

__all__ = ["Block", "HybridBlock"]
