"""CPUs with fewer instructions than this one: an emulator stops at each that they lack."""

import json
import os
import platform
import shutil
import subprocess
import sys

import numpy as np
import pytest

from tests.env.run import ROOT, python

EMULATOR = shutil.which("qemu-x86_64")
pytestmark = [
    pytest.mark.skipif(platform.machine() != "x86_64", reason="the levels are those of x86-64"),
    pytest.mark.skipif(EMULATOR is None, reason="there is no qemu-x86_64"),
]

_PROGRAM = """
import json
try:
    import mxcy as mx
except Exception as error:  # a build without kernels for this CPU
    print(json.dumps(str(error)))
    raise SystemExit
mx.random.seed(3)
a = mx.nd.random.uniform(0.1, 1, shape=(2, 16, 9, 11))
w = mx.nd.random.uniform(-1, 1, shape=(8, 16, 3, 3))
rows = a.reshape((2, -1))
results = {
    "Convolution": mx.nd.Convolution(a, w, kernel=(3, 3), num_filter=8, no_bias=True),
    "dot": mx.nd.dot(rows, rows.T),
    "exp": mx.nd.exp(a),
    "log": mx.nd.log(a),
    "softmax": mx.nd.softmax(rows),
    "sort": mx.nd.sort(rows),
    "sum": mx.nd.sum(a, axis=1),
    "halves": mx.nd.sqrt(a.astype("float16")).astype("float32"),
    "bfloat16": mx.nd.FullyConnected(
        rows.astype("bfloat16"), rows.astype("bfloat16"), num_hidden=2, no_bias=True
    ).astype("float32"),
    "bytes": mx.nd.contrib.quantize_v2(a, out_type="int8")[0].astype("float32"),
}
level = mx._library.open.open_library().mx_isa()
print(json.dumps([level, {name: float(r.sum().asscalar()) for name, r in results.items()}]))
"""


def emulated(cpu):
    """The program's output on another CPU."""
    kept = {k: v for k, v in os.environ.items() if not k.startswith(("MXNET_", "MXCY_", "LD_"))}
    variables = {"PYTHONPATH": str(ROOT), "MXNET_ENABLE_CYTHON": "0", "OMP_NUM_THREADS": "1"}
    done = subprocess.run(
        [EMULATOR, "-cpu", cpu, sys.executable, "-c", _PROGRAM],
        env={**kept, **variables},
        text=True,
        capture_output=True,
        timeout=100,
    )
    assert done.returncode == 0, f"status {done.returncode}\n{done.stdout}{done.stderr}"
    return json.loads(done.stdout.splitlines()[-1])


@pytest.mark.parametrize(("cpu", "level"), [("Nehalem", 2), ("Haswell", 3)])
def test_a_cpu_runs_the_kernels_of_its_level_and_no_others(cpu, level):
    found = emulated(cpu)
    if isinstance(found, str):
        pytest.skip(found)
    assert found[0] <= level
    own = python(_PROGRAM, MXNET_ENABLE_CYTHON="0").value[1]
    assert found[1].keys() == own.keys()
    for name, value in found[1].items():
        np.testing.assert_allclose(value, own[name], rtol=1e-4, err_msg=name)
