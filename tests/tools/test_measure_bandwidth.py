"""`tools/bandwidth/measure.py`: the sums are right, with each type of store."""

import importlib.util
import re
from pathlib import Path

import pytest

from tests.dist.jobs import job, needs_mpi

PATH = Path(__file__).resolve().parents[2] / "tools/bandwidth/measure.py"
if not PATH.is_file():
    pytest.skip("the tools are not beside the tests", allow_module_level=True)

spec = importlib.util.spec_from_file_location("measure_bandwidth", PATH)
measure = importlib.util.module_from_spec(spec)
spec.loader.exec_module(measure)

_SMALL = ("--network", "mobilenet0.25", "--image-shape", "3,64,64", "--num-batches", "2")


@pytest.mark.parametrize(
    "arguments",
    [
        ("--kv-store", "local"),
        ("--kv-store", "device", "--gpus", "0,1,2", "--optimizer", "sgd"),
        ("--kv-store", "dist_sync", "--gpus", ""),
    ],
)
def test_stores(arguments):
    results = measure.run(measure.parse([*_SMALL, *arguments, "--cpu"]))
    assert len(results) == 2
    for one in results:
        assert one["error"] < 1e-5 and one["time"] > 0 and one["bandwidth"] > 0


def test_errors_are_seen(monkeypatch):
    monkeypatch.setattr(measure._Expected, "go_on", lambda self: self.values[0].__iadd__(1))
    results = measure.run(measure.parse([*_SMALL, "--kv-store", "local", "--cpu"]))
    assert results[0]["error"] > 1e-5


def test_options():
    options = measure.parse([])
    assert (options.network, options.num_layers, options.gpus) == ("resnet", 152, "0,1")
    assert options.kv_store == "device" and options.optimizer == "None"
    assert measure.shapes_of("alexnet", 0, "3,224,224", 7)[-1] == (7,)
    assert [device.device_id for device in measure.devices_of("0, 2", True)] == [0, 2]


@needs_mpi
def test_two_workers():
    program = f"import runpy, sys; sys.argv[1:] = {[*_SMALL, '--kv-store', 'dist_sync', '--raw']}"
    done = job(2, f"{program}; runpy.run_path({str(PATH)!r}, run_name='__main__')")
    assert done.code == 0, done.err
    lines = re.findall(
        r"iter \d, ([\d.]+) sec, ([\d.]+) GB/sec per gpu, error ([\d.]+), MPI", done.err
    )
    assert len(lines) == 4 and all(float(error) < 1e-5 for *_, error in lines)
