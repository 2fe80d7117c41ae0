"""Quantization of symbols with parameters."""

import logging

from mxcy import symbol
from mxcy.base import MXNetError
from mxcy.gluon.data import DataLoader
from mxcy.io import DataIter
from mxcy.quantization import calibration
from mxcy.quantization.batches import as_data_iter, named_batches
from mxcy.quantization.checks import check_calibration, check_options, device_of, names_of
from mxcy.quantization.collectors import (
    CalibrationCollector,
    LayerHistogramCollector,
    LayerOutputMinMaxCollector,
)
from mxcy.quantization.symbols import calibrate_symbol, quantize_parameters, quantize_symbol

__all__ = ["calib_graph", "quantize_graph", "quantize_model", "quantize_model_mkldnn"]
__all__ += ["quantize_model_onednn", "ranges_of"]


def quantize_model(
    sym,
    arg_params,
    aux_params,
    data_names=("data",),
    label_names=("softmax_label",),
    ctx=None,
    excluded_sym_names=None,
    excluded_op_names=None,
    calib_mode="entropy",
    calib_data=None,
    num_calib_examples=None,
    quantized_dtype="int8",
    quantize_mode="smart",
    quantize_granularity="tensor-wise",
    logger=None,
    *,
    device=None,
    num_calib_batches=None,
):
    """Quantize a float network to operators on 8-bit integers.

    Parameters
    ----------
    sym : Symbol or str
        The network, or the path of its file.
    arg_params, aux_params : dict of str to NDArray
        Its parameters and auxiliary states.
    data_names, label_names : list of str
        Its inputs, in the order of the arrays of a batch; labels are ignored.
    ctx, device : Context, optional
        Where calibration runs; the CPU by default.
    excluded_sym_names, excluded_op_names : list of str, optional
        Nodes (also inside fused ones) and operators that stay float.
    calib_mode : {'none', 'naive', 'entropy'}
        How the ranges of layers are determined: at run time for each batch; as minimum and maximum
        of the calibration data; or by the clipping threshold with the least KL divergence.
    calib_data : DataIter or DataLoader, optional
        Calibration data.
    num_calib_examples, num_calib_batches : int, optional
        Number of examples or batches to use; all by default.
    quantized_dtype : {'int8', 'uint8', 'auto'}
        The dtype of quantized data; ``'auto'`` is uint8 where calibration found no negative values.
    quantize_mode : {'smart', 'full'}
        ``'smart'`` quantizes operators that are not faster in int8 only between others that are;
        ``'full'`` quantizes all that can be.
    quantize_granularity : {'tensor-wise', 'channel-wise'}
        Whether the weights of a dense layer have one range or one per output.
    logger : logging.Logger, optional
        Receives progress messages.

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray)
        The quantized network, its parameters and the auxiliary states.

    Raises
    ------
    ValueError
        If an argument is not one of the allowed values.
    """
    names_of(excluded_sym_names, "excluded_sym_names", "symbols")
    calibrates = check_calibration(calib_mode)
    ctx = device_of(ctx, device)
    if calibrates:
        calib_data = _checked(calib_data, calib_mode)
    if calib_mode in ("custom", "customize"):
        raise ValueError(
            f"unknown calibration mode {calib_mode} received, expected `none`, `naive`, or "
            "`entropy`"
        )
    sym = symbol.load(sym) if isinstance(sym, str) else sym
    qsym, qarg_params, aux_params, collector = quantize_graph(
        sym,
        arg_params,
        aux_params,
        ctx,
        excluded_sym_names,
        excluded_op_names,
        calib_mode,
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
        logger=logger,
    )
    if not calibrates:
        return qsym, qarg_params, aux_params
    batches = named_batches(calib_data, list(data_names), num_calib_examples, num_calib_batches)
    parameters = {**arg_params, **aux_params}
    calibration.collect(sym, parameters, batches, collector, ctx, logger, num_calib_batches)
    return calib_graph(
        qsym, arg_params, aux_params, collector, calib_mode, quantized_dtype, logger=logger
    )


def _checked(calib_data, calib_mode):
    """Return the calibration data as a `DataIter`.

    Raises
    ------
    ValueError
        If they are missing or of another type.
    """
    if calib_data is None:
        raise ValueError(f"calib_data must be provided when calib_mode={calib_mode}")
    if not isinstance(calib_data, (DataIter, DataLoader)):
        raise ValueError(
            f"calib_data must be of DataIter type or a DataLoader when calib_mode={calib_mode}, "
            f"while received type {type(calib_data)}"
        )
    return as_data_iter(calib_data)[0]


def _with_backend(name, backend):
    def quantize_model_of_backend(sym, arg_params, aux_params, *args, **kwargs):
        """Quantize a network after fusing its layers for oneDNN; see `quantize_model`.

        Parameters
        ----------
        sym, arg_params, aux_params, *args, **kwargs
            See `quantize_model`.

        Returns
        -------
        (Symbol, dict of str to NDArray, dict of str to NDArray)

        Raises
        ------
        ValueError
            If the context is not the CPU.
        """
        ctx = device_of(kwargs.get("ctx", args[2] if len(args) > 2 else None), kwargs.get("device"))
        if ctx.device_type != "cpu":
            raise ValueError(f"{name} only supports the CPU with oneDNN, while received {ctx}")
        sym = symbol.load(sym) if isinstance(sym, str) else sym
        sym = sym.get_backend_symbol(backend)
        qsym, *others = quantize_model(sym, arg_params, aux_params, *args, **kwargs)
        return qsym.get_backend_symbol(backend), *others

    quantize_model_of_backend.__name__ = quantize_model_of_backend.__qualname__ = name
    return quantize_model_of_backend


