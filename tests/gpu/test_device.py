"""GPU contexts on the stand-in: the tests in ``device/``, run in separate processes."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from tests.gpu.standin.build import build_driver
from tests.gpu.standin.seam import is_chosen

ROOT = Path(__file__).resolve().parents[2]

if find_spec("cupy") is None or find_spec("Cython") is None:
    reason = "CuPy and Cython are not installed; make test-gpu installs them"
    pytest.skip(reason, allow_module_level=True)


def run_tests(*arguments, **variables):
    """Run tests in a separate process on the stand-in; return its output."""
    paths = os.pathsep.join([str(ROOT), *(path for path in sys.path if path)])
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider", "-p", "no:xdist"]
        + list(arguments),
        env={
            **os.environ,
            "PYTHONPATH": paths,
            "MXCY_CUDA_DRIVER": str(build_driver()),
            **variables,
        },
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-8000:] + done.stderr[-2000:]
    return done.stdout


LONG = "tests/gpu/device/test_training.py"
SELECTIONS = {"arrays and operators": ["tests/gpu/device", f"--ignore={LONG}"], "training": [LONG]}


@pytest.mark.timeout(1800)
@pytest.mark.skipif(is_chosen(), reason="this process computes on the stand-in already")
@pytest.mark.parametrize("name", SELECTIONS)
def test_selection(name):
    variables = {"MXCY_STANDIN_DEVICES": "2", "MXCY_STANDIN_MEMORY": str(4 << 30)}
    printed = run_tests(*SELECTIONS[name], **variables)
    assert "passed" in printed
    assert "failed" not in printed
