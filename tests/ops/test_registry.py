"""Lazily loaded records."""

import json
import threading

import pytest

import mxcy as mx
from mxcy.ops.core import homes
from mxcy.ops.core.record import REGISTRY
from mxcy.ops.core.registry import Registry

PROGRAM = """
import sys, mxcy as mx
from mxcy.ops.core.record import REGISTRY, find
late = lambda: [m for m in sys.modules if m.startswith("mxcy.ops.") and ".numpy_" in m]
net = mx.gluon.nn.Dense(2)
net.initialize()
net(mx.nd.relu(mx.nd.ones((2, 3))) + 1)
print(len(late()), any(m.startswith("mxcy.numpy.") for m in sys.modules))
print(find("_npi_add").name, len(late()) > 20, "_npi_sum" in REGISTRY)
"""


RARE = """
import sys, mxcy as mx
came = lambda: any(m.startswith("mxcy.ops.detection.") for m in sys.modules)
print(came(), mx.nd.sparse.dispatch.__name__, came(), callable(mx.{name}), came())
"""


@pytest.mark.parametrize(
    "name",
    [
        "nd.contrib.box_nms",
        "nd.ROIPooling",
        "nd.image.resize",
        "sym.contrib.interleaved_matmul_selfatt_qk",
        "sym.op.Correlation",
        "npx.roi_pooling",
    ],
)
def test_rare_families_are_loaded_lazily(name, run_python):
    said = run_python(RARE.replace("{name}", name)).split()
    assert said == ["False", "mxcy.ndarray.sparse.dispatch", "False", "True", "True"]


def test_numpy_records_are_loaded_together_lazily(run_python):
    printed = run_python(PROGRAM, MXCY_MXNET=None)
    assert printed.splitlines() == ["0 False", "_npi_add True True"]


@pytest.mark.parametrize(
    "code",
    [
        "mx.sym.load_json(open('symbol.json').read()).list_arguments()",
        "mx.operator.get_all_registered_operators().index('_npi_add')",
        "mx.np.ones(2).sum().item()",
        "dict(REGISTRY)['_npi_add'], {**REGISTRY}['_npi_add'], [*REGISTRY].index('_npi_add')",
    ],
)
def test_every_way_to_them(run_python, tmp_path, code):
    nodes = [
        {"op": "null", "name": "x", "inputs": []},
        {"op": "_npi_exp", "name": "y", "inputs": [[0, 0, 0]]},
    ]
    graph = {"nodes": nodes, "arg_nodes": [0], "heads": [[1, 0, 0]]}
    (tmp_path / "symbol.json").write_text(json.dumps(graph), encoding="utf-8")
    run_python(f"import mxcy as mx\nfrom mxcy.ops.core.record import REGISTRY\nprint({code})")


def test_records_registered_late_are_internal():
    """`homes.registered`, which users' lookups call, does not load them."""
    assert mx.nd.relu is not None
    late = [name for name in REGISTRY if name.startswith(("_np", "_mx_", "_backward_np"))]
    assert len(late) > 200
    assert {homes.home(name)[0] for name in late} <= {None, homes.INTERNAL}


def test_threads_wait_for_the_loading():
    registry, begun, may_end = Registry(), threading.Event(), threading.Event()
    registry["early"] = 1

    def load():
        assert "other" not in registry  # loading itself sees the records so far
        begun.set()
        may_end.wait(60)
        registry["late"] = 2

    registry.load_rest = load
    assert registry["early"] == 1 and registry.known("late") is None and not begun.is_set()
    collected = []
    threads = [
        threading.Thread(target=lambda: collected.append(registry["late"])) for _ in range(3)
    ]
    for thread in threads:
        thread.start()
    assert begun.wait(60)
    may_end.set()
    for thread in threads:
        thread.join(60)
    assert collected == [2, 2, 2] and sorted(registry) == ["early", "late"] and len(registry) == 2
    assert registry.get("none") is None and registry.get("none", 3) == 3
    with pytest.raises(KeyError, match="none"):
        registry["none"]


def test_a_failure_of_the_loading_is_not_forgotten():
    registry = Registry()

    def load():
        raise ImportError("a module is broken")

    registry.load_rest = load
    for _ in range(2):
        with pytest.raises(ImportError, match="broken"):
            registry["late"]


def test_a_module_of_late_records_may_be_imported_first(run_python):
    code = "from mxcy.ops.matrix import numpy_factor\nimport mxcy as mx\nprint(mx.np.ones(2).sum())"
    assert run_python(code).strip() == "2.0"
