"""Plot training curves with matplotlib.

Run ``python -m mxcy.examples.curves losses.txt curves.png`` on files with one number per line, such
as those of ``train_mnist --losses``, or call `draw` with lists.
"""

import argparse
from pathlib import Path

import numpy as np

__all__ = ["draw", "smoothed"]


def smoothed(values, width):
    """Return the moving average over the last values.

    Parameters
    ----------
    values : sequence of float
    width : int
        Size of the window.

    Returns
    -------
    numpy.ndarray
    """
    sums = np.concatenate([[0.0], np.cumsum(np.asarray(values, dtype="float64"))])
    ends = np.arange(1, len(sums))
    starts = np.maximum(ends - width, 0)
    return (sums[ends] - sums[starts]) / (ends - starts)


def draw(path, curves, xlabel="step", ylabel="loss", smooth=None):
    """Plot curves to an image file.

    Parameters
    ----------
    path : str or Path
        File, whose suffix (.png, .svg, .pdf) determines the format.
    curves : dict of str to sequence of float
        Values by title.
    xlabel, ylabel : str
    smooth : int, optional
        Window of the moving average drawn over each curve; 1/50 of its length by default.

    Raises
    ------
    ImportError
        If matplotlib is not installed.
    """
    try:
        from matplotlib.figure import Figure
    except ImportError as error:
        raise ImportError(f"{error}: pip install 'mxcy[plots]'") from error
    figure = Figure(figsize=(7, 4), layout="constrained")  # no display needed
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
    """Plot the numbers in files.

    Parameters
    ----------
    arguments : list of str, optional
        The command line.
    """
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("numbers", nargs="+", type=Path, help="files with one number per line")
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
    except (OSError, ValueError) as error:  # missing folder, or unknown suffix
        parser.error(f"{options.picture}: {getattr(error, 'strerror', None) or error}")


if __name__ == "__main__":
    main()