quantize_model_mkldnn = _with_backend("quantize_model_mkldnn", "MKLDNN_QUANTIZE")
quantize_model_onednn = _with_backend("quantize_model_onednn", "ONEDNN_QUANTIZE")


def quantize_graph(
    sym,
    arg_params,
    aux_params,
    ctx=None,
    excluded_sym_names=None,
    excluded_op_names=None,
    calib_mode="entropy",
    quantized_dtype="int8",
    quantize_mode="full",
    quantize_granularity="tensor-wise",
    LayerOutputCollector=None,  # noqa: N803 - MXNet's name
    logger=None,
    *,
    device=None,
):
    """Quantize a network and create the collector that calibrates it.

    Parameters
    ----------
    sym, arg_params, aux_params, ctx, device, excluded_sym_names, excluded_op_names
        See `quantize_model`.
    calib_mode : {'none', 'naive', 'entropy', 'customize', 'custom'}
        Which collector to create; ``'custom'`` uses `LayerOutputCollector`.
    quantized_dtype, quantize_mode, quantize_granularity
        See `quantize_model`.
    LayerOutputCollector : object, optional
        A `CalibrationCollector`, or an object with ``collect(name, arr)`` and `min_max_dict`.
    logger : logging.Logger, optional

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray, object)
        The quantized network, its parameters, the auxiliary states and the collector.

    Raises
    ------
    ValueError
        If an argument is not one of the allowed values.
    """
    names_of(excluded_sym_names, "excluded_sym_names", "symbols")
    names_of(excluded_op_names, "excluded_op_names", "operators")
    device_of(ctx, device)
    check_options(quantized_dtype, quantize_granularity)
    calibrates = check_calibration(calib_mode)
    if logger:
        logger.info("Quantizing graph")
    qsym, layers = quantize_symbol(
        symbol.load(sym) if isinstance(sym, str) else sym,
        None,
        excluded_sym_names,
        excluded_op_names,
        [*arg_params],
        quantized_dtype,
        quantize_mode,
        quantize_granularity,
    )
    collector = None
    if calibrates:
        collector = _collector(calib_mode, LayerOutputCollector, layers, quantized_dtype, logger)
    return qsym, quantize_parameters(qsym, arg_params), aux_params, collector


def _collector(calib_mode, custom, layers, quantized_dtype, logger):
    """Return the collector of a calibration mode.

    Raises
    ------
    ValueError
        If a custom collector is missing or lacks a method.
    """
    if calib_mode == "entropy":
        return LayerHistogramCollector(
            include_layer=layers, logger=logger, quantized_dtype=quantized_dtype
        )
    if calib_mode == "naive":
        return LayerOutputMinMaxCollector(quantized_dtype, layers, logger)
    if isinstance(custom, CalibrationCollector):
        custom.include_layers = layers
    elif not (hasattr(custom, "collect") and hasattr(custom, "min_max_dict")):
        raise ValueError(
            f"LayerOutputCollector must be a CalibrationCollector when calib_mode={calib_mode}, "
            f"while received type {type(custom)}"
        )
    return custom


def calib_graph(
    qsym,
    arg_params,
    aux_params,
    collector,
    calib_mode="entropy",
    quantized_dtype="int8",
    logger=logging,
):
    """Set the ranges of a quantized network from a collector.

    Parameters
    ----------
    qsym, arg_params, aux_params
        The symbol returned by `quantize_graph`, and the float network's parameters.
    collector : object
    calib_mode : {'naive', 'entropy', 'customize', 'custom'}
    quantized_dtype : str
        See `quantize_model`.
    logger : logging.Logger, optional

    Returns
    -------
    (Symbol, dict of str to NDArray, dict of str to NDArray)
        The calibrated network, its parameters and the auxiliary states.

    Raises
    ------
    ValueError
        If the mode does not calibrate.
    """
    if not check_calibration(calib_mode):
        raise ValueError("please set calibration mode to naive, entropy or custom (customize).")
    ranges = ranges_of(collector, quantized_dtype, logger)
    qsym = calibrate_symbol(qsym, ranges)
    return qsym, quantize_parameters(qsym, arg_params), aux_params


def ranges_of(collector, quantized_dtype, logger=None):
    """Return the ranges of a collector.

    Parameters
    ----------
    collector : object
    quantized_dtype : str
        See `quantize_model`.
    logger : logging.Logger, optional

    Returns
    -------
    dict of str to (float, float)

    Raises
    ------
    MXNetError
        If its `min_max_dict` is not a dict.
    """
    if isinstance(collector, LayerHistogramCollector):
        collector.quantized_dtype = quantized_dtype
        if logger:
            logger.info("Calculating optimal thresholds for quantization")
    ranges = collector.min_max_dict
    if isinstance(collector, CalibrationCollector):
        ranges = collector.post_collect()
    if not isinstance(ranges, dict):
        raise MXNetError(f"calibration: expected a dict of ranges, got {type(ranges)}")
    return ranges
