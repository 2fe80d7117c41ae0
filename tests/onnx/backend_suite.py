"""Run ONNX's backend suite on mxcy: ``python -m tests.onnx.backend_suite [PATTERN]``.

Prints how many cases of each group pass, and each one that neither passes nor is left out for a
reason of `backend_skips`.
"""

import glob
import os
import re
import sys
import warnings
from collections import Counter

import numpy as np
import onnx
from onnx import numpy_helper
from onnx.backend.test.loader import load_model_tests

from mxcy.onnx import backend
from tests.onnx.backend_skips import reason

__all__ = ["GROUPS", "cases", "run"]

GROUPS = ("node", "simple", "pytorch-converted", "pytorch-operator")


def cases(group):
    """The cases of a group; creating those of nodes takes some seconds."""
    with warnings.catch_warnings(), np.errstate(all="ignore"):
        warnings.simplefilter("ignore")
        return load_model_tests(kind=group)


def _tensors(folder, kind):
    for number in range(len(glob.glob(f"{glob.escape(folder)}/{kind}_*.pb"))):
        tensor = onnx.TensorProto()
        with open(os.path.join(folder, f"{kind}_{number}.pb"), "rb") as file:
            tensor.ParseFromString(file.read())
        yield numpy_helper.to_array(tensor)


def _array(value):
    return numpy_helper.to_array(value) if isinstance(value, onnx.TensorProto) else value


def _material(case):
    """(model, [(inputs, outputs)])."""
    if case.model_dir is None:
        sets = [([*map(_array, given)], [*map(_array, wanted)]) for given, wanted in case.data_sets]
        return case.model, sets
    folders = sorted(glob.glob(f"{glob.escape(case.model_dir)}/test_data_set_*"))
    sets = [(list(_tensors(f, "input")), list(_tensors(f, "output"))) for f in folders]
    return onnx.load(os.path.join(case.model_dir, "model.onnx")), sets


def run(case):
    """Run a case.

    Returns
    -------
    PreparedModel
        What ran.

    Raises
    ------
    AssertionError
        If types, shapes or values differ from the suite's.
    """
    model, sets = _material(case)
    prepared = backend.prepare(model)
    for given, wanted in sets:
        actual = prepared.run(given)
        assert len(actual) == len(wanted)
        for array, expected in zip(actual, map(np.asarray, wanted), strict=True):
            assert (array.dtype, array.shape) == (expected.dtype, expected.shape)
            if array.dtype.kind == "V":  # bfloat16
                array, expected = array.astype(np.float32), expected.astype(np.float32)
            np.testing.assert_allclose(array, expected, rtol=case.rtol, atol=case.atol)
    return prepared


def main(pattern="."):
    """Run everything and print the table."""
    total, failed = Counter(), []
    print("group               passed  told by values  left out  failed")
    for group in GROUPS:
        count = Counter()
        for case in cases(group):
            if not re.search(pattern, case.name):
                continue
            if reason(case.name):
                count["left out"] += 1
                continue
            try:
                with warnings.catch_warnings(), np.errstate(all="ignore"):
                    warnings.simplefilter("ignore")
                    prepared = run(case)
                count["passed"] += 1
                count["values"] += bool(prepared.constants)
            except Exception as error:
                count["failed"] += 1
                failed.append(f"{case.name}: {type(error).__name__}: {str(error)[:200]}")
        print(
            f"{group:20}{count['passed']:6}{count['values']:16}{count['left out']:10}"
            f"{count['failed']:8}"
        )
        total += count
    print(f"{'all':20}{total['passed']:6}{total['values']:16}{total['left out']:10}"
          f"{total['failed']:8}")  # fmt: skip
    print(*failed, sep="\n")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:2]))
