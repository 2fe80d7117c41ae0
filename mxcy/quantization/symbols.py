"""Quantized symbols and parameters: the graph pass as `mx.contrib.quantization` calls it."""

import functools
import logging
import warnings

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base import cpus
from mxcy.base import MXNetError
from mxcy.graph.node import topological
from mxcy.graph.passes import quantize
from mxcy.quantization.table import print_table, quantized_nodes
from mxcy.util import is_np_array

__all__ = ["calibrate_symbol", "quantize_parameters", "quantize_symbol"]

_MODES = ("full", "smart")


def quantize_symbol(
    sym,
    ctx=None,
    excluded_symbols=None,
    excluded_operators=None,
    offline_params=None,
    quantized_dtype="int8",
    quantize_mode="full",
    quantize_granularity="tensor-wise",
    *,
    device=None,
):
    """Put quantized operators in the place of float ones.

    Parameters
    ----------
    sym : Symbol
    ctx, device : Context, optional
        Not looked at.
    excluded_symbols, excluded_operators : list of str, optional
        Nodes and operators that stay float.
    offline_params : list of str, optional
        Variables that are parameters.
    quantized_dtype, quantize_mode, quantize_granularity : str
        See `quantize_model`.

    Returns
    -------
    (Symbol, list of str)
        The quantized network and the outputs whose ranges calibration has to find.

    Raises
    ------
    MXNetError
        When the mode is not known.
    """
    if quantize_mode not in _MODES:
        raise MXNetError(f"unrecognized quantize mode: {quantize_mode}")
    options = quantize.Options(
        dtype=quantized_dtype,
        mode=quantize_mode,
        by_channel=quantize_granularity == "channel-wise",
        names=frozenset(excluded_symbols or ()),
        operators=frozenset(excluded_operators or ()),
        parameters=frozenset(offline_params or ()),
        after_readers=is_np_array(),
    )
    _tell_once()
    result = quantize.run(sym._entries, options)
    quantized = type(sym)(result.entries)
    if env.get("MXNET_QUANTIZATION_VERBOSE"):
        for name in quantized_nodes(result.entries):
            logging.getLogger(__name__).warning("%s is quantized.", name)
    if "passes" in env.get("MXCY_VERBOSE"):
        print_table(result)
    return quantized, result.layers


def calibrate_symbol(qsym, ranges):
    """A quantized symbol that knows the ranges of its layers.

    Parameters
    ----------
    qsym : Symbol
    ranges : dict of str to (float, float)
        By the names of float outputs; none leave the symbol as it is.

    Returns
    -------
    Symbol
    """
    if not ranges:
        return qsym
    copied = qsym.__copy__()
    signed = quantize.calibrate(copied._entries, ranges)
    if signed:
        warnings.warn(
            f"uint8 was requested, but calibration found negative values for {', '.join(signed)}:"
            " fused layers take them as int8, others lose them; quantize with int8 or auto",
            stacklevel=3,
        )
    if "passes" in env.get("MXCY_VERBOSE"):
        print_table(ranges=ranges)
    return copied


@functools.cache
def _tell_once():
    if not cpus.multiplies_octets():
        logging.getLogger(__name__).warning(
            "quantization: this CPU has no products of 8 bits (VNNI): results are right, but "
            "nothing is gained by them"
        )


def quantize_parameters(qsym, params, th_dict=None, *, min_max_dict=None):
    """The parameters of a quantized network.

    Parameters
    ----------
    qsym : Symbol
    params : dict of str to NDArray
        Those of the float network.
    th_dict, min_max_dict : dict of str to (float, float), optional
        Not looked at: calibrated ranges stand in the symbol.

    Returns
    -------
    dict of str to NDArray
    """
    quantized = {}
    for name in qsym.list_arguments():
        if name in params:
            quantized[name] = params[name]
        elif name.removesuffix("_quantize") in params:
            values = params[name.removesuffix("_quantize")].as_nd_ndarray().astype("float32")
            low, high = (limit(values).reshape((1,)) for limit in (nd.min, nd.max))
            parts = nd.contrib.quantize(values, low, high, out_type="int8")
            quantized |= dict(zip((name, f"{name}_min", f"{name}_max"), parts, strict=True))
    fixed = [name for name in _fixed_gammas(qsym) if name in quantized]
    quantized |= {name: nd.ones_like(quantized[name]) for name in fixed}
    return quantized


def _fixed_gammas(qsym):
    """Scales of normalisations that count as 1: float operators know, quantized ones take them."""
    for node in topological(qsym._entries):
        if node.op is None or node.op.quantized is not None:
            continue
        if "fix_gamma" in node.op.schema.by_name and node.parsed.fix_gamma:
            source, _ = node.inputs[node.op.arguments(node.parsed).index("gamma")]
            yield source.name
