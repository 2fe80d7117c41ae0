"""Generated files are what their generators write."""

import ast
import subprocess
import sys
from pathlib import Path

import pytest

import mxcy as mx
from mxcy.ops.core import params

ROOT = Path(__file__).resolve().parents[1]
needs_sources = pytest.mark.skipif(
    not (ROOT / "tools").is_dir(), reason="the sources are not beside the tests"
)


@needs_sources
@pytest.mark.parametrize("tool", ["params", "stubs"])
def test_files_are_fresh(tool):
    """In a separate process, as operator functions change once called."""
    command = [sys.executable, "-m", f"tools.{tool}"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, timeout=100)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")


def stub(module):
    """The names that a module's stub offers, with the function behind each one, or None."""
    path = Path(module.__file__).with_suffix(".pyi")
    offered = {}
    for node in ast.parse(path.read_text()).body:
        if isinstance(node, ast.FunctionDef):
            offered[node.name] = node
        elif isinstance(node, ast.ImportFrom):
            offered.update((alias.asname, None) for alias in node.names if alias.asname)
    return offered


@pytest.mark.parametrize("package", [mx.nd, mx.sym], ids=["nd", "sym"])
@pytest.mark.parametrize("name", ["op", "contrib", "image", "linalg", "random", "sparse"])
def test_stubs_offer_every_operator(package, name):
    module = getattr(package, name)
    operators = {n for n in dir(module) if hasattr(getattr(module, n), "__mx_params__")}
    assert operators <= {*stub(module), "Custom"}
    assert name != "op" or operators <= stub(package).keys()


def test_stubs_have_the_parameters_of_the_record():
    parameters = stub(mx.nd.op)["FullyConnected"].args
    names = [parameter.arg for parameter in parameters.args]
    assert names == ["data", "weight", "bias", "num_hidden", "no_bias", "flatten", "out", "name"]
    texts = [ast.unparse(default) for default in parameters.defaults]
    assert texts == ["None", "...", "False", "True", "None", "None"]
    assert ast.unparse(parameters.args[3].annotation) == "int"


def test_struct_packs_like_c():
    layout = params.Params(
        "test", "layout_of_a_test", "doc", flag="i32", extents="i64[3]", scale="f64"
    )
    del params.STRUCTS["layout_of_a_test"]
    assert layout.offsets == {"flag": 0, "extents": 8, "scale": 32}
    assert len(layout.pack(flag=1, extents=(2, 3), scale=0.5)) == 40
    with pytest.raises(ValueError, match="extents holds 3"):
        layout.pack(flag=1, extents=(1, 2, 3, 4), scale=0)
    with pytest.raises(TypeError, match="no field colour"):
        layout.pack(flag=1, extents=(), scale=0, colour=3)
