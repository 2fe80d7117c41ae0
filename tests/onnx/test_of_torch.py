"""Import of 22 small networks from PyTorch's exporters (`tests/data/make_onnx_of_torch.py`)."""

import io
import zipfile
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

onnx = pytest.importorskip("onnx", reason="the extra 'onnx' is not installed")

from mxcy.onnx import backend  # noqa: E402

ARCHIVE = zipfile.ZipFile(Path(__file__).resolve().parents[1] / "data" / "onnx_of_torch.zip")
MODELS = [name for name in ARCHIVE.namelist() if name.endswith(".onnx")]


def material(name):
    """(model, inputs, outputs) of an entry."""
    model = onnx.load_from_string(ARCHIVE.read(name))
    with np.load(io.BytesIO(ARCHIVE.read(f"{name.split('.')[0]}.npz"))) as file:
        arrays = [
            [file[f"{kind}{i}"] for i in range(len(file.files)) if f"{kind}{i}" in file.files]
            for kind in ("in", "out")
        ]
    return model, *arrays


def test_there_are_enough():
    assert len(MODELS) >= 38 and sum("dynamo" in name for name in MODELS) >= 20


@pytest.mark.parametrize("name", MODELS)
def test_outputs_are_those_of_pytorch(name):
    model, inputs, outputs = material(name)
    actual = backend.prepare(model).run(inputs)
    assert len(actual) == len(outputs)
    for array, wanted in zip(actual, outputs, strict=True):
        assert array.dtype == wanted.dtype and array.shape == wanted.shape
        if wanted.dtype.kind != "f":
            np.testing.assert_array_equal(array, wanted)
        else:
            finite = np.abs(wanted[np.isfinite(wanted)]).max(initial=1e-6)
            np.testing.assert_allclose(array, wanted, rtol=0, atol=1e-5 * finite)


@pytest.mark.parametrize("name", ["resnet.dynamo.onnx", "lstm.script.onnx", "sdpa.dynamo.onnx"])
def test_the_same_as_a_hybridized_block(name):
    model, inputs, outputs = material(name)
    net = mx.contrib.onnx.import_to_gluon(model)
    net.hybridize()
    actual = net(*map(mx.nd.array, inputs))
    actual = actual if isinstance(actual, (list, tuple)) else [actual]
    for array, wanted in zip(actual, outputs, strict=True):
        np.testing.assert_allclose(array.asnumpy(), wanted, rtol=1e-4, atol=1e-5)
