"""Small eager operations: what one call costs (4x4 and 64x64 float32)."""

import pytest

SETUP = {
    "mxcy": """
import numpy, mxcy as mx
r = numpy.random.RandomState(0)
a, b, w = (mx.nd.array(r.rand({n}, {n}).astype('f')) for _ in range(3))
bias = mx.nd.array(r.rand({n}).astype('f'))
exp, dense = mx.nd.exp, mx.nd.FullyConnected
v = mx.nd.array(r.rand({n}, {n}).astype('f'))
v.attach_grad()
""",
    "numpy": """
import numpy as np
r = np.random.RandomState(0)
a, b, w = (r.rand({n}, {n}).astype('f') for _ in range(3))
bias = r.rand({n}).astype('f')
""",
    "torch": """
import numpy as np, torch
torch.set_num_threads(1)
r = np.random.RandomState(0)
a, b, w = (torch.from_numpy(r.rand({n}, {n}).astype('f')) for _ in range(3))
bias = torch.from_numpy(r.rand({n}).astype('f'))
linear = torch.nn.functional.linear
""",
}
CASES = {
    "a + b": {"mxcy": "a + b", "numpy": "a + b", "torch": "a + b"},
    "exp(a)": {"mxcy": "exp(a)", "numpy": "np.exp(a)", "torch": "torch.exp(a)"},
    "a * 2": {"mxcy": "a * 2", "numpy": "a * 2", "torch": "a * 2"},
    "a[1:3]": {"mxcy": "a[1:3]", "numpy": "a[1:3]", "torch": "a[1:3]"},
    "FullyConnected": {
        "mxcy": "dense(a, w, bias, num_hidden={n})",
        "numpy": "a @ w.T + bias",
        "torch": "linear(a, w, bias)",
    },
}


def filled(texts, n):
    return {name: text.replace("{n}", str(n)) for name, text in texts.items()}


@pytest.mark.parametrize("n", [4, 64])
@pytest.mark.parametrize("case", CASES)
def test_call(compare, case, n):
    # Short turns: on a busy machine some of them run undisturbed.
    compare(f"{case}, {n}x{n}", filled(SETUP, n), filled(CASES[case], n), seconds=0.002)


@pytest.mark.parametrize("statement", ["v + b", "exp(v)", "v * 2"])
def test_recording(compare, statement):
    """What recording adds to a call, for an array with a gradient."""
    setup = SETUP["mxcy"].replace("{n}", "4")
    loop = f"for _ in range(1000): {statement}"
    compare(
        f"1000 x {statement}, 4x4, recorded",
        {"mxcy": setup, "unrecorded": setup},
        {
            "mxcy": f"mx.autograd.set_recording(True)\n{loop}\nmx.autograd.set_recording(False)",
            "unrecorded": loop,
        },
    )
