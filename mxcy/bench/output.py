"""The file that a program of measurements will write, looked at before it measures."""

import argparse
import os

__all__ = ["writable"]


def writable(text):
    """The path of a file that can be written, for `argparse`.

    Parameters
    ----------
    text : str
        What stands on the command line.

    Raises
    ------
    argparse.ArgumentTypeError
        When its folder does not exist, or it is none that one may write into.
    """
    folder = os.path.dirname(os.path.realpath(text))
    if not os.path.isdir(folder):
        raise argparse.ArgumentTypeError(f"{text}: there is no folder {folder}")
    if os.path.isdir(text) or not os.access(folder, os.W_OK):
        raise argparse.ArgumentTypeError(f"{text} cannot be written")
    return text
