"""Write np_samples.json.gz with real MXNet: what its calls give for inputs of every type.

Run it with a Python that has mxnet 2.0.0b1; the inputs are in tests/numpy/sample_calls.py. More
calls are given as arguments.
"""

import gzip
import json
import sys
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "numpy"))
from sample_calls import DATA, outcomes, read  # noqa: E402

if __name__ == "__main__":
    mxnet.npx.set_np()
    calls = [*read(), *sys.argv[1:]] if DATA.exists() else sys.argv[1:]
    found = {call: outcomes(mxnet, call) for call in dict.fromkeys(calls)}
    text = json.dumps(found, separators=(",", ":")) + "\n"
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))
