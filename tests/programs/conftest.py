"""Programs of MXNet 2's time on `mx.np`, under both profiles."""

from pathlib import Path

import numpy as onp
import pytest

import mxcy as mx
from mxcy import profile

DIGITS = Path(mx.__file__).with_name("examples") / "data" / "mnist_5k.npz"


@pytest.fixture(params=["1.9", "2.0"], autouse=True)
def generation(request):
    """The profile in force; NumPy semantics are on, as at the top of such programs."""
    before = profile.current()
    mx.util.set_profile(request.param)
    mx.npx.set_np()
    mx.random.seed(7)
    onp.random.seed(7)  # samplers of data loaders shuffle with it
    yield request.param
    mx.util.set_profile(before.name)
    profile.set_current(*before)


@pytest.fixture(scope="session")
def digits():
    """((images, labels) to learn from, (images, labels) held out), NumPy's arrays."""
    with onp.load(DIGITS) as file:
        images, labels = file["images"][:, None] / onp.float32(255), file["digits"]
    order = onp.random.RandomState(0).permutation(len(labels))
    images, labels = images[order].astype("float32"), labels[order].astype("int32")
    return (images[:1500], labels[:1500]), (images[1500:2000], labels[1500:2000])


@pytest.fixture
def batches(digits):
    """Loaders of the digits: to learn from, and held out."""

    def load(part, size, shuffle):
        arrays = [mx.np.array(part[0]), mx.np.array(part[1], dtype="int32")]
        dataset = mx.gluon.data.ArrayDataset(*arrays)
        return mx.gluon.data.DataLoader(dataset, size, shuffle=shuffle)

    return load(digits[0], 64, True), load(digits[1], 250, False)
