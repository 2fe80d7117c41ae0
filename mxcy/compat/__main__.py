"""Run a program that imports mxnet, on mxcy.

python -m mxcy.compat [options] script.py [arguments]
python -m mxcy.compat [options] -m module [arguments]
"""

import argparse
import sys

from mxcy import compat, profile, util
from mxcy.compat import old_numpy
from mxcy.compat.program import Program


def parse(arguments):
    """The options of a command line; says what is wrong with it and exits otherwise."""
    parser = argparse.ArgumentParser(
        "python -m mxcy.compat",
        usage="%(prog)s [-h] [--replace] [--old-numpy] [--mxnet-version VERSION] "
        "(script | -m module) [argument]",
        description="Run a program that imports mxnet, on mxcy.",
        allow_abbrev=False,
    )
    parser.add_argument(
        "--replace",
        action="store_true",
        help="also where a real mxnet is installed; it stays as it is",
    )
    parser.add_argument(
        "--old-numpy",
        action="store_true",
        help="give NumPy back names that it has no more, such as np.float, np.int, np.product",
    )
    parser.add_argument(
        "--mxnet-version",
        "--mxnet",
        metavar="VERSION",
        default=compat.MXNET_VERSION,
        help="what mxnet.__version__ says (default: %(default)s), and which generation of MXNet "
        "the program is for: 2.0 has other names of parameters, files, defaults and NumPy arrays",
    )
    parser.add_argument("-m", dest="module", action="store_true", help="run a module by its name")
    parser.add_argument(
        "program", help="a script, a folder or archive with __main__.py, or a module"
    )
    parser.add_argument("arguments", nargs=argparse.REMAINDER, help="what the program gets")
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
    """Run the program that the command line names, with mxcy as mxnet."""
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
