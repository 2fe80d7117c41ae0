"""The warning for operators without a rule for their inputs' storage types."""

from mxcy import env

__all__ = ["warn"]

_warned: set = set()  # (operator, storage types, device) already warned about


def _types(arrays):
    return "[" + "".join(f"{stype}, " for stype in arrays) + "]"


def _params(op, attrs):
    """Format the non-default attributes as a dictionary."""
    shown = (
        f'"{field.name}" : {value}, '
        for field in op.schema.fields
        for value in (getattr(attrs, field.name),)
        if field.type.dynamic or value != field.default
    )
    return "{" + "".join(shown) + "}"


def warn(op, attrs, inputs, outputs, kind):
    """Warn, once per signature and process, that sparse arrays are converted to dense ones.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    inputs, outputs : sequence of NDArray
        `outputs` is empty unless the caller passed arrays.
    kind : str
        The output's storage type if the caller passed no outputs.
    """
    if not env.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE"):
        return
    results = [array.stype for array in outputs] or [kind] * op.visible(attrs)
    context = inputs[0].context if inputs else outputs[0].context
    # Exclude attributes: learning rates and update counts differ in every step.
    call = (op.name, *(array.stype for array in inputs), *results, context.device_type)
    if call in _warned:
        return
    _warned.add(call)
    text = (
        "Storage type fallback detected:\n"
        f"operator = {op.name}\n"
        f"input storage types = {_types(array.stype for array in inputs)}\n"
        f"output storage types = {_types(results)}\n"
        f"params = {_params(op, attrs)}\n"
        f"context.dev_mask = {context.device_type}"
    )
    import logging  # imported only when needed

    logging.getLogger("mxcy").warning(
        "%s\nThe operator does not support these storage types and runs on dense copies of its "
        "inputs. Results are correct, but take more time and memory; "
        "MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 silences this.",
        text,
    )
