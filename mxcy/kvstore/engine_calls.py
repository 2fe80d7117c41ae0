"""Communication as operations of the engine."""

import threading

from mxcy._base.errors import caller
from mxcy._library import front
from mxcy.context import cpu

__all__ = ["DEVICE", "SUM_DTYPES", "Once", "complete", "operation", "window"]

#: dtypes that are summed in another dtype
SUM_DTYPES = {"float16": "float32", "bfloat16": "float32", "bool": "uint8"}


#: type and number of the device of operations
DEVICE = cpu().device_typeid, cpu().device_id


class Once:
    """Something that happens once, and a function to call after it, given before or afterwards."""

    def __init__(self):
        self._first = threading.Lock()
        self._function = None

    def happen(self):
        """It has happened."""
        if not self._first.acquire(blocking=False):
            self._function()

    def tell(self, function):
        """Call a function once it has happened."""
        self._function = function
        if not self._first.acquire(blocking=False):
            function()


def window(array):
    """An array over another's memory that the engine does not synchronize."""
    return front.from_memory(array.address, array, array.shape, array.dtype_code, array.context)


def operation(function, reads, writes, name, kind, priority=0):
    """Push a function to the engine; see `mx.engine.push`."""
    front.push(function, reads, writes, name, caller(1), priority, kind, *DEVICE)


def complete(completion, targets):
    """Complete an operation, with the error of its outputs if there is one."""
    text = None
    for target in targets:
        try:
            target.wait_to_read()
        except Exception as error:
            text = str(error)
    completion(text) if text else completion()
