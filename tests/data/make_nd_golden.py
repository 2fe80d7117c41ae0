"""Rewrite nd_golden.json: real MXNet 1.9.1's results for the cases in it.

To add a case, write it into the file with the result null, then run this with a Python that has
MXNet 1.9.1: ``python tests/data/make_nd_golden.py``.
"""

import json
import sys
from pathlib import Path

import mxnet as mx

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ndarray"))

import nd_answers  # noqa: E402

PATH = HERE / "nd_golden.json"


def lines(kind, cases):
    """One case per line, so that diffs are readable."""
    rows = (f"{json.dumps(c)}: {json.dumps(nd_answers.answer(mx, kind, c))}" for c in cases)
    return f"{json.dumps(kind)}: {{\n" + ",\n".join(rows) + "\n}"


text = ",\n".join(lines(kind, cases) for kind, cases in json.loads(PATH.read_text()).items())
PATH.write_text("{\n" + text + "\n}\n")
