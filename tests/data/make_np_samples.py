"""Write np_samples.json.gz with real MXNet: results of calls for inputs of every type.

Run it with a Python that has mxnet 2.0.0b1; the inputs are in tests/numpy/calls/sample_calls.py.
Pass further calls as arguments. In MXNet an asynchronous failure affects later calls, so each
process makes only a few calls.
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
    """Run some calls in a separate process and return their outcomes."""
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
