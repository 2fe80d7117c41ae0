"""Which CUDA devices there are: what `mxcy.context` and `mxcy.storage` ask about them."""

import functools
import importlib.util

from mxcy import env
from mxcy.base import MXNetError
from mxcy.context import memory_source, serve_device
from mxcy.gpu import driver

__all__ = ["CudaDevices", "is_device", "offer"]


class CudaDevices:
    """The backend of CUDA devices; see `mxcy.context.serve_device`."""

    @functools.cache  # noqa: B019  there is one backend in a process
    def count(self):
        """How many there are; none where the driver does not start."""
        try:
            return driver.count()
        except MXNetError:
            if env.is_set("MXCY_CUDA_DRIVER"):
                raise
            return 0

    def memory_info(self, device_id):
        """(free, total) bytes of a device."""
        return driver.memory(device_id)

    def empty_cache(self, device_id):
        """Do nothing: all that is kept is in the pools of `mxcy.storage`."""

    def memory_source(self, device_type, device_id):
        """Where pools take their memory from; see `mxcy.context.memory_source`."""
        if device_type == "gpu":
            return driver.source(device_id)
        return driver.pinned_source() if device_type == "cpu_pinned" and self.count() else 0


def offer():
    """Serve GPU contexts by CUDA devices, where there is a driver and CuPy is installed.

    The driver starts when somebody asks for a device; virtual devices need to know at once.

    Returns
    -------
    bool
        Whether GPU contexts are CUDA's.

    Raises
    ------
    EnvError
        When MXCY_CUDA_DRIVER names no driver.
    """
    problem = driver.open_driver(env.get("MXCY_CUDA_DRIVER"))
    if problem:
        if env.is_set("MXCY_CUDA_DRIVER"):
            raise env.EnvError(f"MXCY_CUDA_DRIVER: {problem}")
        return False
    if importlib.util.find_spec("cupy") is None:
        return False
    devices = CudaDevices()
    if env.get("MXCY_VIRTUAL_DEVICES") and not devices.count():
        return False
    serve_device("gpu", devices)
    return True


def is_device(context):
    """Whether the host cannot touch the memory of a context's arrays."""
    return context.device_type == "gpu" and memory_source(context) != 0
