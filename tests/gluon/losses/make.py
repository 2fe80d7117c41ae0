"""Write ``mxnet.npz``: the losses of MXNet 1.9.1.

Run it from the repository's root with a Python that has it: ``python -m tests.gluon.losses.make``.
"""

from pathlib import Path

import mxnet
import numpy as np

from .programs import CASES, losses

if __name__ == "__main__":
    kept = {"/".join(case): losses(mxnet, *case) for case in CASES}
    np.savez_compressed(Path(__file__).with_name("mxnet.npz"), **kept)
