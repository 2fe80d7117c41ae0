"""Write ``golden.npz`` and ``adam.states``: real MXNet 1.9.1's results for ``cases.py``.

Run it with a Python that has MXNet 1.9.1: ``python make.py``.
"""

from pathlib import Path

import cases
import mxnet
import numpy as np

if __name__ == "__main__":
    assert mxnet.__version__ == "1.9.1"
    found = {}
    for program, name in cases.ALL:
        for key, values in program(mxnet, name).items():
            found[f"{program.__name__}/{name}/{key}"] = values
    states = str(Path(__file__).with_name("adam.states"))
    cases.resumed(mxnet, None)[1].save_states(states)
    found["resumed/adam/weight"] = cases.resumed(mxnet, states)[0]
    np.savez_compressed(Path(__file__).with_name("golden.npz"), **found)
