"""Write rnn_golden.json: real MXNet's results for tests/rnn/scenarios.py.

Run it with a Python that has mxnet 1.9.1 and NumPy.
"""

import json
import sys
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "rnn"))
import scenarios  # noqa: E402


def rounded(value):
    """Numbers with six digits, anywhere in lists and dicts."""
    if isinstance(value, dict):
        return {name: rounded(part) for name, part in value.items()}
    if isinstance(value, list):
        return [rounded(part) for part in value]
    return float(f"{value:.6g}") if isinstance(value, float) else value


def main():
    """Run all scenarios and write their results."""
    answers = {name: rounded(ask(mxnet)) for name, ask in scenarios.SCENARIOS.items()}
    record = {"mxnet": mxnet.__version__, "answers": answers}
    (HERE / "rnn_golden.json").write_text(json.dumps(record, separators=(",", ":")) + "\n")


if __name__ == "__main__":
    main()
