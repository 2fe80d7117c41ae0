"""`python -m mxcy.compat` runs programs as Python does, but on mxcy."""

import json
import subprocess
import sys
import zipfile

import pytest

from tests.env.run import ROOT, python

#: a program that prints its environment
SCRIPT = """
import json, sys, os
import mxnet as mx
from mxnet import gluon
print(json.dumps({
    "package": mx.__name__, "version": mx.__version__, "argv": sys.argv, "path": sys.path[0],
    "main": sys.modules["__main__"].__dict__ is globals(), "name": __name__, "file": __file__,
    "package_name": __package__, "spec": __spec__ and __spec__.name,
    "same": gluon is mx.gluon, "sum": float(mx.nd.ones((2, 3)).sum().asscalar()),
}))
"""


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "job").mkdir()
    (tmp_path / "job" / "script.py").write_text(SCRIPT)
    (tmp_path / "job" / "helper.py").write_text("import mxnet.ndarray\nvalue = 3\n")
    return tmp_path


def compat(*arguments, **settings):
    return python("-m", "mxcy.compat", *arguments, **settings)


def test_script(folder):
    seen = compat("job/script.py", "--lr", "0.1", "-m", "--replace", cwd=folder).value
    assert seen == {
        "package": "mxcy",
        "version": "1.9.1",
        "path": str(folder / "job"),
        "main": True,
        "argv": ["job/script.py", "--lr", "0.1", "-m", "--replace"],
        "name": "__main__",
        "file": str(folder / "job" / "script.py"),
        "package_name": None,
        "spec": None,
        "same": True,
        "sum": 6.0,
    }


def test_script_sees_what_python_shows_it(folder):
    (folder / "job" / "plain.py").write_text(
        "import json, sys, helper\n"
        "shown = {k: repr(v) for k, v in sorted(globals().items()) if k.startswith('__')}\n"
        "for name in ('__annotations__', '__builtins__', '__loader__'): shown.pop(name, 0)\n"
        "print(json.dumps([shown, sys.argv, sys.path[0], __loader__.name, helper.value]))\n"
    )
    with_mxcy = compat("job/plain.py", "a b", cwd=folder).value
    (folder / "job" / "helper.py").write_text("value = 3\n")
    done = subprocess.run(
        [sys.executable, "job/plain.py", "a b"], cwd=folder, capture_output=True, check=True
    )
    assert with_mxcy == json.loads(done.stdout)


def test_module(folder):
    (folder / "job" / "__init__.py").write_text("")
    seen = compat("-m", "job.script", "-x", cwd=folder).value
    assert seen["argv"] == [str(folder / "job" / "script.py"), "-x"]
    assert seen["spec"] == "job.script" and seen["package_name"] == "job"
    assert seen["path"] == str(folder) and seen["package"] == "mxcy" and seen["main"]


def test_package_with_main(folder):
    (folder / "job" / "__init__.py").write_text("")
    (folder / "job" / "__main__.py").write_text(SCRIPT)
    assert compat("-m", "job", cwd=folder).value["spec"] == "job.__main__"
    assert compat("job", cwd=folder).value["path"] == "job"


def test_module_of_mxnet(folder):
    assert "MXNET_ENGINE_TYPE" in compat("-m", "mxnet.env", cwd=folder).out


def test_archive(folder):
    with zipfile.ZipFile(folder / "job.zip", "w") as archive:
        archive.writestr("__main__.py", SCRIPT)
    assert compat("job.zip", "1", cwd=folder).value["argv"] == ["job.zip", "1"]


def test_version_of_mxnet(folder):
    assert (
        compat("--mxnet-version", "1.5.0", "job/script.py", cwd=folder).value["version"] == "1.5.0"
    )


FAILING = """
import helper

def inner():
    raise ValueError("wrong")

inner()
"""


