"""Check of a benchmark's output file before measuring."""

import argparse
import os

__all__ = ["writable"]


def writable(text):
    """Parse the path of a writable file, for `argparse`.

    Parameters
    ----------
    text : str
        Argument of the command line.

    Raises
    ------
    argparse.ArgumentTypeError
        If its folder does not exist or is not writable.
    """
    folder = os.path.dirname(os.path.realpath(text))
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {folder}")
    if os.path.isdir(text) or not os.access(folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return text
