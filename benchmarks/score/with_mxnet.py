"""MXNet 1.9.1 with oneDNN, with its fused subgraphs (its default)."""

import mxnet

from benchmarks.score import with_symbols


class Contender(with_symbols.Contender):
    mx, title = mxnet, "MXNet"


class Quantized(with_symbols.Quantized):
    mx, title = mxnet, "MXNet"
