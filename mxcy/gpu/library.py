"""The kernels of a device, as preparing a call asks for them.

`mxcy.ops.core.prepare` goes through a record's kernels and asks a library for each by its name; the
library of a device has launches under the names of the CPU's kernels.
"""

from mxcy.base import MXNetError
from mxcy.gpu import (
    alignments,
    attention,
    boxes,
    choices,
    coordinates,
    copying,
    images,
    indexing,
    lines,
    losses,
    many,
    margins,
    multibox,
    norms,
    optimizers,
    ordering,
    products,
    random,
    rectifiers,
    recurrent,
    regions,
    sequences,
    windows,
)
from mxcy.gpu.compile import compiler
from mxcy.gpu.launch import packed
from mxcy.gpu.pointwise import line_maker
from mxcy.gpu.table import TYPES, NativeCall, Request, maker_of
from mxcy.ops.core import prepare as core

__all__ = ["DeviceLibrary", "prepare"]

FAMILIES = (
    alignments,
    attention,
    boxes,
    choices,
    coordinates,
    copying,
    images,
    indexing,
    lines,
    losses,
    many,
    margins,
    multibox,
    norms,
    optimizers,
    ordering,
    products,
    random,
    rectifiers,
    recurrent,
    regions,
    sequences,
    windows,
)  # they register their kernels
_LAUNCH = "gpu_launch"  # the kernel that does all launches; see kernels/cuda/launch.cc


class DeviceLibrary:
    """What `mxcy.ops.core.prepare` takes for the native library, for calls on a device.

    Parameters
    ----------
    device : int
    """

    def __init__(self, device):
        self.device = device

    def has_kernel(self, name, dtype):
        """Whether there are launches under the name of a kernel."""
        known = maker_of(name) is not None or line_maker(name) is not None
        return known and dtype in TYPES and compiler() is not None

    def query(self, name, params, ins, outs, what):
        """Refuse: what the CPU's kernels keep packed, no device reads."""
        raise MXNetError(f"kernel {name} has no layout of its own on devices")

    def lower(self, call, kernel, name, dtype, values, dynamic):
        """Fill a call with the launches of a kernel; returns why it refuses, or None.

        Parameters
        ----------
        call : mxcy.ops.core.prepare.Call
        kernel : mxcy.ops.core.kernel.Native
        name : str
        dtype : int
        values : dict
            The fields of the kernel's parameter struct.
        dynamic : dict
            Of those that are dynamic attributes: the first number, and how many.
        """
        make, inplace = maker_of(name) or (line_maker(name), False)
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
        except ValueError as error:  # it does not fit into the struct
            return str(error)
        call.kernel, call.dtype, call.threads = _LAUNCH, dtype, 1
        call.inplace, call.workspace = request.inplace, request.workspace
        return None


def prepare(call, device):
    """The same call by a kernel of a device.

    Parameters
    ----------
    call : mxcy.ops.core.prepare.Call
        Prepared for the CPU.
    device : int

    Returns
    -------
    mxcy.ops.core.prepare.Call or None
        None where its definition has to do.
    """
    if not call.op.kernels or call.op.foreign is not None:
        return None
    prepared = core.prepare(call.op, call.attrs, call.ins, DeviceLibrary(device))
    return None if prepared.kernel is None else prepared
