"""`mx.nd.CachedOp`: a symbol that is called with arrays."""

import numpy as np
import pytest

import mxcy as mx


def test_calls_and_properties():
    symbol = mx.sym.exp(mx.sym.var("x")) * mx.sym.var("y") + 1
    op = mx.nd.CachedOp(symbol, flags=[("static_alloc", True)])
    x, y = mx.nd.array([0.0, 1.0]), mx.nd.array([2.0, 3.0])
    np.testing.assert_allclose(op(x, y).asnumpy(), [3, 3 * np.e + 1], rtol=1e-6)
    assert not op.is_np_sym and op.handle is op
    assert op.get_optimized_symbol().tojson() == symbol.tojson()
    with pytest.raises(mx.MXNetError, match="expected 2 arrays"):
        op(x)
