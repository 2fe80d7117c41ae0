"""Virtual devices: GPU contexts whose arrays lie in the memory of the host.

With MXCY_VIRTUAL_DEVICES=n the contexts gpu(0) to gpu(n - 1) can be used without any GPU. Their
operations take the way that a GPU's take through the engine, so that programs for several devices
can be tried and tested anywhere.
"""

from mxcy import env
from mxcy._library import front
from mxcy.context import num_gpus, serve_device

__all__ = ["VirtualDevices", "offer"]


class VirtualDevices:
    """The backend of virtual devices; see `mxcy.context.serve_device`.

    Parameters
    ----------
    number : int
        How many there are.
    """

    def __init__(self, number):
        self._number = number

    def count(self):
        """How many there are."""
        return self._number

    def memory_info(self, device_id):
        """(free, total) bytes: those of the host."""
        return front.host_memory()

    def empty_cache(self, device_id):
        """Do nothing: all that is kept is in the pools of `mxcy.storage`."""

    def memory_source(self, device_type, device_id):
        """0: the memory is the host's."""
        return 0


def offer():
    """Serve GPU contexts by virtual devices, if some are requested and there is no GPU.

    Returns
    -------
    bool
        Whether there are any.
    """
    number = env.get("MXCY_VIRTUAL_DEVICES")
    if not number or num_gpus():
        return False
    serve_device("gpu", VirtualDevices(number))
    return True
