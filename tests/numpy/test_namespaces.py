"""What completion shows of the packages of `mx.np`."""

import types

import pytest

import mxcy as mx

HELPERS = {
    "as_array",
    "draw",
    "given",
    "introduce",
    "normal_axis",
    "operate",
    "place",
    "promoted",
    "store",
}


@pytest.mark.parametrize(
    "module",
    [mx.np, mx.np.fft, mx.np.linalg, mx.np.random, mx.npx, mx.npx.random],
    ids=lambda m: m.__name__,
)
def test_namespaces_list_what_they_offer(module):
    names = [name for name in dir(module) if not name.startswith("_")]
    assert names
    assert not HELPERS & set(names)
    for name in names:
        value = getattr(module, name)
        assert (
            not isinstance(value, types.ModuleType) or value.__name__ == f"{module.__name__}.{name}"
        )
