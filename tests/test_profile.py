"""The MXNet profile: its sources, and the places that depend on it."""

import re
from pathlib import Path

import numpy as onp
import pytest

import mxcy as mx
from mxcy import profile

PACKAGE = Path(mx.__file__).parent

#: code that depends on the profile, one line each
READERS = {
    "_execute/executor.py": "whether outputs of no loss need gradients",
    "_semantics/switches.py": "NumPy semantics after import",
    "compat/__init__.py": "what mxnet.__version__ says",
    "gluon/contrib/estimator/utils.py": "names of losses, and symbols in checkpoints",
    "gluon/collected_parameters.py": "blocks: keys of collect_params, and what they ask it for",
    "gluon/loss/classification.py": "whether divergences are sums or means",
    "gluon/nn/basic_layers.py": "where Lambda and HybridLambda look for names",
    "gluon/parameter_dict.py": "names of parameters",
    "operator/__init__.py": "words of attributes that only MXNet 2 lists",
    "optimizer/defaults.py": "parameters and their defaults, and how weights decay",
}


@pytest.fixture
def restored():
    """Restore the profile of the process."""
    before = profile.current()
    yield
    mx.util.set_profile(before.name)
    profile.set_current(*before)


def test_few_places_ask():
    asks = re.compile(r"profile\.(is_mxnet_2|current)\(\)")
    collected = {}
    for path in PACKAGE.rglob("*.py"):
        count = len(asks.findall(path.read_text()))
        if count:
            collected[path.relative_to(PACKAGE).as_posix()] = count
    assert collected.keys() == READERS.keys()
    assert len(collected) <= 11  # and profile.saves_as_numpy, for all who write files


def test_set_profile(restored):
    mx.util.set_profile("1.9")
    assert not mx.util.is_np_array()
    assert mx.util.set_profile("2.0.0") == "1.9"
    assert profile.current() == ("2.0", "mx.util.set_profile")
    assert mx.util.is_np_array() and mx.util.is_np_shape() and not mx.util.is_np_default_dtype()
    assert mx.util.set_profile("1.6.0") == "2.0"
    assert not (mx.util.is_np_array() or mx.util.is_np_shape())
    with pytest.raises(ValueError, match=r"1\.9, 2\.0, got 'new'"):
        mx.util.set_profile("new")


def test_words_that_listings_show(restored):
    def words():
        return mx.operator.get_operator_arguments("Activation").types[1]

    first = "{'relu', 'sigmoid', 'softrelu', 'softsign', 'tanh'}, required"
    assert words() == first
    mx.util.set_profile("2.0")
    assert words() == first.replace("{", "{'log_sigmoid', 'mish', ")
    types = mx.operator.get_operator_arguments("Cast").types
    mx.util.set_profile("1.9")
    assert types == mx.operator.get_operator_arguments("Cast").types


def test_names_of_element_types(restored):
    mx.util.set_profile("1.9")
    number = mx.np.float16(3)
    assert isinstance(number, onp.float16) and mx.np.bool is bool
    assert mx.np.ones(2, mx.np.int8).dtype == mx.np.int8
    mx.util.set_profile("2.0")
    assert isinstance(mx.np.float16, onp.dtype) and {mx.np.int8: 1}[mx.np.ones(2, "int8").dtype]
    assert isinstance(mx.np.bool_, onp.dtype)
