"""Copies between GPUs, directly or through the host."""

import os
import subprocess
import sys

import numpy as np
import pytest

import mxcy as mx
from tests.gpu.device.test_graphs import ROOT
from tests.gpu.standin.seam import is_chosen

two = pytest.mark.skipif(mx.num_gpus() < 2, reason="there are not two GPUs")


@two
def test_there_and_back():
    values = np.random.default_rng(0).standard_normal((3, 5)).astype("float32")
    there = mx.nd.array(values, ctx=mx.gpu(0)).as_in_context(mx.gpu(1))
    assert there.context == mx.gpu(1)
    np.testing.assert_array_equal((there * 2).as_in_context(mx.gpu(0)).asnumpy(), 2 * values)


PROGRAM = """
import sys
sys.path.insert(0, {root!r})
from tests.gpu.standin.seam import put_under_cupy
put_under_cupy()
import mxcy as mx
from tests.gpu.device.test_launches import counts
x = mx.nd.array([1, 2, 3], ctx=mx.gpu(0))
before = counts().copies
y = x.copyto(mx.gpu(1))
print(counts().copies - before, y.asnumpy().tolist())
"""


@two
@pytest.mark.skipif(not is_chosen(), reason="it asks the stand-in what it was given")
@pytest.mark.parametrize(("allowed", "copies"), [("1", 1), ("0", 2)])
def test_peers(allowed, copies):
    environment = {**os.environ, "MXNET_ENABLE_GPU_P2P": allowed}
    program = [sys.executable, "-c", PROGRAM.format(root=ROOT)]
    done = subprocess.run(program, env=environment, capture_output=True, text=True, check=True)
    assert done.stdout.strip() == f"{copies} [1.0, 2.0, 3.0]"
