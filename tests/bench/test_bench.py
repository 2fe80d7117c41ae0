"""``mxcy-bench``: each table is measured, printed and written, by the package alone."""

import json

import pytest

import mxcy as mx
from mxcy.bench import program
from tests.env.run import python

TABLES = {
    "calls": ["--seconds", "0.0001"],
    "bandwidth": ["--megabytes", "0.05", "--seconds", "0.001"],
    "train": ["--network", "perceptron", "lstm", "--batch-size", "2", "--seconds", "0.001"],
    "score": "--network mobilenet0.25 --size 32 --batch-size 1 2 --seconds 0.001".split(),
}


@pytest.mark.parametrize("table", TABLES)
def test_tables_are_printed_and_written(table, tmp_path, capsys):
    path = tmp_path / "figures.json"
    before = mx.env.omp_threads()
    program.main([table, *TABLES[table], "--json", str(path)])
    assert mx.env.omp_threads() == before
    lines = capsys.readouterr().out.splitlines()
    report = json.loads(path.read_text())
    assert report["table"] == table and report["cells"]
    assert report["machine"]["mxcy"] == mx.__version__ and "load_average" in lines[-1]
    assert all(cell["seconds"] > 0 for cell in report["cells"])
    assert len(lines) >= 3


@pytest.mark.parametrize("precision", ["bfloat16", "int8"])
def test_networks_are_scored_in_other_precisions(precision, tmp_path):
    path = tmp_path / "figures.json"
    about = [
        "--network",
        "mobilenet0.25",
        "--size",
        "32",
        "--batch-size",
        "1",
        "--seconds",
        "0.001",
    ]
    program.main(["score", *about, "--precision", precision, "--json", str(path)])
    (cell,) = json.loads(path.read_text())["cells"]
    assert cell["precision"] == precision and cell["images_per_second"] > 0


def test_wrong_numbers_are_refused(capsys):
    with pytest.raises(SystemExit):
        program.main(["score", "--batch-size", "0"])
    assert "expected a positive number of samples, got 0" in capsys.readouterr().err


@pytest.mark.parametrize(
    "arguments, text",
    [
        ("score --network resnt18_v1", "unknown network 'resnt18_v1'; did you mean 'resnet18_v1'?"),
        ("train --network lenett", "unknown network 'lenett'; did you mean 'lenet'?"),
        ("train --optimizer sdg", "unknown optimizer 'sdg'; did you mean 'sgd'?"),
        ("calls --json nowhere/a.json", "nowhere/a.json: there is no folder"),
        ("calls --json .", ". cannot be written"),
    ],
)
def test_invalid_arguments_fail_before_measuring(arguments, text, capsys):
    with pytest.raises(SystemExit) as caught:
        program.main(arguments.split())
    assert caught.value.code == 2 and text in capsys.readouterr().err


def test_runs_as_a_module():
    out = python("-m", "mxcy.bench", "bandwidth", "--megabytes", "0.01", "--seconds", "0.001").out
    assert out.startswith("GB/s") and f"mxcy {mx.__version__}" in out
