"""Kernel library of a device.

`mxcy.ops.core.prepare` looks up a record's kernels in a library by their names; the library of a
device has launches under the names of the CPU's kernels.
"""

from mxcy.base import MXNetError
from mxcy.gpu.compile import compiler
from mxcy.gpu.launch import packed
from mxcy.gpu.table import TYPES, NativeCall, Request
from mxcy.ops.core import prepare as core

__all__ = ["DeviceLibrary", "prepare"]

_LAUNCH = "gpu_launch"  # the kernel that runs all launches; see kernels/cuda/launch.cc


def _maker_of(name):
    from mxcy.gpu import kernels  # fifty modules, which most programs do not use

    return kernels.maker_of(name)


class DeviceLibrary:
    """Stand-in for the native library in `mxcy.ops.core.prepare`, for calls on a device.

    Parameters
    ----------
    device : int
    """

    def __init__(self, device):
        self.device = device

    def has_kernel(self, name, dtype):
        """Return whether the device has a kernel of this name."""
        return dtype in TYPES and compiler() is not None and _maker_of(name) is not None

    def query(self, name, params, ins, outs, what):
        """Raise: devices cannot read the packed layouts of CPU kernels."""
        raise MXNetError(f"kernel {name} has no packed layout on devices")

    def lower(self, call, kernel, name, dtype, values, dynamic):
        """Fill a call with the launches of a kernel; return the reason of a refusal, or None.

        Parameters
        ----------
        call : mxcy.ops.core.prepare.Call
        kernel : mxcy.ops.core.kernel.Native
        name : str
        dtype : int
        values : dict
            The fields of the kernel's parameter struct.
        dynamic : dict
            Field -> (number of its first dynamic attribute, count).
        """
        make, inplace = _maker_of(name)
        request = Request(
            name, dtype, values, dynamic, call.attrs, call.ins, call.outs, inplace, 0, self.device
        )
        if all(spec.size == 0 for spec in call.outs):
            launches = []
        else:
            launches = make(request)
        if isinstance(launches, str):
            return launches
        if isinstance(launches, NativeCall):
            call.params, call.patches = launches.params, ()
            call.kernel, call.dtype, call.threads = launches.kernel, dtype, 1
            call.inplace, call.workspace = False, launches.workspace
            return None
        try:
            call.params, call.patches = packed(
                launches, self.device, call.op.mutated(len(call.ins)), call.op.name
            )
        except ValueError as error:  # it exceeds the parameter struct
            return str(error)
        call.kernel, call.dtype, call.threads = _LAUNCH, dtype, 1
        call.inplace, call.workspace, call.turns = request.inplace, request.workspace, kernel.turns
        return None


def prepare(call, device):
    """Return the same call by a device kernel.

    Parameters
    ----------
    call : mxcy.ops.core.prepare.Call
        Prepared for the CPU.
    device : int

    Returns
    -------
    mxcy.ops.core.prepare.Call or None
        None if only its reference is left.
    """
    if not call.op.kernels or call.op.foreign is not None:
        return None
    prepared = core.prepare(call.op, call.attrs, call.ins, DeviceLibrary(device))
    return None if prepared.kernel is None else prepared
