"""The base classes of blocks, under the module name that MXNet gives them."""

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
    """A scope in which the profiler lists memory under a block's class."""
    return scope(type(block).__name__.lower())


# Whole models know of all kinds of blocks, so they stand above them.
Block.save, Block.load = saved_models.save, saved_models.load


def _flatten(args, inout_str):
    """The arrays in nested lists, and how they are nested; the name by which libraries import it.

    Raises
    ------
    ValueError
        When there is something else than arrays and None in `args`, the `inout_str` of a block.
    """
    flat, form = flatten(args)
    if holds_values(form):
        raise ValueError(f"The {inout_str} of a block must be arrays in nested lists, got {args!r}")
    return flat, form
