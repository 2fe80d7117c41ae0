"""Chains of elementwise operators on one thread: fused into one program, and one by one."""

import pytest

from benchmarks.bench_ops import one_thread  # noqa: F401

SETUP = {
    "mxcy": """
import numpy as np, mxcy as mx
r = np.random.RandomState(0)
a, b, c = (mx.nd.array(r.uniform(-2, 2, {n}).astype('f')) for _ in range(3))
def run(program):
    return mx.nd._internal._fused_pointwise(a, b, c, program=program, num_args=3)
""",
    "numpy": """
import numpy as np
r = np.random.RandomState(0)
a, b, c = (r.uniform(-2, 2, {n}).astype('f') for _ in range(3))
def sigmoid(x):
    return 1 / (1 + np.exp(-x))
""",
    "torch": """
import numpy as np, torch
torch.set_num_threads(1)
r = np.random.RandomState(0)
a, b, c = (torch.from_numpy(r.uniform(-2, 2, {n}).astype('f')) for _ in range(3))
""",
}
SETUP["separate"] = SETUP["mxcy"] + "nd = mx.nd\n"
CASES = {
    "sigmoid(t) * tanh(t)": {
        "mxcy": "run('elemwise_mul 0 1; elemwise_add 3 2; sigmoid 4; tanh 4; elemwise_mul 5 6;"
        " -> 7')",
        "separate": "t = a * b + c; nd.sigmoid(t) * nd.tanh(t)",
        "numpy": "t = a * b + c; sigmoid(t) * np.tanh(t)",
        "torch": "t = a * b + c; torch.sigmoid(t) * torch.tanh(t)",
    },
    "polynomial": {
        "mxcy": "run('elemwise_mul 0 1; elemwise_add 3 2; elemwise_mul 4 0; elemwise_sub 5 1;"
        " elemwise_mul 6 2; _plus_scalar 7 scalar=0.5; -> 8')",
        "separate": "((a * b + c) * a - b) * c + 0.5",
        "numpy": "((a * b + c) * a - b) * c + np.float32(0.5)",
        "torch": "((a * b + c) * a - b) * c + 0.5",
    },
}


@pytest.mark.parametrize("n", [1000, 100_000, 1_000_000])
@pytest.mark.parametrize("case", CASES)
def test_chain(compare, case, n):
    setups = {name: setup.format(n=n) for name, setup in SETUP.items()}
    compare(f"{case}, {n}", setups, CASES[case], seconds=0.01)
