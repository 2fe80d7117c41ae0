"""Write mnist_losses.json with real MXNet: the first losses of the example's training.

Run it with a Python that has mxnet 1.9.1, NumPy and tqdm. The program is mxcy's own
example; ``import mxnet as mx`` is the only difference.
"""

import json
import tempfile
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
EXAMPLE = HERE.parents[1] / "mxcy" / "examples" / "train_mnist.py"
STEPS = 20


def main():
    """Train for a few steps and write their losses."""
    program = EXAMPLE.read_text().replace("import mxcy as mx", "import mxnet as mx")
    names = {"__name__": "train_mnist", "__file__": str(EXAMPLE)}
    exec(compile(program, str(EXAMPLE), "exec"), names)
    with tempfile.TemporaryDirectory() as folder:
        weights = str(Path(folder) / "lenet.params")
        losses, _ = names["main"](["--steps", str(STEPS), "--weights", weights])
    record = {"mxnet": mxnet.__version__, "seed": 1, "losses": losses}
    (HERE / "mnist_losses.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
