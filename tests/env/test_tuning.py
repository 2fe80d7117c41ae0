"""Variables of operator tuning, in separate processes."""

import json

import pytest

from tests.env.run import python

#: operators of several types and sizes on both sides of any threshold; prints the measurements
RUN = """
import json
import mxcy as mx

for dtype in ("float32", "float64", "int32"):
    for n in (100, 5000, 50000):
        x = mx.nd.ones((n,), dtype=dtype)
        (x + x).wait_to_read()
mx.nd.exp(mx.nd.ones((300, 300))).wait_to_read()
rows = mx.runtime.op_tuning()
found = {**mx.runtime.tuning(), "types_measured": sorted({row["dtype"] for row in rows})}
found["region"] = str(found["region"])
print(json.dumps(found))
"""
#: the number of threads of two calls
THREADS = """
import json
from mxcy._base import dtypes
from mxcy.ops.core.infer import Spec
from mxcy.ops.core.prepare import prepare
from mxcy.ops.core.record import find
from mxcy._library import front

def threads(n, name="exp"):
    specs = [Spec((n,), 0)]
    return prepare(find(name), find(name).schema.intern(name, {}), specs, Library).threads

class Library:
    has_kernel, query = staticmethod(front.has_kernel), staticmethod(front.query)
"""
PARALLEL = 1 << 20
#: figures of a kernel that never has to be measured again, whatever fits into this CPU's caches
RATES = {"in": [0.2, 0.1, 1], "out": [0.2, 0.1, 1]}


@pytest.fixture
def home(tmp_path):
    return {"MXNET_HOME": str(tmp_path), "OMP_NUM_THREADS": "2"}


def test_importing_measures_nothing(home, tmp_path):
    done = python(
        "import mxcy as mx; mx.nd.ones((3, 4)).exp().asnumpy()\n"
        "assert mx.runtime.op_tuning() == [] and mx.runtime.tuning()['measured_threads'] == []",
        MXNET_VERBOSE_TUNING_INFO="1",
        MXNET_OUTPUT_TUNING_DATA="1",
        **home,
    )
    assert (done.out, done.err) == ("", "") and not (tmp_path / "op_tuning").exists()


def test_figures(home):
    actual = python(RUN, **home).value
    assert actual["threads"] == 2 and actual["measured_threads"] == [2]
    assert 0 < float(actual["region"]) < float("inf")
    assert actual["types_measured"] == ["float32", "float64", "int32"]
    rows = {(row["operator"], row["dtype"]): row for row in actual["operators"]}
    row = rows["exp", "float32"]
    for figures in filter(None, (row["in_cache"], row["out_of_cache"])):
        assert 0 < figures["team"] and 0 < figures["alone"] < 1000
    assert row["in_cache"] or row["out_of_cache"]


@pytest.mark.parametrize("name", ["MXNET_USE_OPERATOR_TUNING", "MXNET_ENABLE_OPERATOR_TUNING"])
def test_switched_off(home, name):
    actual = python(RUN, **{name: "0"}, **home).value
    assert actual["operators"] == [] and actual["measured_threads"] == [] and actual["types"] == []


def test_a_list_of_types(home):
    actual = python(RUN, MXNET_USE_OPERATOR_TUNING="float64, int32", **home).value
    assert actual["types"] == actual["types_measured"] == ["float64", "int32"]


def test_unknown_types_are_ignored_with_a_warning(home):
    done = python(RUN, MXNET_USE_OPERATOR_TUNING="float64,complex128", **home)
    assert "MXNET_USE_OPERATOR_TUNING: complex128 is ignored" in done.err
    assert done.value["types"] == ["float64"]


def test_parallel_size_is_a_threshold(home):
    sizes = "print(json.dumps([threads(n) for n in (999, 1000, 199999, 200000)]))"
    tuned_off = python(THREADS + sizes, MXNET_USE_OPERATOR_TUNING="0", **home).value
    assert tuned_off == [1, 1, 1, PARALLEL]
    moved = python(THREADS + sizes, MXNET_CPU_PARALLEL_SIZE="1000", **home).value
    assert moved == [1, PARALLEL, PARALLEL, PARALLEL]
    actual = python(RUN, MXNET_CPU_PARALLEL_SIZE="1000", **home).value
    assert actual["operators"] == [] and actual["parallel_size"] == 1000


def test_layers_use_the_team_from_an_amount_of_work_per_thread(home):
    """Layers are not measured; by the general threshold small ones would use one thread."""
    code = """
import json
from types import SimpleNamespace
from mxcy._base import dtypes
from mxcy._machine.tuning.tuner import Library, Tuner

def threads(team, work, capped):
    tuner = Tuner()
    tuner.plug(Library(lambda: team, None, None, None))
    call = SimpleNamespace(
        work=work, dtype=dtypes.CODES["float32"], op=SimpleNamespace(uses_rng=False)
    )
    return tuner.threads_for(call, SimpleNamespace(asks=True, capped=capped, tried=True), {})

cases = [(2, 16383, True), (2, 16384, True), (2, 16384, False), (8, 65535, True), (8, 65536, True)]
print(json.dumps([threads(*case) for case in [*cases, (64, 199999, True), (64, 200000, True)]]))
"""
    assert python(code, **home).value == [1, PARALLEL, 1, 1, PARALLEL, 1, PARALLEL]
    assert python(code, MXNET_CPU_PARALLEL_SIZE="200000", **home).value == [1] * 6 + [PARALLEL]


