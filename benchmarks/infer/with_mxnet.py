"""MXNet 1.9.1 with oneDNN, with its fused subgraphs (its default)."""

from benchmarks.infer import with_symbols
from benchmarks.score.with_mxnet import Contender

__all__ = ["Contender", "Stepping"]


class Stepping(with_symbols.Stepping, Contender):
    pass
