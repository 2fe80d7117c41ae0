"""Write module_losses.json with real MXNet: the first losses of the scripts in examples/module.

Run it with a Python that has mxnet 1.9.1 and NumPy. The programs are these
scripts; ``import mxnet as mx`` is the only difference.
"""

import json
import os
import sys
import tempfile
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
EXAMPLES = HERE.parents[1] / "examples" / "module"
#: name -> script, and arguments that make it short
RUNS = (
    ("mnist_mlp", ["--epochs", "1", "--batches", "12"]),
    ("mnist_mlp", ["--epochs", "1", "--batches", "12", "--devices", "2"]),
    ("mnist_lenet", ["--epochs", "2", "--batches", "5"]),
    ("bucketing_lm", ["--epochs", "1", "--batches", "10"]),
)


def run(script, arguments):
    """The script's losses and its last result."""
    path = EXAMPLES / f"{script}.py"
    program = path.read_text().replace("import mxcy as mx", "import mxnet as mx")
    names = {"__name__": script, "__file__": str(path)}
    exec(compile(program, str(path), "exec"), names)
    losses, result = names["main"](arguments)
    return {
        "script": script,
        "arguments": arguments,
        "losses": [float(loss) for loss in losses],
        "result": float(result),
    }


def main():
    """Run all scripts and write their losses."""
    sys.path.insert(0, str(EXAMPLES))
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)  # checkpoints go there
        runs = [run(script, arguments) for script, arguments in RUNS]
    record = {"mxnet": mxnet.__version__, "runs": runs}
    (HERE / "module_losses.json").write_text(json.dumps(record, indent=1) + "\n")


if __name__ == "__main__":
    main()
