"""LeNet and ResNet-18 on gpu(0) with fusion, aggregation and CUDA graphs against the CPU."""

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_graphs import since
from tests.gpu.hardware.networks import Training, lenet, zoo
from tests.gpu.standin.seam import is_chosen

NETWORKS = {
    "LeNet": (lenet, (4, 1, 28, 28), 10, "float32", 1e-4),
    # The last layers normalise four values, which amplifies rounding errors: on the CPU, losses in
    # float32 differ by 7 % from those in float64 after four steps.
    "ResNet-18": (zoo("resnet18_v1"), (4, 3, 32, 32), 1000, "float64", 1e-8),
}


@pytest.mark.timeout(900)
@pytest.mark.parametrize("name", NETWORKS)
def test_losses_are_those_of_the_cpu(name, monkeypatch):
    monkeypatch.setenv("MXNET_ENABLE_CUDA_GRAPHS", "1")
    make, shape, classes, dtype, tolerance = NETWORKS[name]
    mx.random.seed(1)
    here = Training(make, shape, classes, mx.cpu(), dtype=dtype)
    there = Training(make, shape, classes, mx.gpu(0), here.values, dtype)
    expected = [float(here.step().mean().asscalar()) for _ in range(6)]
    losses, told = [], []
    for _ in range(6):
        work = {}
        if is_chosen():
            work, losses_of_step = since(lambda: there.step().asnumpy())
        else:
            losses_of_step = there.step().asnumpy()
        losses.append(float(losses_of_step.mean()))
        told.append(work)
    np.testing.assert_allclose(losses, expected, rtol=tolerance)
    if not is_chosen():
        return
    for work in told[2:]:  # the first two steps allocate
        assert work["replayed"] == told[-1]["replayed"] >= 4  # two forward and two backward
        assert work["captured"] == work["taken"] == 0
        # The rest: the gradient of the losses, and the optimizer.
        assert work["launches"] <= 4 < told[0]["launches"] / 10
