"""CUDA devices as a backend of `mxcy.context` and `mxcy.storage`."""

import functools
import importlib.util
import re
import warnings

from mxcy import env
from mxcy.base import MXNetError
from mxcy.context import memory_source, serve_device
from mxcy.env.table.gpu import MISSING, NO_CUDNN
from mxcy.gpu import driver
from mxcy.gpu.compile import compiler

__all__ = ["CudaDevices", "advice", "is_device", "offer"]


def _without_cudnn():
    """Return why variables of cuDNN have no effect."""
    installed = importlib.util.find_spec("cudnn") is not None
    return MISSING() or ("" if installed else "cuDNN and its frontend for Python are not installed")


NO_CUDNN.ask = _without_cudnn


def _installed():
    """Return the major CUDA version of the installed CuPy; None if unknown."""
    for major in (13, 12, 11):
        if importlib.util.find_spec("cupy") and _has_package(f"cupy-cuda{major}x"):
            return major
    return None


def _has_package(name):
    import importlib.metadata  # it takes what reads archives along, which mxcy does without

    try:
        importlib.metadata.version(name)
    except importlib.metadata.PackageNotFoundError:
        return False
    return True


def advice(known, wanted, nvrtc):
    """Yield warnings about versions that do not match.

    Parameters
    ----------
    known : int
        CUDA version of the driver, such as 13000.
    wanted : int or None
        Major CUDA version of CuPy.
    nvrtc : object or None
        The compiler of CUDA source, with a `version` such as ``"nvrtc 13.2"``.

    Yields
    ------
    str
    """
    major = known // 1000
    if wanted is not None and wanted > major:
        yield (
            f"CuPy is for CUDA {wanted}, but the driver supports CUDA {major} only: install "
            f"cupy-cuda{major}x, or a newer driver (MXNET_CUDA_LIB_CHECKING=0 silences this)"
        )
    if nvrtc is None:
        yield (
            "NVRTC is not installed, so operators on GPUs run by CuPy, slowly; pip install "
            f"'mxcy[cuda{major}]' (MXNET_CUDA_LIB_CHECKING=0 silences this)"
        )
        return
    version = re.match(r"nvrtc (\d+)", nvrtc.version)
    if version and int(version[1]) > major:
        yield (
            f"NVRTC is for CUDA {version[1]}, but the driver supports CUDA {major} only: pip "
            f"install 'mxcy[cuda{major}]' (MXNET_CUDA_LIB_CHECKING=0 silences this)"
        )


class CudaDevices:
    """The backend of CUDA devices; see `mxcy.context.serve_device`."""

    @functools.cache  # noqa: B019  one backend per process
    def count(self):
        """Return the number of devices; 0 if the driver does not start."""
        try:
            number = driver.count()
            if number and env.get("MXNET_CUDA_LIB_CHECKING"):
                for text in advice(driver.version(), _installed(), compiler()):
                    warnings.warn(text, UserWarning, stacklevel=2)
            return number
        except MXNetError:
            if env.is_set("MXCY_CUDA_DRIVER"):
                raise
            return 0

    def memory_info(self, device_id):
        """Return (free, total) bytes of a device."""
        return driver.memory(device_id)

    def empty_cache(self, device_id):
        """Do nothing: only the pools of `mxcy.storage` keep memory."""

    def memory_source(self, device_type, device_id):
        """Return the source of a pool's memory; see `mxcy.context.memory_source`."""
        if device_type == "gpu":
            return driver.source(device_id)
        return driver.pinned_source() if device_type == "cpu_pinned" and self.count() else 0


def offer():
    """Serve GPU contexts by CUDA devices, if there are a driver and CuPy.

    The driver starts with the first request for a device; virtual devices need to know at once.

    Returns
    -------
    bool
        Whether GPU contexts are CUDA devices.

    Raises
    ------
    EnvError
        When MXCY_CUDA_DRIVER names no driver.
    """
    problem = driver.open_driver(env.get("MXCY_CUDA_DRIVER"))
    if problem and env.is_set("MXCY_CUDA_DRIVER"):
        raise env.EnvError(f"MXCY_CUDA_DRIVER: {problem}")
    if problem:
        return _refused("there is no CUDA driver")
    if importlib.util.find_spec("cupy") is None:
        return _refused("there is no CuPy")
    driver.allow_peers(env.get("MXNET_ENABLE_GPU_P2P"))
    devices = CudaDevices()
    if env.get("MXCY_VIRTUAL_DEVICES") and not devices.count():
        return False
    serve_device("gpu", devices)
    return True


def _refused(reason):
    """Note that variables of GPUs have no effect without GPUs; return False."""
    MISSING.ask = lambda: reason
    for name, row in env.VARIABLES.items():
        if row.reader.startswith("mxcy.gpu.") and row.inert == reason and env.is_set(name):
            env.notice(name)
    return False


def is_device(context):
    """Return whether a context's memory is inaccessible from the host."""
    return context.device_type == "gpu" and memory_source(context) != 0
