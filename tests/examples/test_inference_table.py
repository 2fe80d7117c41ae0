"""The inference table: its files, its programs, its report."""

from dataclasses import replace

import numpy as np
import pytest

import mxcy as mx
from benchmarks.infer import material as files
from benchmarks.infer import with_mxcy
from benchmarks.infer.networks import make
from benchmarks.infer.report import lines, ratio
from benchmarks.infer.rows import ROWS, inputs
from benchmarks.score.contenders import Cell, Result

pytest.importorskip("onnx")

BERT = {"length": 7, "units": 16, "heads": 2, "layers": 2}
SMALL = {
    "mobilenetv3_large": {"shape": (3, 64, 64)},
    "efficientnet_b0": {"shape": (3, 64, 64)},
    "bert_base": {"shape": (7,), "words": 50, "about": BERT},
    "lstm_step": {"words": 50, "classes": 50, "about": {"units": 8}, "states": ((2, 8),) * 2},
}


@pytest.fixture
def material(request, tmp_path, monkeypatch):
    """Files of a row, made smaller."""
    row = replace(ROWS[request.param], **SMALL[request.param])
    monkeypatch.setitem(ROWS, row.name, row)
    return files.Material(row.name, tmp_path)


@pytest.mark.parametrize("material", SMALL, indirect=True)
@pytest.mark.parametrize("batch", [1, 3])
def test_onnx_runtime_gives_the_same_outputs(material, batch):
    pytest.importorskip("onnxruntime")
    from benchmarks.infer import with_onnxruntime

    kind = "Stepping" if material.row.states else "Contender"
    programs = [
        getattr(module, kind)(material.folder, 1) for module in (with_mxcy, with_onnxruntime)
    ]
    for program in programs:
        program.bind(np.load(material.images)[:batch])
    for _ in range(2):  # the second run begins with the states of the first
        for program in programs:
            program.run()
        ours, theirs = (program.output() for program in programs)
        assert ours.shape == (batch, material.row.classes)
        np.testing.assert_allclose(theirs, ours, atol=1e-4 * np.abs(ours).max())


@pytest.mark.parametrize("material", ["lstm_step"], indirect=True)
def test_runs_hand_their_states_on(material):
    program = with_mxcy.Stepping(material.folder, 1)
    program.bind(inputs(material.row)[:2])
    outputs = []
    for _ in range(2):
        program.run()
        outputs.append(program.output())
    assert np.abs(outputs[1] - outputs[0]).max() > 1e-6
    program.bind(inputs(material.row)[:2])
    program.run()
    np.testing.assert_array_equal(program.output(), outputs[0])


@pytest.mark.parametrize("material", ["lstm_step"], indirect=True)
def test_arithmetic_of_a_sample_is_counted(material):
    weights = 2 * (4 * 8 * 16 + 8 * 8) + 8 * 50  # two layers with their biases, and the head
    assert material.gflop() == pytest.approx(2e-9 * weights)


def test_detector_puts_probabilities_first():
    net = make(ROWS["ssd_300"])
    net.initialize()
    shapes = net(mx.sym.var("data")).infer_shape(data=(2, 3, 300, 300))[1]
    assert shapes == [(2, 8732 * (21 + 4))]


def test_report_prints_ratios_to_the_best_peer():
    seconds = {"mxcy": [0.2, 0.1], "OpenVINO": [0.15, 0.6], "ONNX Runtime": [0.4]}
    cell = Cell("bert_base", 2, {name: Result(list(times)) for name, times in seconds.items()})
    assert ratio(cell) == pytest.approx(1.5)
    text = "\n".join(lines([cell], {"bert_base": 1.0}, 100.0))
    assert "1.50" in text and "least 1.50" in text and "20%" in text
    assert ratio(Cell("bert_base", 2, {"mxcy": Result([0.1])})) is None
