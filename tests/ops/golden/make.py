"""Write ``<family>_<version>.npz``: real MXNet's results for the cases of each family.

Run it from the repository's root with a Python that has MXNet 1.9.1, and again with one that has
2.0.0b1: ``python -m tests.ops.golden.make``, or with the names of some families behind it.
"""

import sys
from pathlib import Path

import mxnet
import numpy as np

from .cases import ALL

if __name__ == "__main__":
    version = int(mxnet.__version__.split(".")[0])
    wanted, families = sys.argv[1:], {}
    for name, case in ALL.items():
        family = name.partition("/")[0]
        if case.version == version and (not wanted or family in wanted):
            for part, values in case.run(mxnet).items():
                families.setdefault(family, {})[f"{name}/{part}"] = values
    for family, found in families.items():
        np.savez_compressed(Path(__file__).with_name(f"{family}_{version}.npz"), **found)
