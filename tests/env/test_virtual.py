"""Variables of virtual devices and of calls pushed to the engine."""

import pytest

from mxcy import env
from tests.env.run import python


def test_contexts():
    code = "import mxcy as mx; print(mx.num_gpus(), mx.nd.ones((2,), ctx=mx.gpu(2)).context)"
    assert python(code, MXCY_VIRTUAL_DEVICES="3").out.strip() == "3 gpu(2)"
    assert "no GPU" in python(code, fails=True).err


def test_work():
    code = """
import mxcy as mx
data = mx.nd.ones((40, 40))
for _ in range(3):
    data = mx.nd.dot(data, data) / 40
mx.nd.waitall()
print(mx.engine.stats()["pushed"])
"""
    assert python(code).out.strip() == "0"
    assert int(python(code, MXCY_ENGINE_WORK="0").out) >= 6


@pytest.mark.parametrize("name", ["MXCY_VIRTUAL_DEVICES", "MXCY_ENGINE_WORK"])
def test_bad_values(name):
    with pytest.raises(env.EnvError, match=name):
        env.Environment({name: "many"}).get(name)