def test_one_core_never_pays(home):
    code = THREADS + "print(json.dumps([threads(n) for n in (100, 100000, 10000000)]))"
    assert python(code, MXNET_USE_NUM_CORES_OPERATOR_TUNING="1", **home).value == [1, 1, 1]
    actual = python(RUN, MXNET_USE_NUM_CORES_OPERATOR_TUNING="1", **home).value
    assert actual["region"] == "inf" and actual["operators"] == []


def test_regions_are_measured_up_to_a_number_of_cores(home):
    actual = python(RUN, MXNET_USE_NUM_CORES_OPERATOR_TUNING="4", **home).value
    assert actual["measured_threads"] == [2, 3, 4]


def test_weight_scale_moves_the_threshold(home, tmp_path):
    """Measurements come from a file, so that nothing depends on the machine."""
    python(RUN, **home)
    (path,) = (tmp_path / "op_tuning").iterdir()
    contents = json.loads(path.read_text())
    contents["regions"] = {"2": 1000.0}
    contents["rates"] = {"exp float32": RATES}
    path.write_text(json.dumps(contents))
    code = THREADS + "print(json.dumps([threads(n) for n in (5000, 20000, 100000)]))"
    assert python(code, **home).value == [1, PARALLEL, PARALLEL]
    assert python(code, MXNET_TUNING_WEIGHT_SCALE="5", **home).value == [1, 1, PARALLEL]
    assert python(code, MXNET_TUNING_WEIGHT_SCALE="0.001", **home).value == [1, PARALLEL, PARALLEL]


def test_cache(home, tmp_path):
    python(RUN, MXNET_OPERATOR_TUNING_CACHE="0", **home)
    assert not (tmp_path / "op_tuning").exists()
    actual = python(RUN, **home).value
    (path,) = (tmp_path / "op_tuning").iterdir()
    assert actual["file"] == str(path) and path.name.endswith("-2.json")
    assert json.loads(path.read_text())["threads"] == 2


def test_output_is_a_file_for_the_next_process(home, tmp_path):
    done = python(RUN, MXNET_OUTPUT_TUNING_DATA="1", MXNET_OPERATOR_TUNING_CACHE="0", **home)
    contents = done.value
    assert contents["threads"] == 2
    contents["regions"] = {"2": 7.0}  # less than any that is measured: the least counts
    known = {"add float32", "add float64", "add int32", "exp float32", *contents["rates"]}
    contents["rates"] = dict.fromkeys(known, RATES)
    path = python(RUN, **home).value["file"]
    with open(path, "w") as file:
        file.write(json.dumps(contents))
    done = python(RUN, MXNET_VERBOSE_TUNING_INFO="1", **home)
    assert done.value["region"] == "7.0"
    assert not any(f"tuning {key}," in done.err for key in known)


def test_malformed_files_are_ignored(home, tmp_path):
    path = python(RUN, **home).value["file"]
    for text in ("{", "[]", '{"rates": 3}', '{"regions": {"2": "long"}, "rates": {}}'):
        with open(path, "w") as file:
            file.write(text)
        assert python(RUN, **home).value["types_measured"] == ["float32", "float64", "int32"]


def test_verbose(home):
    lines = python(RUN, MXNET_VERBOSE_TUNING_INFO="1", **home).err.splitlines()
    assert any(line.startswith("mxcy tuning a region of 2 threads: ") for line in lines)
    starts = tuple(f"mxcy tuning exp float32, {where} cache: " for where in ("in", "out"))
    assert any(line.startswith(starts) for line in lines)
    assert all(" ms" in line or " ns" in line for line in lines)


def test_determinism_is_not_decided_by_time(home):
    actual = python(RUN, MXNET_ENFORCE_DETERMINISM="1", **home).value
    assert actual["operators"] == [] and actual["measured_threads"] == []


def test_eager_calls_and_plans_obey(home):
    """The first parallel operator adds the team's threads to the process."""
    code = """
import json, os
import mxcy as mx, numpy as np

def threads():
    return len(os.listdir("/proc/self/task"))

x = mx.nd.array(np.ones((100, 100)))
symbol = mx.sym.exp(mx.sym.var("x"))
executor = symbol.bind(mx.cpu(), {"x": x})
mx.nd.waitall()
before = threads()
(executor.forward()[0] if PLAN else mx.nd.exp(x)).wait_to_read()
print(json.dumps(threads() - before))
"""
    for plan in (False, True):
        run = code.replace("PLAN", str(plan))
        for size, more in (("9999", 1), ("10001", 0)):
            done = python(
                run, MXNET_CPU_PARALLEL_SIZE=size, MXNET_ENGINE_TYPE="NaiveEngine", **home
            )
            assert done.value == more


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("MXNET_USE_NUM_CORES_OPERATOR_TUNING", "many"),
        ("MXNET_TUNING_WEIGHT_SCALE", "-1"),
        ("MXNET_OUTPUT_TUNING_DATA", "yes"),
    ],
)
def test_bad_values(home, name, text):
    done = python(RUN, fails=True, **{name: text}, **home)
    assert "EnvError" in done.err and f"{name}='{text}'" in done.err
