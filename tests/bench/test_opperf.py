"""The program opperf: MXNet's options and reports, operators and inputs from the records."""

import json
import math

import pytest

import mxcy as mx
from mxcy.bench import operator_inputs, opperf
from mxcy.ops.core import homes
from mxcy.ops.core.record import find

QUICK = ["--runs", "1", "--warmup", "1"]


def times(path, *arguments):
    assert opperf.main([*QUICK, "-o", str(path), *arguments]) == 0
    return path.read_text()


def test_reports_have_times_by_the_originals_names(tmp_path):
    report = json.loads(times(tmp_path / "a.json", "--operator", "broadcast_add", "Convolution"))
    assert list(report) == ["Convolution", "broadcast_add"]
    first = report["broadcast_add"][0]
    lhs, rhs = first["inputs"]["lhs"], first["inputs"]["rhs"]
    assert lhs == rhs and tuple(lhs) in operator_inputs.SHAPES
    assert first["avg_time_forward_broadcast_add"] > 0
    assert first["avg_time_backward_broadcast_add"] > 0
    assert first["max_storage_mem_alloc_cpu/0"] >= lhs[0] * lhs[1] * 4 / 1000
    assert "num_filter" in report["Convolution"][0]["inputs"]


def test_tables_in_markdown(tmp_path):
    text = times(tmp_path / "a.md", "--output-format", "md", "--operator", "relu", "argsort")
    head, _, table = text.partition("# Benchmark Results\n")
    assert "# Runtime Features" in head and "ONEDNN" in head
    lines = table.splitlines()
    assert lines[0].split(" | ")[1:3] == ["Avg Forward Time (ms)", "Avg. Backward Time (ms)"]
    rows = [line for line in lines if line.startswith("| argsort")]
    assert rows and all(" | --- | " in row for row in rows)  # it has no gradient


def test_times_by_pythons_clock(tmp_path):
    text = times(
        tmp_path / "a.json", "--profiler", "python", "--operator", "dot", "--dtype", "float64"
    )
    (entry,) = json.loads(text)["dot"]
    keys = [f"{part}_time_dot" for part in ("avg", "p50", "p90", "p99")]
    assert all(entry[key] > 0 for key in keys)


def test_existing_files_are_kept(tmp_path, capsys):
    path = tmp_path / "a.json"
    path.write_text("mine")
    with pytest.raises(SystemExit):
        opperf.main(["-o", str(path)])
    assert "already exists" in capsys.readouterr().err and path.read_text() == "mine"


WRONG = [
    ["--ctx", "tpu"],
    ["--runs", "0"],
    ["--int64-tensor", "on"],
    ["--dtype", "float31"],
    ["--operator", "broadcast_ad"],
    ["-o", "nowhere/a.json"],
]


@pytest.mark.parametrize("wrong", WRONG)
def test_invalid_arguments_are_refused(wrong, tmp_path):
    with pytest.raises(SystemExit) as caught:
        opperf.main(["-o", str(tmp_path / "a.json"), *wrong])
    assert caught.value.code == 2


def test_operators_without_such_a_type_are_listed(tmp_path, capsys):
    names = ["linalg_gemm", "sparse_retain", "abs", "transpose"]
    report = times(tmp_path / "a.json", "--dtype", "int8", "--operator", *names)
    assert list(json.loads(report)) == ["abs", "transpose"]
    first, second = capsys.readouterr().out.splitlines()
    assert first.startswith("0. linalg_gemm (for ") and "float32" in first
    assert second.startswith("1. sparse_retain (")


def test_functions_are_timed_on_inputs_of_ones_own():
    inputs = [{"lhs": (8, 8), "rhs": (8, 8)}, {"lhs": (3, 1), "rhs": (1, 3)}]
    first, second = opperf.run_performance_test(
        [mx.nd.broadcast_add, mx.nd.broadcast_mul], inputs, warmup=1, runs=2
    )
    assert len(first["broadcast_add"]) == len(second["broadcast_mul"]) == 2
    assert second["broadcast_mul"][1]["inputs"] == inputs[1]
    assert second["broadcast_mul"][0]["avg_time_backward_broadcast_mul"] > 0
    (result,) = opperf.run_performance_test(
        mx.nd.sum, [{"data": (4, 5), "axis": (0, 1)}], run_backward=False, warmup=1, runs=1
    )
    assert not [key for key in result["sum"][0] if "backward" in key]
    with pytest.raises(ValueError, match="'native' or 'python'"):
        opperf.run_performance_test(mx.nd.relu, [{"data": (2,)}], profiler="perf")


def test_a_name_is_timed_in_all_namespaces(capsys):
    results = opperf.run_benchmark_operator("add", size=(8, 8), warmup=1, runs=1)
    assert results.keys() == {"nd", "np"}
    assert "add" in results["np"][0] and "mx.np" in capsys.readouterr().out


def test_larger_inputs_are_found_for_records():
    record, ctx = find("Pooling"), mx.cpu()

    def call(case):
        return mx.nd.Pooling(*case.arrays, **case.attrs)

    (case,) = operator_inputs.cases(record, call, "float32", ctx)
    assert case.arrays[0].size > max(math.prod(s.inputs[0]) for s in record.samples())


@pytest.mark.parametrize("name", ["_contrib_calibrate_entropy", "_contrib_dynamic_reshape"])
def test_inputs_that_samples_draw_count_as_what_they_are(name):
    """Scaling a sample must not multiply a histogram's thousands of bins by a million."""
    record = find(name)
    function = operator_inputs.function_of(homes.public_names(record))

    def call(case):
        return function(*case.arrays, **case.attrs)

    (case,) = operator_inputs.cases(record, call, "float32", mx.cpu())
    assert max(array.size for array in case.arrays) < 2_500_000


def test_records_have_one_name_each():
    labels = [operator_inputs.label_of(names) for _, names in operator_inputs.records()]
    assert labels == sorted(labels) and len(labels) == len(set(labels)) > 400
