"""What is told when an operator does not take sparse arrays as they are."""

from mxcy import env

__all__ = ["tell"]

_warned: set = set()  # (operator, storage types, device) of warnings that were given


def _types(arrays):
    return "[" + "".join(f"{stype}, " for stype in arrays) + "]"


def _params(op, attrs):
    """The attributes that are not the default ones, as a printed dictionary."""
    shown = (
        f'"{field.name}" : {value}, '
        for field in op.schema.fields
        for value in (getattr(attrs, field.name),)
        if field.type.dynamic or value != field.default
    )
    return "{" + "".join(shown) + "}"


def tell(op, attrs, inputs, outputs, kind):
    """Warn, once for each kind of call in a process, that sparse arrays are made dense.

    Parameters
    ----------
    op : Op
    attrs : Attrs
    inputs, outputs : sequence of NDArray
        `outputs` is empty unless the caller gave arrays.
    kind : str
        The output's storage type where the caller gave none.
    """
    if not env.get("MXNET_STORAGE_FALLBACK_LOG_VERBOSE"):
        return
    results = [array.stype for array in outputs] or [kind] * op.visible(attrs)
    context = inputs[0].context if inputs else outputs[0].context
    # Without the attributes: rates and counts of updates differ in every step.
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
    import logging  # not before there is something to warn of

    logging.getLogger("mxcy").warning(
        "%s\nThe operator has no rule for these storage types, so it runs on dense copies of its "
        "inputs. Results are right, but take more time and memory; "
        "MXNET_STORAGE_FALLBACK_LOG_VERBOSE=0 silences this.",
        text,
    )
