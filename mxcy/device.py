"""`mx.device`: contexts under the names of MXNet 2."""

from mxcy.context import Context as Device
from mxcy.context import cpu, cpu_pinned, gpu, gpu_memory_info, num_gpus
from mxcy.context import current_context as current_device


class _Current:
    """The current thread's device as in MXNet 2, whose tests set it."""

    get = staticmethod(current_device)

    @staticmethod
    def set(device):
        Device.default_ctx = device


_current = _Current()

__all__ = ["Device", "cpu", "cpu_pinned", "current_device", "gpu", "gpu_memory_info", "num_gpus"]
