"""Finding and opening oneDNN, its cache of primitives; everything works without it."""

import sys

import pytest

from mxcy import env, libinfo
from mxcy._library import onednn

needs_onednn = pytest.mark.skipif(onednn.version() is None, reason="oneDNN is not installed")


@pytest.fixture
def variables(monkeypatch):
    """A function that sets variables for a fresh environment table."""

    def use(**texts):
        table = env.Environment(texts)
        monkeypatch.setattr(onednn.env, "get", table.get)
        monkeypatch.setattr(onednn.env, "is_set", table.is_set)

    use()
    return use


def test_search_order(variables, monkeypatch, tmp_path):
    prefix, packages = tmp_path / "prefix", tmp_path / "venv" / "python" / "site-packages"
    monkeypatch.setattr(sys, "prefix", str(prefix))
    monkeypatch.setattr(onednn.site, "USER_BASE", None)
    monkeypatch.setattr(sys, "path", ["", str(packages)])
    expected = []
    for folder in (packages / "paddle" / "libs", prefix / "lib", tmp_path / "venv"):
        assert onednn.find_libraries() == expected
        folder.mkdir(parents=True, exist_ok=True)
        packages.mkdir(parents=True, exist_ok=True)
        path = folder / "libdnnl.so.3"
        path.touch()
        expected.insert(0, str(path))
    assert onednn.find_libraries() == expected
    variables(MXCY_ONEDNN_LIBRARY=expected[1])
    assert onednn.find_libraries() == [expected[1]]
    variables(MXNET_ONEDNN_ENABLED="0")
    assert onednn.find_libraries() == []
    variables(MXNET_ONEDNN_ENABLED="0")
    assert onednn.find_libraries() == []


def test_named_file_must_exist(variables, tmp_path):
    variables(MXCY_ONEDNN_LIBRARY=str(tmp_path / "none.so"))
    with pytest.raises(env.EnvError, match="MXCY_ONEDNN_LIBRARY.*file not found"):
        onednn.find_libraries()


@pytest.mark.parametrize("library", ("text", "another library"))
def test_named_file_must_be_onednn(run_python, tmp_path, library):
    path = tmp_path / "other.so"
    if library == "text":
        path.write_text("not a library")
    else:
        path.symlink_to(libinfo.find_lib_path()[0])
    text = run_python(
        "import mxcy", fails=True, MXCY_ONEDNN_LIBRARY=str(path), MXNET_ONEDNN_ENABLED="1"
    )
    assert "EnvError" in text and f"MXCY_ONEDNN_LIBRARY={path} cannot be used" in text


@needs_onednn
def test_opened_by_the_first_look(run_python):
    code = """
from pathlib import Path
import mxcy as mx
from mxcy._library import front
mapped = lambda: "libdnnl" in Path("/proc/self/maps").read_text()
mx.nd.ones((3, 4)) + 1
print(mapped(), front.has_kernel("conv_onednn", 0), mapped())
"""
    assert run_python(code, MXCY_ONEDNN_LIBRARY=None).split() == ["False", "True", "True"]


@needs_onednn
def test_switched_off(run_python):
    code = """
import mxcy as mx
from mxcy._library import front, onednn
print(front.has_kernel("conv_onednn", 0), onednn.version())
"""
    assert run_python(code, MXNET_ONEDNN_ENABLED="0").split() == ["False", "None"]


@needs_onednn
def test_version():
    major, *_ = onednn.version().split(".")
    assert major == "3"


@needs_onednn
@pytest.mark.parametrize("most", (0, 4, -1))
def test_cache_limit(run_python, most):
    code = f"""
from mxcy._library import onednn
from tests.ops.convolution.test_onednn_conv import PROBLEMS, Problem
for height in range(8, 20):
    PROBLEMS["grown"] = ((1, 16, height, 8), 16, (3, 3), {{}})
    case = Problem("grown")
    case.pack()
    case.check(case.run())
    case.check(case.run())
stats = onednn.cache_stats()
assert stats["hits"] > 0 if {most} else stats["hits"] == 0, stats
if {most} < 0:
    assert stats["entries"] > 12 and stats["evictions"] == 0, stats
else:
    assert stats["entries"] == stats["capacity"] == {most}, stats
assert stats["bytes"] <= 256 << 20
"""
    run_python(code, MXNET_ONEDNN_CACHE_NUM=str(most))


@needs_onednn
@pytest.mark.parametrize("plain", (False, True))
def test_dense_weights_stay_plain_on_demand(run_python, plain):
    code = """
import mxcy as mx
data = mx.sym.var("data")
net = mx.sym.FullyConnected(data, num_hidden=256, name="dense")
run = net.simple_bind(mx.cpu(), data=(8, 512), grad_req="null")
for array in run.arg_arrays:
    array[:] = 0.5
print(run.forward()[0].asnumpy().mean())
"""
    text = run_python(
        code, MXNET_ONEDNN_FORCE_FC_AB_FORMAT=str(int(plain)), MXCY_VERBOSE="dispatch"
    )
    assert text.splitlines()[-1] == str(512 * 0.25 + 0.5)
    assert ("_pack\n" in text) != plain


@needs_onednn
def test_few_rows_of_a_dense_layer(run_python):
    code = """
import mxcy as mx
for rows in (1, 3, 9):
    out = mx.nd.FullyConnected(
        mx.nd.ones((rows, 300)), mx.nd.ones((256, 300)), mx.nd.ones(256), num_hidden=256
    )
    assert (out.asnumpy() == 301).all()
"""
    lines = run_python(code, MXCY_VERBOSE="dispatch").splitlines()
    chosen = [line.split("-> ")[1].split()[0] for line in lines if " FullyConnected " in line]
    assert chosen == ["fully_connected", "fc_onednn_plain", "fully_connected"]


@needs_onednn
def test_threads_share_a_small_cache(run_python):
    code = """
from concurrent.futures import ThreadPoolExecutor
from mxcy._library import onednn
from tests.ops.convolution.test_onednn_conv import Problem
names = ("square", "plain", "depthwise", "groups", "pointwise", "dilated") * 4
def work(name):
    case = Problem(name, act=1)
    case.pack()
    for _ in range(5):
        case.check(case.run())
with ThreadPoolExecutor(6) as pool:
    list(pool.map(work, names))
assert onednn.cache_stats()["entries"] == 2
"""
    run_python(code, MXNET_ONEDNN_CACHE_NUM="2")
