"""Sends and receives as operations of the engine."""

from mxcy._base.errors import caller
from mxcy._library import front
from mxcy.context import cpu

__all__ = ["TRAVELS", "complete", "operation", "window"]

#: what travels in another type, that sums are made in
TRAVELS = {"float16": "float32", "bfloat16": "float32", "bool": "uint8"}


def window(array):
    """An array of its own over the memory of another, which the engine does not order."""
    return front.from_memory(array.address, array, array.shape, array.dtype_code, array.context)


def operation(function, reads, writes, name, kind, priority=0):
    """Push a function to the engine; see `mx.engine.push`."""
    context = cpu()
    front.push(
        function,
        reads,
        writes,
        name,
        caller(),
        priority,
        kind,
        context.device_typeid,
        context.device_id,
    )


def complete(completion, targets):
    """End an operation with the error of what it wrote, if there is one."""
    text = None
    for target in targets:
        try:
            target.wait_to_read()
        except Exception as error:
            text = str(error)
    completion(text) if text else completion()
