"""Blocks with their own loss terms."""

from mxcy.gluon.probability.block.stochastic_block import StochasticBlock, StochasticSequential

__all__ = ["StochasticBlock", "StochasticSequential"]
