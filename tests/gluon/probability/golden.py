"""Write ``golden.json``: results of real MXNet 2.0.0b1's distributions.

With a Python that has MXNet 2.0.0b1: ``python tests/gluon/probability/golden.py``
"""

import json
import sys
from pathlib import Path
from unittest import mock

import numpy as np

FILE = Path(__file__).parent / "golden.json"


def results(mx, every):
    """The result of each part of each case: ``"case/part"`` -> list, or None if it fails."""
    collected = {}
    for case in every:
        below = mx.np.array(np.array([[0.1, 0.5, 0.9], [0.25, 0.6, 0.01]]))
        values = mx.np.array(case.values)
        parts = {
            "log_prob": lambda distribution, values=values: distribution.log_prob(values),
            "pdf": lambda distribution, values=values: distribution.pdf(values),
            "cdf": lambda distribution, values=values: distribution.cdf(values),
            "icdf": lambda distribution, below=below: distribution.icdf(below),
            "mean": lambda distribution: distribution.mean,
            "variance": lambda distribution: distribution.variance,
            "entropy": lambda distribution: distribution.entropy(),
            "sample": lambda distribution: distribution.sample(),
            "sample_n": lambda distribution: distribution.sample_n(2),
        }
        for part, function in parts.items():
            mx.np.random.seed(17)
            try:
                out = function(case.make(mx))
                out = out.asnumpy() if hasattr(out, "asnumpy") else np.full((2, 3), out)
                collected[f"{case}/{part}"] = np.asarray(out, "float32").tolist()
            except Exception:
                collected[f"{case}/{part}"] = None
    return collected


if __name__ == "__main__":
    import mxnet

    sys.path.insert(0, str(FILE.parent))
    from cases import distributions

    mxnet.npx.set_np()
    made = results(mxnet, distributions(mock.MagicMock()))
    text = json.dumps({name: values for name, values in made.items() if values is not None})
    FILE.write_text(text.replace("]], ", "]],\n") + "\n")
