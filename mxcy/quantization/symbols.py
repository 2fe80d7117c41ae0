"""Quantization of symbols and parameters by the graph pass."""

import functools
import logging
import warnings

from mxcy import env
from mxcy import ndarray as nd
from mxcy._base import cpus
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn
from mxcy.base import MXNetError
from mxcy.graph.node import topological
from mxcy.graph.passes import quantize
from mxcy.ops.core.record import REGISTRY
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
    """Replace float operators by quantized ones.

    Parameters
    ----------
    sym : Symbol
    ctx, device : Context, optional
        Ignored.
    excluded_symbols, excluded_operators : list of str, optional
        Nodes and operators that stay float.
    offline_params : list of str, optional
        Names of the variables that are parameters.
    quantized_dtype, quantize_mode, quantize_granularity : str
        See `quantize_model`.

    Returns
    -------
    (Symbol, list of str)
        The quantized network, and the outputs whose ranges need calibration.

    Raises
    ------
    MXNetError
        If the mode is unknown.
    """
    if quantize_mode not in _MODES:
        raise MXNetError(f"unrecognized quantize mode: {quantize_mode}, expected `full` or `smart`")
    options = quantize.Options(
        dtype=quantized_dtype,
        mode=quantize_mode,
        by_channel=quantize_granularity == "channel-wise",
        names=frozenset(excluded_symbols or ()),
        operators=frozenset(excluded_operators or ()),
        parameters=frozenset(offline_params or ()),
        after_readers=is_np_array(),
    )
    _warn_of_slow_layers()
    _warn_of_unknown(sym, options)
    result = quantize.run(sym._entries, options)
    quantized = type(sym)(result.entries)
    if env.get("MXNET_QUANTIZATION_VERBOSE"):
        for name in quantized_nodes(result.entries):
            logging.getLogger(__name__).warning("%s is quantized.", name)
    if "passes" in env.get("MXCY_VERBOSE"):
        print_table(result)
    return quantized, result.layers


def _warn_of_unknown(sym, options):
    """Warn of excluded nodes that the network lacks, and of excluded operators that nothing has."""
    known = set()
    for node in topological(sym._entries) if options.names else ():
        known |= quantize.names_inside(node)
    unknown = sorted(options.names - known)
    if unknown:
        warn(
            f"excluded layers that the network does not have: {unknown}"
            + did_you_mean(unknown[0], known)
        )
    unknown = sorted(options.operators - REGISTRY.keys())
    if unknown:
        warn(
            f"excluded operators that do not exist: {unknown}" + did_you_mean(unknown[0], REGISTRY)
        )


def calibrate_symbol(qsym, ranges):
    """Return a copy of a quantized symbol with calibrated ranges.

    Parameters
    ----------
    qsym : Symbol
    ranges : dict of str to (float, float)
        Ranges by the names of float outputs; if empty, `qsym` itself is returned.

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
            f"uint8 was requested, but calibration found negative values in {', '.join(signed)}:"
            " fused layers use int8 for them, others clip them to 0; quantize with int8 or auto",
            stacklevel=3,
        )
    if "passes" in env.get("MXCY_VERBOSE"):
        print_table(ranges=ranges)
    return copied


@functools.cache
def _warn_of_slow_layers():
    if not cpus.multiplies_octets():
        logging.getLogger(__name__).warning(
            "quantization: 8-bit layers have fast kernels for AVX2, and for AVX-512 with VNNI; on "
            "this CPU quantized networks give correct results but are not faster (if it has "
            "AVX-512, set MXCY_ISA=v3 for the kernels for AVX2)"
        )


def quantize_parameters(qsym, params, th_dict=None, *, min_max_dict=None):
    """Return the parameters of a quantized network.

    Parameters
    ----------
    qsym : Symbol
    params : dict of str to NDArray
        Parameters of the float network.
    th_dict, min_max_dict : dict of str to (float, float), optional
        Ignored: calibrated ranges are in the symbol.

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
    """Yield the names of gammas that float operators take for 1 (`fix_gamma`); int8 ones do not."""
    for node in topological(qsym._entries):
        if node.op is None or node.op.quantized is not None:
            continue
        if "fix_gamma" in node.op.schema.by_name and node.parsed.fix_gamma:
            source, _ = node.inputs[node.op.arguments(node.parsed).index("gamma")]
            yield source.name
