"""Write random_golden.json: the numbers of real MXNet's random operators on a CPU.

Run it with a Python that has mxnet 1.9.1; the cases are in tests/ops/random/random_cases.py.
"""

import json
import sys
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "ops" / "random"))
from random_cases import cases  # noqa: E402


def main():
    """Draw everything and write the file."""
    golden = {
        case.name: {
            seed: case.summary(case.draw(mxnet, seed, shapes)) for seed, shapes in case.seeds()
        }
        for case in cases()
    }
    lines = ",\n".join(
        f"{json.dumps(name)}: {json.dumps(actual)}" for name, actual in golden.items()
    )
    text = f'{{"mxnet": "{mxnet.__version__}", "cases": {{\n{lines}\n}}}}\n'
    (HERE / "random_golden.json").write_text(text)


if __name__ == "__main__":
    main()
