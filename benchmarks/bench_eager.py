"""The cost of small eager calls (4x4 and 64x64 float32).

Contiguous slices are views in all libraries; other slices are copies in mxcy, as in MXNet.
"""

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


KEYS = {  # a view or a copy of elements, or a write to them
    "a[0, 0]": ("a[0, 0]", "a[0, 0]", "a[0, 0]"),
    "a[1]": ("a[1]", "a[1]", "a[1]"),
    "a[:, 1:3]": ("a[:, 1:3]", "a[:, 1:3]", "a[:, 1:3]"),
    "a[:, 1:3], a copy": ("a[:, 1:3]", "a[:, 1:3].copy()", "a[:, 1:3].contiguous()"),
    "a[..., None, 1]": ("a[..., None, 1]", "a[..., None, 1]", "a[..., None, 1]"),
    "a[1, 2] = 3": ("a[1, 2] = 3", "a[1, 2] = 3", "a[1, 2] = 3"),
    "a[:] = 1": ("a[:] = 1", "a[:] = 1", "a[:] = 1"),
    "a[:, 1:3] = 2": ("a[:, 1:3] = 2", "a[:, 1:3] = 2", "a[:, 1:3] = 2"),
    "a[1:3] = rows": ("a[1:3] = rows", "a[1:3] = rows", "a[1:3] = rows"),
}
SHAPES = {  # reshaping, reading values, and attributes
    "reshape": ("a.reshape((2, -1))", "a.reshape((2, -1))", "a.reshape((2, -1))"),
    "shape": ("a.shape", "a.shape", "a.shape"),
    "dtype": ("a.dtype", "a.dtype", "a.dtype"),
    "size": ("a.size", "a.size", "a.numel()"),
    "asnumpy": ("a.asnumpy()", "a.copy()", "a.clone().numpy()"),
    "float": ("float(a[0, 0])", "float(a[0, 0])", "float(a[0, 0])"),
    "asscalar": ("a[0, 0].asscalar()", "a[0, 0].item()", "a[0, 0].item()"),
}
NEW = {  # creating arrays
    "zeros": ("mx.nd.zeros({s})", "np.zeros({s}, 'f')", "torch.zeros({s})"),
    "ones": ("mx.nd.ones({s})", "np.ones({s}, 'f')", "torch.ones({s})"),
    "full": ("mx.nd.full({s}, 2.5)", "np.full({s}, 2.5, 'f')", "torch.full({s}, 2.5)"),
    "empty": ("mx.nd.empty({s})", "np.empty({s}, 'f')", "torch.empty({s})"),
    "zeros of int64": (
        "mx.nd.zeros({s}, dtype='int64')",
        "np.zeros({s}, 'int64')",
        "torch.zeros({s}, dtype=torch.int64)",
    ),
    "arange": ("mx.nd.arange({n})", "np.arange({n}, dtype='f')", "torch.arange({n}.)"),
}
CHAIN = {  # 50 operations and their gradients
    "mxcy": """
x = v
def chain():
    with mx.autograd.record():
        y = x
        for _ in range(10):
            y = mx.nd.tanh(y * w + b) * 0.5 - x
    y.backward()
""",
    "torch": """
x, head = a.clone().requires_grad_(), torch.ones({n}, {n})
def chain():
    x.grad = None
    y = x
    for _ in range(10):
        y = torch.tanh(y * w + b) * 0.5 - x
    y.backward(head)
""",
}


def filled(texts, n):
    return {name: text.replace("{n}", str(n)) for name, text in texts.items()}


@pytest.mark.parametrize("n", [4, 64])
@pytest.mark.parametrize("case", CASES)
def test_call(compare, case, n):
    # Short rounds: on a busy machine some of them run undisturbed.
    compare(f"{case}, {n}x{n}", filled(SETUP, n), filled(CASES[case], n), seconds=0.002)


@pytest.mark.parametrize("n", [4, 64])
@pytest.mark.parametrize("case", [*KEYS, *SHAPES, *NEW])
def test_slices_and_shapes(compare, case, n):
    statements = {**KEYS, **SHAPES, **NEW}[case]
    statements = [text.replace("{s}", f"({n}, {n})").replace("{n}", str(n)) for text in statements]
    setups = {
        "mxcy": filled(SETUP, n)["mxcy"] + "rows = a[1:3] * 2\n",
        "numpy": filled(SETUP, n)["numpy"] + "rows = a[1:3] * 2\n",
        "torch": filled(SETUP, n)["torch"] + "rows = a[1:3] * 2\n",
    }
    compare(f"{case}, {n}x{n}", setups, dict(zip(setups, statements, strict=True)), seconds=0.002)


@pytest.mark.parametrize("n", [4, 64])
def test_chain(compare, n):
    """Record 50 operations and differentiate them."""
    setups = {name: filled(SETUP, n)[name] + filled(CHAIN, n)[name] for name in CHAIN}
    compare(
        f"50 operations and backward, {n}x{n}",
        setups,
        dict.fromkeys(CHAIN, "chain()"),
        seconds=0.02,
    )


@pytest.mark.parametrize("statement", ["v + b", "exp(v)", "v * 2"])
def test_recording(compare, statement):
    """The cost that recording adds to a call, for an array with a gradient."""
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
