"""The programs that come with mxcy, for ``python -m mxcy``."""

from mxcy.libinfo import __version__

PROGRAMS = {
    "mxcy.examples.train_mnist": "train LeNet on handwritten digits",
    "mxcy.examples.curves": "draw the losses of a training",
    "mxcy.diagnose": "what is usable on this machine, and what mends the rest",
    "mxcy.env": "environment variables, their values and what they do",
    "mxcy.compat": "run a program that says `import mxnet`",
    "mxcy.bench": "measure this machine: calls, networks, training, bandwidth",
    "mxcy.bench.opperf": "measure operators one by one",
    "mxcy.tools.im2rec": "put images into RecordIO files",
    "mxcy.tools.rec2idx": "write the index of a RecordIO file",
    "mxcy.tools.launch": "start a training of several processes",
    "mxcy.tools.kill_mxnet": "end the jobs that were started so",
    "mxcy.tools.simulate_dist": "predict how a training does with more processes",
}


def main():
    """Print what there is, and how to start it."""
    print(f"mxcy {__version__}. Its programs, each with --help:\n")
    for module, what in PROGRAMS.items():
        print(f"  python -m {module:<26} {what}")


if __name__ == "__main__":
    main()
