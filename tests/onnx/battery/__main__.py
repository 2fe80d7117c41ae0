"""Test everything exported, in all opsets: ``python -m tests.onnx.battery [PART] [PATTERN]``.

The parts are ``operators`` (all samples of all records, with fixed and dynamic dimensions) and
``networks`` (the zoo and others, imported again as well); both by default.
"""

import itertools
import re
import sys
import tempfile

from mxcy.onnx.errors import UnsupportedError
from tests.onnx.battery import networks, operators


def try_operators(pattern, folder):
    """Test all samples in all opsets, static and dynamic; returns (counts, errors)."""
    counts, wrong = {"right": 0, "refused": 0, "wrong": 0}, []
    for case in operators.cases(pattern):
        for opset, dynamic in itertools.product(operators.OPSETS, (False, True)):
            try:
                operators.check(*case, opset, dynamic, f"{folder}/model.onnx")
                counts["right"] += 1
            except operators.Refused:
                counts["refused"] += 1
            except Exception as error:
                counts["wrong"] += 1
                record, index, _, dtype = case
                wrong.append(f"{record.name}-{index}-{dtype} opset {opset} {dynamic}: {error}")
                print(wrong[-1], flush=True)
    return counts, wrong


def try_networks(pattern, folder):
    """Test all networks in all opsets, those of the zoo in the default and the newest."""
    counts, wrong = {"right": 0, "refused": 0, "wrong": 0}, []
    for name in filter(re.compile(pattern).search, networks.CASES):
        for opset in operators.OPSETS if name not in networks.ZOO else networks.ZOO_OPSETS:
            label = f"{name} opset {opset}"
            try:
                away, back = networks.check(name, opset, f"{folder}/net.onnx")
                told = f"{away:.1e} beside ONNX Runtime, {back:.1e} imported again"
                good = away <= networks.BESIDE_RUNTIME and back <= networks.BESIDE_ORIGINAL
            except UnsupportedError as error:
                counts["refused"] += 1
                print(f"{label}: refused, {error}", flush=True)
                continue
            except Exception as error:
                if "NOT_IMPLEMENTED" in str(error):  # ONNX Runtime has no kernel in that version
                    counts["refused"] += 1
                    print(f"{label}: refused, {str(error)[:200]}", flush=True)
                    continue
                told, good = f"{type(error).__name__}: {str(error)[:300]}", False
            counts["right" if good else "wrong"] += 1
            if not good:
                wrong.append(label)
            print(f"{label}: {told}{'' if good else '  WRONG'}", flush=True)
    return counts, wrong


PARTS = {"operators": try_operators, "networks": try_networks}


def main(*words):
    """Run parts of the battery; returns the exit status."""
    parts = [word for word in words if word in PARTS] or list(PARTS)
    pattern = next((word for word in words if word not in PARTS), ".")
    failed = False
    for part in parts:
        with tempfile.TemporaryDirectory() as folder:
            counts, wrong = PARTS[part](pattern, folder)
        print(part, counts, flush=True)
        failed = failed or bool(wrong)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
