"""Layers under their MXNet 1.x names."""

# Written by `python -m tools.stubs --write`.

from mxcy.gluon.contrib.nn import (
    basic_layers as basic_layers,
)
from mxcy.gluon.contrib.nn.basic_layers import (
    Concurrent as Concurrent, HybridConcurrent as HybridConcurrent,
    SparseEmbedding as SparseEmbedding,
)
from mxcy.gluon.nn.containers import (
    Identity as Identity,
)
from mxcy.gluon.nn.norm_layers import (
    SyncBatchNorm as SyncBatchNorm,
)
from mxcy.gluon.nn.pixel_shuffle import (
    PixelShuffle1D as PixelShuffle1D, PixelShuffle2D as PixelShuffle2D,
    PixelShuffle3D as PixelShuffle3D,
)
