"""Blocks with their own loss terms."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.probability.block.stochastic_block import (
    StochasticBlock as StochasticBlock, StochasticSequential as StochasticSequential,
)
