"""Every operator with a converter: ONNX Runtime gives our results and types."""

import pytest

pytest.importorskip("onnxruntime", reason="needs onnxruntime to run what is exported")

from tests.onnx.battery import operators as battery  # noqa: E402


@pytest.mark.parametrize("turn", range(8))
def test_samples(turn, tmp_path):
    """Samples alternate between opsets, static and dynamic; the `battery` program runs all."""
    wrong, done = [], 0
    for number, case in enumerate(battery.cases()):
        if number % 40 != turn:
            continue
        opset = battery.OPSETS[(number // 2) % len(battery.OPSETS)]
        try:
            battery.check(*case, opset, number % 2 == 1, tmp_path / "model.onnx")
            done += 1
        except battery.Refused:
            continue
        except Exception as error:
            record, index, _, dtype = case
            wrong.append(f"{record.name}-{index}-{dtype} opset {opset}: {error}")
    assert not wrong, "\n".join(wrong)
    assert done > 10
