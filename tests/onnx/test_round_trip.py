"""Networks of the zoo exported and imported again."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.model_zoo import vision

pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("make", [vision.mobilenet_v2_0_25, vision.resnet18_v2])
def test_outputs_stay(tmp_path, make, dynamic):
    net = make(classes=10)
    mx.random.seed(0)
    net.initialize(mx.init.Xavier())
    x = mx.nd.random.uniform(shape=(1, 3, 64, 64))
    wanted = net(x).asnumpy()
    sym = net(mx.sym.var("data"))
    states = set(sym.list_auxiliary_states())
    parameters = {
        f"{'aux' if name in states else 'arg'}:{name}": parameter.data()
        for name, parameter in net.collect_params().items()
    }
    path, more = str(tmp_path / "net.onnx"), {}
    if dynamic:
        more = {"dynamic": True, "dynamic_input_shapes": [("n", 3, 64, 64)]}
    mx.onnx.export_model(sym, parameters, [x.shape], np.float32, path, **more)
    again = mx.contrib.onnx.import_to_gluon(path)
    images = mx.nd.concat(*[x] * 3, dim=0) if dynamic else x
    actual = again(images).asnumpy()[-1:]
    assert np.abs(actual - wanted).max() <= 1e-5 * np.abs(wanted).max()
