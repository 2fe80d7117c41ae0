"""mxcy, the network as one plan."""

from benchmarks.infer import with_symbols
from benchmarks.score.with_mxcy import Contender

__all__ = ["Contender", "Stepping"]


class Stepping(with_symbols.Stepping, Contender):
    pass
