"""Quantization of Gluon networks."""

import itertools

import numpy as np

from mxcy import autograd, symbol
from mxcy import ndarray as nd
from mxcy import numpy as mx_np
from mxcy.gluon import HybridBlock, SymbolBlock
from mxcy.gluon.tracing import flatten
from mxcy.graph.fused.ranges import give_floats
from mxcy.quantization import calibration
from mxcy.quantization.adjust import Preparation
from mxcy.quantization.batches import as_data_iter, named_batches
from mxcy.quantization.checks import check_calibration, device_of, names_of
from mxcy.quantization.model import quantize_graph, ranges_of
from mxcy.quantization.symbols import calibrate_symbol, quantize_parameters, quantize_symbol
from mxcy.quantization.tolerance import float_layers, outputs_around
from mxcy.util import is_np_array

__all__ = ["quantize_net", "quantize_net_v2"]

#: number of calibration examples that parameters are adjusted with
_EXAMPLES = 64


def quantize_net(
    network,
    quantized_dtype="auto",
    quantize_mode="full",
    exclude_layers=None,
    exclude_layers_match=None,
    exclude_operators=None,
    calib_data=None,
    data_shapes=None,
    calib_mode="none",
    num_calib_examples=None,
    ctx=None,
    logger=None,
    *,
    quantize_granularity="tensor-wise",
    LayerOutputCollector=None,  # noqa: N803 - MXNet's name
    device=None,
    num_calib_batches=None,
    adjust_parameters=True,
    tolerance=None,
):
    """Quantize a float block to a block of operators on 8-bit integers; `network` is not modified.

    Parameters
    ----------
    network : HybridBlock
        An initialized block.
    quantized_dtype, quantize_mode
        See `quantize_model`.
    exclude_layers : list of str, optional
        Names of graph nodes that stay float.
    exclude_layers_match : list of str, optional
        Substrings of the names of nodes that stay float. As in MXNet 2, these are names after
        fusion, such as ``sg_onednn_conv_act_0``, under NumPy semantics.
    exclude_operators : list of str, optional
        Operators (after fusion) that stay float.
    calib_data : DataIter or DataLoader, optional
        Calibration data.
    data_shapes : list of DataDesc or tuple, optional
        Shapes of the inputs; those of the calibration data by default.
    calib_mode : {'none', 'naive', 'entropy', 'customize', 'custom'}
        See `quantize_graph`.
    num_calib_examples, num_calib_batches : int, optional
        Number of examples or batches to use; all by default.
    ctx, device : Context, optional
        Where calibration runs; the CPU by default.
    logger : logging.Logger, optional
    quantize_granularity : str
        See `quantize_model`.
    LayerOutputCollector : object, optional
        See `quantize_graph`.
    adjust_parameters : bool
        Whether to mix and equalize channels, round weights and correct biases by the calibration
        data, which brings results closer to the float network's.
    tolerance : float, optional
        Largest allowed root mean square error relative to the standard deviation of the outputs, on
        the first calibration data. Layers with the largest error for their share of the work stay
        float until it is met. Each layer is tried alone, which takes a while.

    Returns
    -------
    SymbolBlock

    Raises
    ------
    ValueError
        If `network` is not a HybridBlock, the shapes of the inputs are unknown, or another argument
        is invalid.
    """
    if not isinstance(network, HybridBlock):
        raise ValueError(f"network must be a HybridBlock, while received type {type(network)}")
    ctx = device_of(ctx, device)
    calibrates = _calibrates(calib_mode, calib_data, tolerance)
    shapes, calib_data = _shapes_and_data(data_shapes, calib_data)
    traced = _trace(network, _examples(shapes, calib_data, ctx))
    graph, parameters = network._graph_to_export(traced)
    values = {name: param._reduce().as_in_context(ctx) for name, param in parameters.items()}
    states = set(graph.list_auxiliary_states())
    backend = None
    if ctx.device_type == "cpu":
        backend = "ONEDNN_QUANTIZE" if is_np_array() else "MKLDNN_QUANTIZE"
    fused = graph if backend is None else graph.get_backend_symbol(backend)
    # MXNet 2 matches names after fusion: before, most are node_0, node_1 ...
    named = fused if is_np_array() else graph
    excluded = _excluded(named, exclude_layers, exclude_layers_match, logger)
    qsym, _, _, collector = quantize_graph(
        fused,
        {name: array for name, array in values.items() if name not in states},
        {name: array for name, array in values.items() if name in states},
        ctx,
        excluded,
        exclude_operators,
        calib_mode,
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
        LayerOutputCollector,
        logger,
    )
    options = (quantized_dtype, quantize_mode, quantize_granularity)
    task = _Task(fused, qsym, values, backend, (excluded, exclude_operators, options))
    kept = frozenset()
    if calibrates:
        batches = named_batches(calib_data, traced.inputs, num_calib_examples, num_calib_batches)
        count = max(1, _EXAMPLES // max(1, calib_data.batch_size))
        first = list(itertools.islice(batches, count))
        if adjust_parameters and ctx.device_type == "cpu":
            custom = calib_mode in ("custom", "customize")  # its ranges may be those of `network`
            task.prepare(first, ctx, scales=not custom)
        batches = itertools.chain(first, batches)
        task.calibrate(batches, collector, ctx, logger, num_calib_batches, tolerance is not None)
        if tolerance is not None:
            kept = frozenset(
                float_layers(fused, qsym, task.finish, values, first, ctx, tolerance, logger)
            )
    qsym, values = task.finish(kept)
    return _block(qsym, traced.inputs, values, ctx)


def _calibrates(calib_mode, calib_data, tolerance):
    """Return whether to calibrate, after validating the arguments for that."""
    calibrates = check_calibration(calib_mode)
    if calibrates and calib_data is None:
        raise ValueError(f"calib_data must be provided when calib_mode={calib_mode}")
    if tolerance is not None and not (calibrates and tolerance >= 0):
        raise ValueError(
            f"tolerance: expected a number >= 0 and a mode that calibrates, got {tolerance} and "
            f"calib_mode={calib_mode}"
        )
    return calibrates


def _shapes_and_data(data_shapes, calib_data):
    """Return the shapes of the inputs, and the calibration data as an iterator or None."""
    shapes = None if data_shapes is None else [getattr(d, "shape", d) for d in data_shapes]
    if calib_data is not None:
        calib_data, described = as_data_iter(calib_data)
        shapes = shapes or [shape for _, shape in (d[:2] for d in described)]
    if not shapes:
        raise ValueError(
            "data_shapes required: at least one of data_shapes or calib_data has to be provided."
        )
    return shapes, calib_data


def _excluded(graph, layers, matches, logger):
    """Return the names of nodes that stay float."""
    names = [*names_of(layers, "exclude_layers", "layers")]
    for match in matches or ():
        names += [layer.name for layer in graph.get_internals() if match in layer.name]
    if logger:
        logger.info("These layers have been excluded %s", names)
    return names


class _Task:
    """State of the quantization of one network.

    Attributes
    ----------
    preparation : Preparation or None
        Adjusted parameters.
    ranges : dict of str to (float, float)
        Calibrated ranges by array name.
    """

    def __init__(self, sym, qsym, values, backend, selection):
        self._sym, self._qsym, self._values = sym, qsym, values
        self._backend, self._selection = backend, selection
        self.preparation, self.ranges = None, {}

    def prepare(self, batches, ctx, scales):
        """Adjust the parameters by calibration batches; `scales` allows to equalize channels."""
        self.preparation = Preparation(
            self._sym, self._qsym, self._values, batches, ctx, scales=scales
        )

    def calibrate(self, batches, collector, ctx, logger, num_batches, any_layer):
        """Collect the ranges of arrays, also around layers that may stay float if `any_layer`."""
        quantized = getattr(collector, "include_layers", None)  # if no layer stays float
        if any_layer:
            wanted = {*(collector.include_layers or ()), *outputs_around(self._sym)}
            collector.include_layers = sorted(wanted)
        calibration.collect(
            self._sym, self.parameters(), batches, collector, ctx, logger, num_batches
        )
        _, _, (dtype, *_) = self._selection
        self.ranges = ranges_of(collector, dtype, logger)
        if self.preparation:
            self.ranges = self.preparation.widened(self.ranges)
            known = self.ranges
            if quantized is not None:
                known = {name: self.ranges.get(name) for name in quantized}
            self.preparation.round(known, dtype)

    def parameters(self, kept=frozenset()):
        """Return parameters and auxiliary states if the nodes in `kept` stay float too."""
        return self.preparation.rounded(kept) if self.preparation else self._values

    def finish(self, kept):
        """Return the calibrated network and its parameters if nodes in `kept` stay float too."""
        values, qsym = self.parameters(kept), self._qsym
        if kept:
            names, operators, options = self._selection
            excluded = [*names, *kept]
            qsym, _ = quantize_symbol(self._sym, None, excluded, operators, [*values], *options)
        qsym = calibrate_symbol(qsym, self.ranges)
        values = {**values, **quantize_parameters(qsym, values)}
        if self._backend is not None:
            qsym = qsym.get_backend_symbol(self._backend)
            if self.preparation:
                qsym = type(qsym)(give_floats(qsym._entries))
        return qsym, values


def _examples(shapes, calib_data, ctx):
    """Return zeros with the shapes of the inputs and the dtypes of the data, to trace with."""
    types = [np.float32] * len(shapes)
    if calib_data is not None:
        calib_data.reset()
        first = next(iter(calib_data)).data
        types = [array.dtype for array in first] + types[len(first) :]
        calib_data.reset()
    zeros = mx_np.zeros if is_np_array() else nd.zeros
    return [zeros(tuple(s), dtype=t, ctx=ctx) for s, t in zip(shapes, types, strict=False)]


def _trace(network, inputs):
    """Trace a network; trailing inputs, such as labels, are dropped until it accepts them."""
    while True:
        try:
            with autograd.pause():
                network(*inputs)  # completes deferred initialization
            break
        except (TypeError, ValueError):
            if len(inputs) == 1:
                raise
            inputs = inputs[:-1]
    known = network._calls
    try:
        network._get_graph(*inputs)
        if network._calls is None:  # a SymbolBlock
            return network._only_trace()
        return network._calls.trace(network, *flatten(inputs))
    finally:
        network._calls = known


def _block(qsym, inputs, values, ctx):
    """Return the quantized network as a block with its parameters."""
    block = SymbolBlock(qsym, [symbol.var(name) for name in inputs])
    for name, parameter in block.collect_params().items():
        parameter.grad_req = "null"
        parameter._load_init(values[name], ctx, cast_dtype=True, dtype_source="saved")
    return block


def quantize_net_v2(
    network,
    quantized_dtype="auto",
    quantize_mode="full",
    quantize_granularity="tensor-wise",
    exclude_layers=None,
    exclude_layers_match=None,
    exclude_operators=None,
    calib_data=None,
    data_shapes=None,
    calib_mode="none",
    num_calib_examples=None,
    ctx=None,
    LayerOutputCollector=None,  # noqa: N803 - MXNet's name
    logger=None,
    **kwargs,
):
    """Call `quantize_net` with the parameter order of MXNet 2.

    Parameters
    ----------
    network, quantized_dtype, quantize_mode, quantize_granularity, exclude_layers
        See `quantize_net`.
    exclude_layers_match, exclude_operators, calib_data, data_shapes, calib_mode
        See `quantize_net`.
    num_calib_examples, ctx, LayerOutputCollector, logger, **kwargs
        See `quantize_net`.

    Returns
    -------
    SymbolBlock
    """
    return quantize_net(
        network,
        quantized_dtype,
        quantize_mode,
        exclude_layers,
        exclude_layers_match,
        exclude_operators,
        calib_data,
        data_shapes,
        calib_mode,
        num_calib_examples,
        ctx,
        logger,
        quantize_granularity=quantize_granularity,
        LayerOutputCollector=LayerOutputCollector,
        **kwargs,
    )
