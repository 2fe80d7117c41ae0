"""Blocks that compute losses of their own."""

from mxcy.gluon.probability.block.stochastic_block import StochasticBlock, StochasticSequential

__all__ = ["StochasticBlock", "StochasticSequential"]
