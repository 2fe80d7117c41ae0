"""Caches with arbitrary content: ignored, reported once, and replaced."""

import json
import logging
from pathlib import Path

import pytest

import mxcy as mx
from mxcy._base import cache_files
from mxcy._execute import trials
from mxcy._machine.tuning.table import Table

GOOD_ALGORITHMS = {"4/8/2": {"conv": ["conv_blocked", 0]}}
BAD = {
    "empty": b"",
    "truncated": b'{"4/8/2": {"conv": ["conv_bl',
    "another type": b'{"a": 5}',
    "a list": b"[1, 2]",
    "a number": b"17",
    "nested without end": b"[" * 100_000,
    "dicts without end": b'{"a":' * 100_000,
    "no text": bytes(range(256)),
    "a long number": b'{"a": ' + b"9" * 5000 + b"}",
    "wrong entries": b'{"4/8/2": {"conv": [1, 2]}}',
    "short entries": b'{"4/8/2": {"conv": []}}',
    "other entries": b'{"4/8/2": {"conv": null}}',
    "huge": b" " * (2**26 + 2) + b"{}",
}
BAD_TABLES = {
    "wrong regions": {"regions": {"a": 1}},
    "regions of other digits": {"regions": {"²": 1}},
    "long regions": {"regions": {"9" * 5000: 1}},
    "no regions": {"regions": None},
    "infinite costs": {"regions": {"2": float("inf")}},
    "costs beyond floats": {"regions": {"2": 10**400}},
    "negative costs": {"regions": {"2": -1}},
    "rates of texts": {"rates": {"exp float32": {"in": ["1", "2", "3"]}}},
    "two rates": {"rates": {"exp float32": {"in": [1, 2]}}},
    "rates of another place": {"rates": {"exp float32": {"on": [1, 2, 3]}}},
    "rates in a list": {"rates": {"exp float32": [1, 2, 3]}},
}


@pytest.fixture(autouse=True)
def fresh(monkeypatch, tmp_path):
    monkeypatch.setenv("MXNET_HOME", str(tmp_path))
    monkeypatch.setattr(trials, "_read", {})
    monkeypatch.setattr(trials, "_saved", {})
    monkeypatch.setattr(cache_files, "_warned", set())


def written(path, content):
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_bytes(content)
    return path


def told(caplog):
    return [r.getMessage() for r in caplog.records if r.name == "mxcy"]


def network():
    """Binds a convolution, which needs the cache of algorithms."""
    x = mx.sym.Convolution(mx.sym.var("data"), kernel=(3, 3), num_filter=16, name="conv")
    bound = mx.sym.Activation(x, act_type="relu").simple_bind(
        mx.cpu(), data=(1, 16, 8, 8), grad_req="null"
    )
    return bound.forward()[0].asnumpy()


@pytest.mark.parametrize("content", BAD.values(), ids=BAD)
def test_algorithms(tmp_path, caplog, content):
    path = written(tmp_path / "mxcy" / "algorithms.json", content)
    with caplog.at_level(logging.WARNING, "mxcy"):
        network()
        network()
    assert len(told(caplog)) == 1 and "algorithms.json cannot be used" in told(caplog)[0]
    assert trials._well_formed(json.loads(path.read_bytes()))
    trials._read.clear()
    cache_files._warned.clear()
    caplog.clear()
    network()
    assert not told(caplog)


def test_good_algorithms_stay(tmp_path, caplog):
    path = written(tmp_path / "mxcy" / "algorithms.json", json.dumps(GOOD_ALGORITHMS).encode())
    trials.memory()["more"] = ["conv_onednn", 0]
    trials.save()
    actual = json.loads(path.read_text())
    assert GOOD_ALGORITHMS.items() <= actual.items() or "more" in actual["4/8/2"]
    assert sum(map(len, actual.values())) == 2 and not told(caplog)


def test_algorithms_of_other_processes_stay(tmp_path):
    own = trials.memory()
    path = written(tmp_path / "mxcy" / "algorithms.json", json.dumps(GOOD_ALGORITHMS).encode())
    own["more"] = ["conv_onednn", 0]
    trials.save()
    actual = json.loads(path.read_text())
    assert actual[trials._signature()]["more"] == ["conv_onednn", 0]
    for signature, winners in GOOD_ALGORITHMS.items():
        assert winners.items() <= actual[signature].items()


def test_unavailable_winners_are_measured_again(tmp_path):
    network()
    memory = trials.memory()
    for key in memory:
        memory[key] = ["conv_of_another_version", 7]
    network()
    assert all(won != ["conv_of_another_version", 7] for won in trials.memory().values())


@pytest.mark.parametrize("content", [*BAD.values(), *BAD_TABLES.values()], ids=[*BAD, *BAD_TABLES])
def test_tuning(caplog, content):
    good = Table(2, persistent=True)
    if isinstance(content, dict):
        content = json.dumps({**good.contents(), **content}).encode()
    path = written(Path(good.path), content)
    with caplog.at_level(logging.WARNING, "mxcy"):
        table = Table(2, persistent=True)
        Table(2, persistent=True)
    assert table.regions == {} and table.rates == {}
    assert len(told(caplog)) == 1 and "cannot be used and will be replaced" in told(caplog)[0]
    table.save()
    assert json.loads(path.read_text())["threads"] == 2
    cache_files._warned.clear()
    caplog.clear()
    Table(2, persistent=True)
    assert not told(caplog)
