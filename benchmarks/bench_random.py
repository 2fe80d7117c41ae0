"""Random float32 arrays: mxcy, NumPy's new and old generators, and PyTorch.

The others use one thread; set OMP_NUM_THREADS=1 for mxcy to do the same.
"""

import pytest

SETUP = {
    "mxcy": "import mxcy as mx",
    "generator": "import numpy as np; g = np.random.default_rng(0)",
    "randomstate": "import numpy as np; g = np.random.RandomState(0)",
    "torch": "import torch; torch.set_num_threads(1)",
}
CASES = {
    "uniform": (
        "mx.nd.random.uniform(shape={n})",
        "g.random({n}, dtype='f')",
        "g.random_sample({n}).astype('f')",
        "torch.rand({n})",
    ),
    "normal": (
        "mx.nd.random.normal(shape={n})",
        "g.standard_normal({n}, dtype='f')",
        "g.standard_normal({n}).astype('f')",
        "torch.randn({n})",
    ),
    "exponential": (
        "mx.nd.random.exponential(shape={n})",
        "g.standard_exponential({n}, dtype='f')",
        "g.standard_exponential({n}).astype('f')",
        "torch.empty({n}).exponential_()",
    ),
}


@pytest.mark.parametrize("n", [16, 1000000])
@pytest.mark.parametrize("case", CASES)
def test_drawing(compare, case, n):
    statements = {name: text.format(n=n) for name, text in zip(SETUP, CASES[case], strict=True)}
    compare(f"{case}, {n}", SETUP, statements)
