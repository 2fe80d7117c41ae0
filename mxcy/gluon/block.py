"""Base classes of blocks, under MXNet's module name."""

from mxcy._base.listing import listing
from mxcy.gluon import saved_models
from mxcy.gluon.hybrid_block import HybridBlock
from mxcy.gluon.plain_block import Block, _indent  # noqa: F401  blocks of users' own
from mxcy.gluon.scope import BlockScope as _BlockScope  # noqa: F401  as libraries import it
from mxcy.gluon.symbol_block import SymbolBlock
from mxcy.gluon.tracing import flatten, holds_values
from mxcy.profiler.scopes import scope

__all__ = ["Block", "HybridBlock", "SymbolBlock"]

__dir__ = listing(__name__)


def _block_scope(block):
    """Scope in which the profiler attributes memory to the block's class."""
    return scope(type(block).__name__.lower())


# saved_models imports every kind of block; the methods are attached here to avoid a cycle.
Block.save, Block.load = saved_models.save, saved_models.load


def _flatten(args, inout_str):
    """Flatten nested lists of arrays; other libraries import it under this name.

    Raises
    ------
    ValueError
        If `args` (the block's `inout_str`) contains anything but arrays and None.
    """
    flat, form = flatten(args)
    if holds_values(form):
        raise ValueError(f"The {inout_str} of a block must be arrays in nested lists, got {args!r}")
    return flat, form
