"""Module checkpoints exchanged with real MXNet 1.9.1, including optimizer states."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pytest

import mxcy as mx
from tests.originals import Original

HERE = Path(__file__).resolve().parent
FOLDER = HERE.parent / "data" / "module_state"
PREDICTED = json.loads((FOLDER / "predicted.json").read_text())


def load_exchange():
    spec = importlib.util.spec_from_file_location("exchange", HERE / "exchange.py")
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


EXCHANGE = load_exchange()


def test_a_checkpoint_of_real_mxnet_predicts_and_goes_on_alike():
    prefix = str(FOLDER / "net")
    mod = mx.mod.Module.load(prefix, 1)
    data = EXCHANGE.batches(mx)
    mod.bind(data.provide_data, data.provide_label, for_training=False)
    np.testing.assert_allclose(mod.predict(data).asnumpy(), PREDICTED["saved"], atol=1e-4)
    np.testing.assert_allclose(EXCHANGE.read(mx, prefix), PREDICTED["continued"], atol=1e-4)


def test_training_to_the_checkpoint_is_alike(tmp_path):
    predicted = EXCHANGE.write(mx, str(tmp_path / "net"))
    np.testing.assert_allclose(predicted, PREDICTED["saved"], atol=1e-4)


@pytest.mark.needs_real_mxnet
def test_real_mxnet_goes_on_from_our_checkpoint(tmp_path):
    original = Original("19", HERE / "exchange.py", tmp_path)
    prefix = str(tmp_path / "net")
    EXCHANGE.write(mx, prefix)
    # NaiveEngine: see make_module_state.py
    theirs = original("read", "mxnet", prefix, "false", MXNET_ENGINE_TYPE="NaiveEngine")
    expected = EXCHANGE.read(mx, prefix, load_optimizer_states=False)
    np.testing.assert_allclose(theirs, expected, atol=1e-4)
