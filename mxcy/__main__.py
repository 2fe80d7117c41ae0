"""``python -m mxcy``: a list of the command-line programs."""

from mxcy.libinfo import __version__

PROGRAMS = {
    "mxcy.examples.train_mnist": "train LeNet on handwritten digits",
    "mxcy.examples.curves": "plot the losses of a training run",
    "mxcy.diagnose": "report what works on this machine, and how to fix the rest",
    "mxcy.env": "list environment variables, their values and effects",
    "mxcy.compat": "run a program that says `import mxnet`",
    "mxcy.bench": "benchmark this machine: calls, networks, training, bandwidth",
    "mxcy.bench.opperf": "benchmark individual operators",
    "mxcy.tools.im2rec": "pack images into RecordIO files",
    "mxcy.tools.rec2idx": "write the index of a RecordIO file",
    "mxcy.tools.launch": "start a training job of several processes",
    "mxcy.tools.kill_mxnet": "stop the jobs started by launch",
    "mxcy.tools.simulate_dist": "predict how a training job scales with processes",
}


def main():
    """Print the programs and how to start them."""
    print(f"mxcy {__version__}. Its programs, each with --help:\n")
    for module, what in PROGRAMS.items():
        print(f"  python -m {module:<26} {what}")


if __name__ == "__main__":
    main()
