"""Which layers have to stay float so that a quantized network stays near to the float one.

Each layer is tried alone in 8 bits; errors of independent roundings add up by their squares. Those
that do most harm for their share of the work come first, and as many are left float as it takes.
"""

import math

import numpy as np

from mxcy.graph.node import output_name, topological
from mxcy.quantization import calibration
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.symbol import Symbol

__all__ = ["float_layers", "outputs_around", "relative_error"]

#: examples that each layer is tried with
_EXAMPLES = 16
#: what reading or writing a number costs beside a product of floats
_TRAFFIC = 32


class _Results(CalibrationCollector):
    """Keeps what a network returns."""

    def __init__(self, names):
        super().__init__()
        self.include_layers, self.arrays = names, {name: [] for name in names}

    def collect(self, name, op_name, arr):
        self.arrays[name].append(arr.asnumpy())


def results(sym, values, batches, ctx):
    """What a network returns for batches.

    Parameters
    ----------
    sym : Symbol
    values : dict of str to NDArray
        Parameters and states.
    batches : list of dict of str to NDArray
    ctx : Context

    Returns
    -------
    list of list of numpy.ndarray
        For each output the arrays of the batches.
    """
    names = [output_name(*entry) for entry in sym._entries]
    kept = _Results(names)
    calibration.collect(sym, values, batches, kept, ctx)
    return [kept.arrays[name] for name in names]


def relative_error(outputs, expected):
    """The root mean square of errors over the standard deviation, of the worst output.

    Parameters
    ----------
    outputs, expected : list of list of numpy.ndarray

    Returns
    -------
    float
    """
    worst = 0.0
    for actual, wanted in zip(outputs, expected, strict=True):
        if not wanted or wanted[0].dtype.kind not in "fV" or not sum(part.size for part in wanted):
            continue
        right = np.concatenate([part.ravel().astype(np.float64) for part in wanted])
        errors = np.concatenate([part.ravel().astype(np.float64) for part in actual]) - right
        error, deviation = math.sqrt(np.mean(errors**2)), right.std()
        worst = max(worst, error / deviation if deviation > 0 else error)
    return worst


def outputs_around(sym):
    """The names of all arrays whose range may be wanted, whichever layers stay float.

    Parameters
    ----------
    sym : Symbol

    Returns
    -------
    set of str
    """
    nodes = [n for n in topological(sym._entries) if n.op is not None and n.op.quantized]
    entries = [entry for node in nodes for entry in ((node, 0), *node.inputs)]
    return {output_name(*entry) for entry in entries if entry[0].op is not None}


def float_layers(sym, qsym, finish, values, batches, ctx, tolerance, logger=None):
    """The layers that stay float.

    Parameters
    ----------
    sym, qsym : Symbol
        The float network, and the one with all its layers quantized.
    finish : callable
        ``finish(kept)``: the calibrated network and its parameters, where `kept` stay float.
    values : dict of str to NDArray
        The float network's parameters.
    batches : list of dict of str to NDArray
        Calibration data.
    ctx : Context
    tolerance : float
        The largest `relative_error`.
    logger : logging.Logger, optional

    Returns
    -------
    list of str
        The names of nodes.
    """
    expected = results(sym, values, batches, ctx)

    def error(kept, count):
        network, parameters = finish(frozenset(kept))
        actual = results(network, parameters, batches[:count], ctx)
        return relative_error(actual, [arrays[:count] for arrays in expected])

    if error((), len(batches)) <= tolerance:
        return []
    layers = _layers(sym, qsym)
    names = {node.name for node in layers}
    few = max(1, _EXAMPLES // max(1, *(len(a) for a in batches[0].values())))
    harms = {name: error(names - {name}, few) for name in sorted(names)}
    works = _works(layers, values, batches[0])
    order = sorted(sorted(names), key=lambda name: -(harms[name] ** 2) / works[name])
    enough, least = len(order), 0
    while least < enough:  # of `enough` layers the error is small, of fewer than `least` it is not
        count = (least + enough) // 2
        if error(order[:count], len(batches)) <= tolerance:
            enough = count
        else:
            least = count + 1
    if logger is not None:
        logger.info("Layers that stay float for the tolerance: %s", order[:enough])
    return order[:enough]


def _layers(sym, qsym):
    """The nodes that are worth quantizing, and are quantized."""
    quantized = {node.name for node in topological(qsym._entries)}
    return [
        node
        for node in topological(sym._entries)
        if node.op is not None
        and node.op.quantized
        and node.op.quantized.must
        and f"quantized_{node.name}" in quantized
    ]


def _works(layers, values, batch):
    """About how long each layer takes in floats, by its name."""
    whole = Symbol([(node, 0) for node in layers])
    inputs = set(whole.list_inputs())
    shapes = {name: array.shape for name, array in batch.items() if name in inputs}
    works = {}
    for node, shape in zip(layers, whole.infer_shape(**shapes)[1], strict=True):
        weights = [values[source.name] for source, _ in node.inputs if source.name in values]
        products = max((weight.size // max(1, len(weight)) for weight in weights), default=1)
        works[node.name] = math.prod(shape) * (products + _TRAFFIC) or 1
    return works
