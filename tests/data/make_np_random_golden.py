"""Write np_random_golden.npz with real MXNet: numbers of mx.np.random on a CPU for a seed.

Run it with a Python that has mxnet 2.0.0b1; the draws are in tests/numpy/random/random_draws.py.
"""

import sys
from pathlib import Path

import mxnet
import numpy as np

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "numpy" / "random"))
from random_draws import all_draws  # noqa: E402

if __name__ == "__main__":
    mxnet.npx.set_np()
    np.savez_compressed(HERE / "np_random_golden.npz", **dict(all_draws(mxnet)))
