"""mx.gluon.block._block_scope, which libraries for MXNet 2 use."""

import mxcy as mx
from mxcy.gluon.block import _block_scope


def test_memory_is_listed_under_the_class():
    with mx.profiler.scope("outer"), _block_scope(mx.gluon.nn.Dense(2)) as name:
        assert name == "outer:dense:"
