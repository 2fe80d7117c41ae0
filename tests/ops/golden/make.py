"""Write ``golden_<version>.npz``: what the cases give with real MXNet.

Run it from the repository's root with a Python that has MXNet 1.9.1, and again with one that has
2.0.0b1: ``python -m tests.ops.golden.make``.
"""

from pathlib import Path

import mxnet
import numpy as np

from .cases import ALL

if __name__ == "__main__":
    version = int(mxnet.__version__.split(".")[0])
    found = {}
    for name, case in ALL.items():
        if case.version == version:
            for part, values in case.run(mxnet).items():
                found[f"{name}/{part}"] = values
    np.savez_compressed(Path(__file__).with_name(f"golden_{version}.npz"), **found)
