"""Write np_samples.json.gz with real MXNet: what its calls give for inputs of every type.

Run it with a Python that has mxnet 2.0.0b1; the inputs are in tests/numpy/calls/sample_calls.py.
More calls are given as arguments. What fails late spoils what comes after it in MXNet, so that a
process makes a few calls only.
"""

import gzip
import json
import subprocess
import sys
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "numpy" / "calls"))
from sample_calls import DATA, outcomes, read  # noqa: E402

FEW = 12


def answer(calls):
    """The outcomes of some calls, found by a process of their own."""
    command = [sys.executable, "-W", "ignore", __file__, "--answer"]
    text = json.dumps(calls)
    done = subprocess.run(command, input=text, text=True, capture_output=True, check=False)
    return json.loads(done.stdout.splitlines()[-1])


if sys.argv[1:] == ["--answer"]:
    import mxnet

    mxnet.npx.set_np()
    found = {call: outcomes(mxnet, call) for call in json.load(sys.stdin)}
    print("\n" + json.dumps(found), flush=True)
elif __name__ == "__main__":
    calls = [*dict.fromkeys([*(read() if DATA.exists() else []), *sys.argv[1:]])]
    found = {}
    for first in range(0, len(calls), FEW):
        found.update(answer(calls[first : first + FEW]))
    text = json.dumps(found, separators=(",", ":")) + "\n"
    DATA.write_bytes(gzip.compress(text.encode(), mtime=0))
