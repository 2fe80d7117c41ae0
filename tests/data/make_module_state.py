"""Write the folder module_state with real MXNet: a checkpoint with optimizer states.

Run it with a Python that has mxnet 1.9.1 and NumPy, and with MXNET_ENGINE_TYPE=NaiveEngine: the
threaded engine does not always give the same statistics in batch normalization.
``predicted.json`` holds the predictions after the checkpoint, and after one epoch more from it.
"""

import json
import logging
import sys
from pathlib import Path

import mxnet

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE.parent / "module"))
import exchange  # noqa: E402


def main():
    """Train, save and resume."""
    folder = HERE / "module_state"
    folder.mkdir(exist_ok=True)
    logging.disable(logging.WARNING)
    prefix = str(folder / "net")
    saved = exchange.write(mxnet, prefix)
    record = {"saved": saved, "continued": exchange.read(mxnet, prefix)}
    (folder / "predicted.json").write_text(json.dumps(record) + "\n")


if __name__ == "__main__":
    main()
