"""Write answers.json: MXNet 1.9.1's results for the calls of cases.py.

Run it with a Python that has the real MXNet: ``python tests/ndarray/sparse/golden/make.py``.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import mxnet as mx
import numpy as np

sys.path.insert(0, str(Path(__file__).parent))
import cases  # noqa: E402


def answer(name, attrs, letters, log):
    """Storage type, whether a fall-back was logged, and the elements; or the error's type."""
    start = os.fstat(log.fileno()).st_size
    try:
        out = cases.function(mx, name)(*cases.inputs(mx, letters), **attrs)
        out.wait_to_read()
        elements = out.asnumpy()
    except Exception as error:
        return {"error": type(error).__name__}
    log.seek(start)
    told = "Storage type fallback detected" in log.read()
    rounded = np.round(elements.astype("float64"), 5).tolist()
    return {"stype": out.stype, "told": told, "values": rounded}


def main():
    """Run all calls, with the library's messages redirected to a file."""
    with tempfile.TemporaryFile("w+") as log:
        os.dup2(log.fileno(), 2)
        answers = {
            key: answer(name, attrs, letters, log) for key, name, attrs, letters in cases.calls()
        }
    lines = [f"{json.dumps(key)}: {json.dumps(value)}" for key, value in answers.items()]
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    Path(__file__).with_name("answers.json").write_text(text)


if __name__ == "__main__":
    main()
