"""The elementwise operators in `mx.nd.sparse` and `mx.sym.sparse`."""

import pytest

import mxcy as mx


@pytest.mark.parametrize("interface", [mx.nd, mx.sym], ids=["nd", "sym"])
@pytest.mark.parametrize(
    "name", ["abs", "digamma", "gamma", "log_sigmoid", "mish", "rsqrt", "square"]
)
def test_sparse_namespaces_offer_what_mxnet_offers(interface, name):
    assert callable(getattr(interface.sparse, name))


@pytest.mark.parametrize("interface", [mx.nd, mx.sym], ids=["nd", "sym"])
@pytest.mark.parametrize("name", ["erf", "rcbrt", "reciprocal", "softsign"])
def test_sparse_namespaces_offer_nothing_else(interface, name):
    assert hasattr(interface, name)
    with pytest.raises(AttributeError, match=name):
        getattr(interface.sparse, name)
