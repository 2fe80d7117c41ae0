"""Validation of the arguments of quantization functions."""

from mxcy.context import Context, cpu

__all__ = ["CALIBRATION_MODES", "check_calibration", "check_options", "device_of", "names_of"]

CALIBRATION_MODES = ("naive", "entropy", "customize", "custom")


def names_of(names, what, of):
    """Return a list of names, empty for None.

    Raises
    ------
    ValueError
        If `names` is not a list.
    """
    if names is None:
        return []
    if not isinstance(names, list):
        raise ValueError(
            f"{what} must be a list of strings representing the names of the {of} that will not "
            f"be quantized, while received type {type(names)}"
        )
    return names


def device_of(ctx, device=None):
    """Return the context that is passed as `ctx` or `device`, the CPU by default.

    Raises
    ------
    ValueError
        If it is not a single context.
    """
    ctx = ctx if device is None else device
    ctx = cpu() if ctx is None else ctx
    if not isinstance(ctx, Context):
        raise ValueError(f"currently only supports single ctx, while received {ctx}")
    return ctx


def check_options(quantized_dtype, quantize_granularity):
    """Raise an error for an unknown dtype or granularity.

    Raises
    ------
    ValueError
    """
    if quantized_dtype not in ("int8", "uint8", "auto"):
        raise ValueError(
            f"unknown quantized_dtype {quantized_dtype} received, expected `int8`, `uint8` or "
            "`auto`"
        )
    if quantize_granularity not in ("tensor-wise", "channel-wise"):
        raise ValueError(
            f"unknown quantize_granularity {quantize_granularity} received, expected "
            "`tensor-wise` or `channel-wise`."
        )


def check_calibration(calib_mode):
    """Return whether a mode calibrates.

    Raises
    ------
    ValueError
        If the mode is unknown.
    """
    if calib_mode is None or calib_mode == "none":
        return False
    if calib_mode not in CALIBRATION_MODES:
        raise ValueError(
            f"unknown calibration mode {calib_mode} received, expected `none`, `naive`, `entropy` "
            "or `customize` (`custom`)"
        )
    return True