def test_tracebacks_are_those_of_python(folder):
    (folder / "job" / "helper.py").write_text("")
    (folder / "job" / "failing.py").write_text(FAILING)
    (folder / "job" / "broken.py").write_text("x = (\n")
    (folder / "job" / "chained.py").write_text("try:\n  1 / 0\nexcept Exception:\n  int('x')\n")
    for script in ("failing", "broken", "chained"):
        ours = compat(f"job/{script}.py", cwd=folder, fails=True).err
        plain = subprocess.run(
            [sys.executable, f"job/{script}.py"], cwd=folder, capture_output=True, text=True
        )
        assert ours == plain.stderr


def test_status_of_the_program(folder):
    (folder / "exits.py").write_text("import sys\nsys.exit(7)\n")
    done = subprocess.run(
        [sys.executable, "-m", "mxcy.compat", str(folder / "exits.py")], capture_output=True
    )
    assert done.returncode == 7
    (folder / "stops.py").write_text("raise KeyboardInterrupt\n")
    done = subprocess.run(
        [sys.executable, "-m", "mxcy.compat", str(folder / "stops.py")], capture_output=True
    )
    assert done.returncode == 130 and done.stderr.endswith(b"KeyboardInterrupt\n")


def test_missing_programs(folder):
    assert "No such file" in compat("nothing.py", cwd=folder, fails=True).err
    assert "No module named nothing" in compat("-m", "nothing", cwd=folder, fails=True).err
    assert "usage: python -m mxcy.compat" in compat(cwd=folder, fails=True).err


def test_a_real_mxnet_is_replaced_only_when_asked(folder):
    (folder / "mxnet").mkdir()
    (folder / "mxnet" / "__init__.py").write_text("__version__ = 'real'\n")
    refused = compat("job/script.py", cwd=folder, fails=True).err
    assert "--replace" in refused and str(folder / "mxnet" / "__init__.py") in refused
    assert compat("--replace", "job/script.py", cwd=folder).value["package"] == "mxcy"


def test_processes_of_a_loader(folder):
    (folder / "job" / "loads.py").write_text(
        "import mxnet as mx\n"
        "class Data(mx.gluon.data.Dataset):\n"
        "    def __len__(self): return 6\n"
        "    def __getitem__(self, index): return mx.nd.full((2,), index)\n"
        "if __name__ == '__main__':\n"
        "    loader = mx.gluon.data.DataLoader(Data(), 3, num_workers=1)\n"
        "    print([float(batch.sum().asscalar()) for batch in loader])\n"
    )
    assert compat("job/loads.py", cwd=folder).value == [6.0, 24.0]


SPAWNING = """
import multiprocessing, sys
import mxnet as mx
from mxnet import gluon

class Task:
    def __call__(self, number):
        return mx.__name__, gluon is mx.gluon, float(mx.nd.full((2,), number).sum().asscalar())

if __name__ == "__main__":
    import json
    with multiprocessing.get_context(sys.argv[1]).Pool(1) as pool:
        print(json.dumps(pool.map(Task(), [3])))
"""


@pytest.mark.parametrize("options", [[], ["--replace"]])
@pytest.mark.parametrize("method", ["spawn", "forkserver"])
def test_processes_that_are_started_anew(folder, method, options):
    (folder / "spawns.py").write_text(SPAWNING)
    if options:
        (folder / "real" / "mxnet").mkdir(parents=True)
        (folder / "real" / "mxnet" / "__init__.py").write_text("__version__ = 'real'\n")
    path = f"{ROOT}:{folder / 'real'}"
    run = compat(*options, "spawns.py", method, cwd=folder, PYTHONPATH=path)
    assert run.value == [["mxcy", True, 6.0]]


OLD = """
import multiprocessing, mxnet
import numpy as np
print(np.zeros(2, np.float).dtype, np.product([2, 3]), np.asscalar(np.ones(1, np.int)))
print(np.asfarray([1, 2]).dtype, np.array(["a"], np.object)[0], multiprocessing.pool.__name__)
"""


def test_old_names_of_numpy(tmp_path):
    script = tmp_path / "old.py"
    script.write_text(OLD)
    done = compat("--old-numpy", script)
    assert done.out.split() == ["float64", "6", "1", "float64", "a", "multiprocessing.pool"]
    assert "has no attribute 'float'" in compat(script, fails=True).err
