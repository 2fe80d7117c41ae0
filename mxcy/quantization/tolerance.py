"""Choose the layers that stay float so that the error of a quantized network meets a tolerance.

Each layer is quantized alone to measure its error; squares of independent errors add up. Layers are
sorted by squared error per share of the work, and the first ones stay float, as many as needed.
"""

import math

import numpy as np

from mxcy.graph.node import output_name, topological
from mxcy.quantization import calibration
from mxcy.quantization.collectors import CalibrationCollector
from mxcy.symbol import Symbol

__all__ = ["float_layers", "outputs_around", "relative_error"]

#: number of examples to measure a layer's error with
_EXAMPLES = 16
#: cost of reading or writing a value, in multiply-adds
_TRAFFIC = 32


class _Results(CalibrationCollector):
    """Collect the outputs of a network."""

    def __init__(self, names):
        super().__init__()
        self.include_layers, self.arrays = names, {name: [] for name in names}

    def collect(self, name, op_name, arr):
        self.arrays[name].append(arr.asnumpy())


def results(sym, values, batches, ctx):
    """Return the outputs of a network.

    Parameters
    ----------
    sym : Symbol
    values : dict of str to NDArray
        Parameters and auxiliary states.
    batches : list of dict of str to NDArray
    ctx : Context

    Returns
    -------
    list of list of numpy.ndarray
        For each output the arrays of all batches.
    """
    names = [output_name(*entry) for entry in sym._entries]
    kept = _Results(names)
    calibration.collect(sym, values, batches, kept, ctx)
    return [kept.arrays[name] for name in names]


def relative_error(outputs, expected):
    """Return the root mean square error relative to the standard deviation, of the worst output.

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
    """Return the names of all arrays whose range may be needed, whichever layers stay float.

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
    """Return the layers that stay float to meet a tolerance.

    Parameters
    ----------
    sym, qsym : Symbol
        The float network, and the network with all layers quantized.
    finish : callable
        ``finish(kept)`` returns the calibrated network and its parameters if `kept` stay float.
    values : dict of str to NDArray
        Parameters of the float network.
    batches : list of dict of str to NDArray
        Calibration data.
    ctx : Context
    tolerance : float
        The largest `relative_error`.
    logger : logging.Logger, optional

    Returns
    -------
    list of str
        Names of nodes.
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
    count = max(1, _EXAMPLES // max(1, *(len(a) for a in batches[0].values())))
    harms = {name: error(names - {name}, count) for name in sorted(names)}
    works = _works(layers, values, batches[0])
    order = sorted(sorted(names), key=lambda name: -(harms[name] ** 2) / works[name])
    enough, least = len(order), 0
    while least < enough:  # `enough` float layers meet the tolerance, fewer than `least` do not
        count = (least + enough) // 2
        if error(order[:count], len(batches)) <= tolerance:
            enough = count
        else:
            least = count + 1
    if logger is not None:
        logger.info("Layers that stay float for the tolerance: %s", order[:enough])
    return order[:enough]


def _layers(sym, qsym):
    """Return the quantized nodes that are faster in 8 bits by themselves."""
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
    """Return the estimated cost of each layer in float, by name."""
    outputs = Symbol([(node, 0) for node in layers])
    inputs = set(outputs.list_inputs())
    shapes = {name: array.shape for name, array in batch.items() if name in inputs}
    works = {}
    for node, shape in zip(layers, outputs.infer_shape(**shapes)[1], strict=True):
        weights = [values[source.name] for source, _ in node.inputs if source.name in values]
        products = max((weight.size // max(1, len(weight)) for weight in weights), default=1)
        works[node.name] = math.prod(shape) * (products + _TRAFFIC) or 1
    return works
