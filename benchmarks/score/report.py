"""The table of results and its summary."""

import statistics

from benchmarks.score.contenders import CONTENDERS, OURS
from examples.image_classification.symbols import NETWORKS

__all__ = ["BF16_DEMANDS", "DEMANDS", "INT8_DEMANDS", "lines", "ratios"]

# Required ratios: group, network (None for all), statistic, minimum.
DEMANDS = (
    ("MXNet", None, "median", 1.15),
    ("PyTorch", None, "median", 1.15),
    ("runtimes", "alexnet", "median", 1.0),
    ("runtimes", "vgg-16", "median", 1.8),
    ("runtimes", "inception-bn", "median", 1.0),
    ("runtimes", "inception-v3", "median", 1.0),
    ("runtimes", "resnet-50", "median", 1.35),
    ("runtimes", "resnet-152", "median", 1.35),
    ("runtimes", None, "geometric mean", 1.6),
)
#: the same of int8
INT8_DEMANDS = (
    *(("all", network, "geometric mean", 1.0) for network in NETWORKS),
    ("all", None, "geometric mean", 1.1),
)
#: the same of bfloat16
BF16_DEMANDS = (("runtimes", None, "geometric mean", 1.1),)
#: group -> contenders; the better one counts in each cell
GROUPS = {
    "MXNet": ("MXNet 1.9.1",),
    "PyTorch": ("PyTorch script", "PyTorch compile"),
    "runtimes": ("ONNX Runtime", "OpenVINO"),
    "all": ("MXNet 1.9.1", "ONNX Runtime", "OpenVINO"),
}
WIDTH = 17
LABEL = max(len(" or ".join(members)) for members in GROUPS.values())


def ratios(cells, group, network=None):
    """Our speed relative to the best of a group, for each cell that has both.

    Parameters
    ----------
    cells : list of Cell
    group : str
        One of `GROUPS`.
    network : str, optional
        Only cells of this network.

    Returns
    -------
    list of float
    """
    multiples = []
    for cell in cells:
        others = [cell.speed(name) for name in GROUPS[group] if name in cell.results]
        if others and network in (None, cell.network):
            multiples.append(cell.speed(OURS) / max(others))
    return multiples


def _table(network, cells, gflop, peak):
    """Table of a network: a row per batch size, a column per contender, ratios, and more."""
    names = [name for name in CONTENDERS if any(name in cell.results for cell in cells)]
    yield f"{network}, images/s (in brackets: {OURS} as a multiple)"
    yield "batch" + "".join(f"{name:>{WIDTH}}" for name in names) + f"{'of FMA peak':>13}"
    for cell in sorted(cells, key=lambda cell: cell.batch):
        ours = cell.speed(OURS)
        row = f"{cell.batch:5}"
        for name in names:
            if name not in cell.results:
                text = "-"
            elif name == OURS:
                text = f"{ours:.1f}"
            else:
                text = f"{cell.speed(name):.1f} [{ours / cell.speed(name):5.2f}]"
            row += f"{text:>{WIDTH}}"
        yield row + f"{ours * gflop / peak:>13.0%}"
    largest = max(cells, key=lambda cell: cell.batch)
    for title, value in (
        ("plan, s", lambda result: f"{result.plan:.2f}"),
        ("peak, MiB", lambda result: f"{result.peak / 2**20:.0f}"),
    ):
        row = f"{title:>9}".ljust(5)[:9]
        texts = [value(largest.results[n]) if n in largest.results else "-" for n in names]
        yield row + texts[0].rjust(WIDTH - 4) + "".join(f"{text:>{WIDTH}}" for text in texts[1:])
    yield f"(plan and peak at batch {largest.batch})"
    yield ""


def lines(cells, gflop, peak, demands=DEMANDS):
    """The report.

    Parameters
    ----------
    cells : list of Cell
    gflop : dict of str to float
        Network -> arithmetic of one image.
    peak : float
        Peak GFLOP/s of the machine's cores together.
    demands : sequence
        Required ratios, in the form of `DEMANDS`.

    Yields
    ------
    str
    """
    for network in dict.fromkeys(cell.network for cell in cells):
        of_network = [cell for cell in cells if cell.network == network]
        yield from _table(network, of_network, gflop[network], peak)
    for group, network, how, least in demands:
        multiples = ratios(cells, group, network)
        if multiples:
            average = statistics.median if how == "median" else statistics.geometric_mean
            value = average(multiples)
            versus = " or ".join(GROUPS[group])
            verdict = "reached" if value >= least else "MISSED"
            yield (
                f"{how} of {len(multiples):2} ratios to {versus:{LABEL}} {network or 'all':14}"
                f" {value:5.2f}  (asked: {least:.2f}, {verdict})"
            )
    yield f"FMA peak of this machine: {peak:.0f} GFLOP/s"
