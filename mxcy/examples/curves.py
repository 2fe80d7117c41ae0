"""Curves of a training as a picture, by matplotlib.

Run ``python -m mxcy.examples.curves losses.txt curves.png`` on files with a number in each line, as
``train_mnist --losses`` writes them; or call `draw` with lists.
"""

import argparse
from pathlib import Path

import numpy as np

__all__ = ["draw", "smoothed"]


def smoothed(values, width):
    """Means over a window of the last values, as many as there are values.

    Parameters
    ----------
    values : sequence of float
    width : int
        The size of the window.

    Returns
    -------
    numpy.ndarray
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype="float64"))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def draw(path, curves, xlabel="step", ylabel="loss", smooth=None):
    """Write curves as a picture.

    Parameters
    ----------
    path : str or Path
        The file; its suffix (.png, .svg, .pdf) tells the kind.
    curves : dict of str to sequence of float
        Values by title.
    xlabel, ylabel : str
    smooth : int, optional
        The window of the mean that is drawn over each curve; a fiftieth of it by default.

    Raises
    ------
    ImportError
        When matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'mxcy[plots]'") from error
    figure = Figure(figsize=(7, 4), layout="constrained")  # needs no display
    axes = figure.add_subplot(xlabel=xlabel, ylabel=ylabel)
    for title, values in curves.items():
        window = smooth or max(1, len(values) // 50)
        (line,) = axes.plot(smoothed(values, window), label=title)
        if window > 1:
            axes.plot(values, color=line.get_color(), alpha=0.25, linewidth=0.7)
    axes.grid(alpha=0.3)
    axes.legend()
    figure.savefig(path)


def main(arguments=None):
    """Draw the numbers of files.

    Parameters
    ----------
    arguments : list of str, optional
        The command line.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="+", type=Path, help="files with a number in each line")
    parser.add_argument("picture", type=Path)
    parser.add_argument("--ylabel", default="loss")
    options = parser.parse_args(arguments)
    curves = {}
    for path in options.numbers:
        try:
            curves[path.stem] = [float(number) for number in path.read_text().split()]
        except (OSError, ValueError) as error:
            parser.error(f"{path}: {getattr(error, 'strerror', None) or error}")
    try:
        draw(options.picture, curves, ylabel=options.ylabel)
    except (OSError, ValueError) as error:  # a folder that is not there, an unknown suffix
        parser.error(f"{options.picture}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main()
