"""Run a program that imports mxnet on mxcy.

python -m mxcy.compat [options] script.py [arguments]
python -m mxcy.compat [options] -m module [arguments]
"""

import argparse
import sys

from mxcy import compat, profile, util
from mxcy.compat import old_numpy
from mxcy.compat.program import Program


def parse(arguments):
    """Parse a command line, exiting with a message if it is invalid."""
    parser = argparse.ArgumentParser(
        "python -m mxcy.compat",
        usage="%(prog)s [-h] [--replace] [--old-numpy] [--mxnet-version VERSION] "
        "(script | -m module) [argument]",
        description="Run a program that imports mxnet on mxcy.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="also if a real mxnet is installed, which is not modified",
    )
    parser.add_argument(
        "--old-numpy",
        action="store_true",
        help="restore removed NumPy names, such as np.float, np.int, np.product",
    )
    parser.add_argument(
        "--mxnet-version",
        "--mxnet",
        metavar="VERSION",
        default=compat.MXNET_VERSION,
        help="value of mxnet.__version__ (default: %(default)s), and the MXNet generation "
        "of the program: 2.0 differs in parameter names, files, defaults and NumPy arrays",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by name")
    parser.add_argument(
        "program", help="a script, a folder or archive with __main__.py, or a module"
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="arguments of the program")
    options = parser.parse_args(arguments)
    if options.mxnet_version != compat.MXNET_VERSION:
        try:
            util.set_profile(options.mxnet_version)
        except ValueError as error:
            parser.error(f"--mxnet-version: {error}")
        options.mxnet_version = profile.PROFILES.get(options.mxnet_version, options.mxnet_version)
    real = None if options.replace else compat.find_real_mxnet()
    if real is not None:
        parser.error(
            f"a real mxnet is installed: {real}. --replace runs the program on mxcy anyway"
        )
    return options


def main():
    """Run the program of the command line, with mxcy as mxnet."""
    options = parse(sys.argv[1:])
    compat.install(options.replace, options.mxnet_version)
    if options.old_numpy:
        old_numpy.restore()
    try:
        program = (
            Program.module(options.program) if options.module else Program.file(options.program)
        )
    except (ImportError, OSError) as error:
        sys.exit(f"{sys.executable}: {error}")
    program.run(options.arguments)


if __name__ == "__main__":
    main()
