"""The table of environment variables: parsing, errors, read times, aliases, the report."""

import importlib
import inspect
import os
import subprocess
import sys
import warnings

import pytest

from mxcy import base, env
from mxcy.base import MXNetError

OTHERS = ("oneDNN", "OpenMP")  # libraries that read variables themselves


def value_of(name, text):
    return env.Environment({name: text}).get(name)


@pytest.mark.parametrize("name", env.VARIABLES)
def test_unset_and_empty_both_mean_the_default(name):
    default = env.VARIABLES[name].default
    assert env.Environment({}).get(name) == default
    assert value_of(name, "") == default


@pytest.mark.parametrize("name", env.VARIABLES)
def test_rows_are_documented(name):
    row = env.VARIABLES[name]
    assert row.doc.endswith(".") and row.when in "IFC"
    assert row.reader.startswith("mxcy") or row.reader in OTHERS
    assert row.kind.accepts


@pytest.mark.parametrize(
    ("name", "text", "value"),
    [
        ("MXNET_ENABLE_CYTHON", "0", False),
        ("MXNET_ENABLE_CYTHON", "TRUE", True),
        ("MXNET_SAFE_ACCUMULATION", " false ", False),
        ("MXNET_CPU_PARALLEL_SIZE", " +12 ", 12),
        ("OMP_NUM_THREADS", "4,2", 4),
        ("MXNET_ENGINE_TYPE", "NaiveEngine", "NaiveEngine"),
        ("MXNET_ENGINE_TYPE", "ThreadedEngineAsync", "ThreadedEngineAsync"),
        ("MXCY_VERBOSE", "dispatch", frozenset({"dispatch"})),
        ("MXNET_HOME", "/data/mx", "/data/mx"),
        ("MXNET_HOME", "~", os.path.expanduser("~")),
        ("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "34", 34),
    ],
)
def test_accepted_values(name, text, value):
    assert value_of(name, text) == value


@pytest.mark.parametrize(
    ("name", "text", "expectation"),
    [
        ("MXNET_ENABLE_CYTHON", "yes", "0, 1, true or false"),
        ("MXNET_CPU_PARALLEL_SIZE", "1e6", "an integer, 0 or more"),
        ("MXNET_CPU_PARALLEL_SIZE", "-1", "an integer, 0 or more"),
        ("OMP_NUM_THREADS", "0", "1 or more"),
        ("OMP_NUM_THREADS", "4,,2", "1 or more"),
        ("MXNET_ENGINE_TYPE", "naiveengine", "NaiveEngine"),
        ("MXNET_CPU_MEM_POOL_TYPE", "foo", "one of Naive, Round, Unpooled"),
        ("MXNET_CPU_MEM_POOL_ROUND_LINEAR_CUTOFF", "40", "20 to 34"),
        ("MXNET_CPU_MEM_POOL_PAGE_SIZE", "7", "32 or more"),
        ("MXCY_VERBOSE", "dispatch,kitchen", "a comma list of dispatch"),
        ("MXCY_ISA", "v5", "one of v2, v3, v4"),
    ],
)
def test_bad_values_name_variable_value_and_choices(name, text, expectation):
    with pytest.raises(MXNetError) as caught:
        value_of(name, text)
    assert isinstance(caught.value, ValueError)
    for part in (name, text, expectation):
        assert part in str(caught.value)


def test_a_name_outside_the_table_cannot_be_read():
    with pytest.raises(KeyError):
        env.get("MXNET_NO_SUCH_VARIABLE")


def test_read_times():
    source = {"MXNET_CPU_PARALLEL_SIZE": "10", "MXNET_HOME": "/a"}
    variables = env.Environment(source)
    assert variables.get("MXNET_CPU_PARALLEL_SIZE") == 10
    assert variables.get("MXNET_HOME") == "/a"
    source.update({"MXNET_CPU_PARALLEL_SIZE": "20", "MXNET_HOME": "/b"})
    assert variables.get("MXNET_CPU_PARALLEL_SIZE") == 10  # fixed at first use
    assert variables.get("MXNET_HOME") == "/b"  # read at each use


def test_import_time_variables_are_read_together():
    source = {"MXCY_ISA": "v2"}
    variables = env.Environment(source)
    variables.read_import_time()
    source["MXCY_ISA"] = "v3"
    assert variables.get("MXCY_ISA") == "v2"
    with pytest.raises(env.EnvError, match="MXCY_ISA"):
        env.Environment({"MXCY_ISA": "9"}).read_import_time()


@pytest.mark.parametrize(
    "row", [row for row in env.VARIABLES.values() if row.aliases], ids=lambda row: row.name
)
def test_aliases(row):
    alias, text, other = row.aliases[0], "1", "0"
    if row.name.endswith("_MEM_POOL_PAGE_SIZE"):
        text, other = "64", "128"
    expected = row.parse(text)
    with pytest.warns(UserWarning, match=f"{alias} is an old name of {row.name}") as caught:
        old = env.Environment({alias: text})
        assert old.get(row.name) == old.get(row.name) == expected
    assert len(caught) == 1
    assert env.Environment({alias: text, row.name: text}).get(row.name) == expected
    with pytest.warns(
        UserWarning, match=f"{row.name}={text} takes precedence over {alias}={other}"
    ):
        assert env.Environment({alias: other, row.name: text}).get(row.name) == expected


def test_an_alias_is_named_in_its_error():
    wrong = pytest.raises(env.EnvError, match="MXNET_MKLDNN_ENABLED='maybe'")
    with wrong, pytest.warns(UserWarning, match="old name"):
        env.Environment({"MXNET_MKLDNN_ENABLED": "maybe"}).get("MXNET_ONEDNN_ENABLED")


def test_names_are_unique():
    names = [name for row in env.VARIABLES.values() for name in (row.name, *row.aliases)]
    assert len(set(names)) == len(names)


def test_team_size_has_an_upper_bound():
    variables = env.Environment({"OMP_NUM_THREADS": "8", "MXNET_OMP_MAX_THREADS": "3"})
    assert variables.omp_threads() == 3
    assert (
        env.Environment({"OMP_NUM_THREADS": "2", "MXNET_OMP_MAX_THREADS": "3"}).omp_threads() == 2
    )


def test_a_value_that_does_nothing_warns_once_and_is_reported():
    variables = env.Environment({"MXNET_TENSORRT_USE_FP16": "0"})
    with pytest.warns(UserWarning, match="MXNET_TENSORRT_USE_FP16 has no effect") as caught:
        variables.read_import_time()
    assert len(caught) == 1
    (entry,) = (e for e in variables.report() if e["name"] == "MXNET_TENSORRT_USE_FP16")
    assert entry["status"] == "inert" and "TensorRT" in entry["why"]
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        env.Environment({"MXNET_TENSORRT_USE_FP16": "1"}).read_import_time()
        env.Environment({"CUDA_VISIBLE_DEVICES": "1"}).read_import_time()  # only a suggestion


@pytest.mark.parametrize(
    "name",
    [r.name for r in env.VARIABLES.values() if not r.always_inert and r.reader not in OTHERS],
)
def test_the_reader_of_a_variable_reads_it(name):
    reader = importlib.import_module(env.VARIABLES[name].reader)
    assert f'"{name}"' in inspect.getsource(reader)


def test_data_dir(monkeypatch):
    monkeypatch.setenv("MXNET_HOME", "/data/mx")
    assert base.data_dir() == "/data/mx"
    monkeypatch.delenv("MXNET_HOME")
    assert base.data_dir() == base.data_dir_default() == os.path.expanduser("~/.mxnet")


def test_report():
    source = {"MXNET_CPU_PARALLEL_SIZE": "10", "MXNET_MKLDNN_ENABLED": "0", "MXCY_ISA": "?"}
    variables = env.Environment(source)
    variables.get("MXNET_CPU_PARALLEL_SIZE")
    source["MXNET_CPU_PARALLEL_SIZE"] = "20"
    entries = {entry["name"]: entry for entry in variables.report()}
    assert entries.keys() == env.VARIABLES.keys()
    size = entries["MXNET_CPU_PARALLEL_SIZE"]
    assert (size["status"], size["value"], size["read_already"]) == ("late", 10, True)
    onednn = entries["MXNET_ONEDNN_ENABLED"]
    assert (onednn["status"], onednn["value"]) == ("active", False)
    assert "MXNET_MKLDNN_ENABLED" in onednn["why"]
    assert entries["MXCY_ISA"]["status"] == "bad" and "v2, v3, v4" in entries["MXCY_ISA"]["why"]
    assert entries["MXNET_HOME"]["status"] == "default"


def test_setting_and_removing_a_text(monkeypatch):
    monkeypatch.setenv("MXNET_HOME", "/old")
    env.set_raw("MXNET_HOME", "/new")
    assert env.raw("MXNET_HOME") == "/new" and env.get("MXNET_HOME") == "/new"
    env.set_raw("MXNET_HOME", None)
    assert env.raw("MXNET_HOME") is None


def test_the_process_table_prints(tmp_path):
    environment = {**os.environ, "MXNET_CPU_PARALLEL_SIZE": "77"}
    command = [sys.executable, "-W", "ignore", "-m", "mxcy.env"]
    printed = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    assert "MXNET_CPU_PARALLEL_SIZE = 77  (active" in printed.stdout


def test_unknown_names_warn_once_with_the_nearest_name():
    variables = env.Environment({"MXNET_ENGINE_TYP": "NaiveEngine", "MXCY_NONSENSE_XYZ": "1"})
    with pytest.warns(UserWarning) as caught:
        variables.read_import_time()
        variables.notice("MXNET_ENGINE_TYP")
    texts = sorted(str(warning.message) for warning in caught)
    assert texts[0].startswith("mxcy knows no environment variable MXCY_NONSENSE_XYZ")
    assert texts[1].endswith("MXNET_ENGINE_TYP; did you mean MXNET_ENGINE_TYPE?")
    assert len(texts) == 2


@pytest.mark.parametrize("name", ["MXNET_ENGINE_TYP", "MXNET_SAFE_ACCUMULATIO"])
def test_strict_turns_warnings_into_errors(name):
    variables = env.Environment({name: "1", "MXNET_ENV_STRICT": "1"})
    with pytest.raises(env.EnvError, match=f"no environment variable {name}; did you mean"):
        variables.read_import_time()


def test_problems_are_all_named():
    variables = env.Environment({"MXNET_NOT_THERE": "1", "MXCY_ISA": "v9", "MXNET_HOME": "/a"})
    unknown, bad = variables.problems()
    assert "MXNET_NOT_THERE" in unknown and "MXCY_ISA='v9'" in bad
    assert env.Environment({"MXNET_HOME": "/a"}).problems() == []


def test_superseded_variables_are_reported():
    source = {"MXNET_CPU_MEM_POOL_TYPE": "Round", "MXNET_USE_NAIVE_STORAGE_MANAGERS": "1"}
    entries = {entry["name"]: entry for entry in env.Environment(source).report()}
    entry = entries["MXNET_CPU_MEM_POOL_TYPE"]
    assert entry["status"] == "superseded"
    assert entry["why"] == "MXNET_USE_NAIVE_STORAGE_MANAGERS decides"
