"""Checkpoints of real MXNet 1.9.1 load and give its outputs; see tests/data/make_checkpoints.py."""

from pathlib import Path

import numpy as np
import pytest

import mxcy as mx

FOLDER = Path(__file__).resolve().parents[1] / "data" / "checkpoints"
NAMES = sorted(path.name.removesuffix("-symbol.json") for path in FOLDER.glob("*-symbol.json"))


def close(actual, expected):
    scale = np.abs(expected).max()
    np.testing.assert_allclose(actual / scale, expected / scale, atol=1e-4)


@pytest.mark.parametrize("batch", [1, 8])
@pytest.mark.parametrize("name", NAMES)
def test_outputs_gradients_and_states(name, batch):
    symbol, arguments, states = mx.model.load_checkpoint(str(FOLDER / name), 3)
    saved = np.load(FOLDER / f"{name}.npz")
    data, label = saved[f"data{batch}"], saved[f"label{batch}"]
    executor = symbol.simple_bind(mx.cpu(), data=data.shape, softmax_label=label.shape)
    executor.copy_params_from(arguments, states)
    executor.forward(is_train=False, data=data, softmax_label=label)
    close(executor.outputs[0].asnumpy(), saved[f"predicted{batch}"])
    executor.forward(is_train=True, data=data, softmax_label=label)
    close(executor.outputs[0].asnumpy(), saved[f"trained{batch}"])
    executor.backward()
    first = next(key for key in symbol.list_arguments() if key.endswith("weight"))
    close(executor.grad_dict[first].asnumpy(), saved[f"gradient{batch}"])
    for key, value in executor.aux_dict.items():
        close(value.asnumpy(), saved[f"{key}{batch}"])


@pytest.mark.parametrize("name", NAMES)
def test_gluon_imports_them(name):
    saved = np.load(FOLDER / f"{name}.npz")
    block = mx.gluon.SymbolBlock.imports(
        str(FOLDER / f"{name}-symbol.json"),
        ["data", "softmax_label"],
        str(FOLDER / f"{name}-0003.params"),
    )
    out = block(mx.nd.array(saved["data8"]), mx.nd.array(saved["label8"]))
    close(out.asnumpy(), saved["predicted8"])


def test_there_are_six():
    assert len(NAMES) == 6
