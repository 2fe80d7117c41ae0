"""`mx.npx.utils`: files and memory sharing, under MXNet's module name."""

from mxcy.ndarray._exchange.dlpack import to_dlpack_for_read, to_dlpack_for_write
from mxcy.numpy._arrays.exchange import from_dlpack, from_numpy
from mxcy.numpy_extension.files import load, save, savez

__all__ = [
    "from_dlpack",
    "from_dlpack_doc",
    "from_numpy",
    "from_numpy_doc",
    "load",
    "save",
    "savez",
    "to_dlpack_for_read",
    "to_dlpack_for_read_doc",
    "to_dlpack_for_write",
    "to_dlpack_for_write_doc",
]

from_dlpack_doc, from_numpy_doc = from_dlpack.__doc__, from_numpy.__doc__
to_dlpack_for_read_doc = to_dlpack_for_read.__doc__
to_dlpack_for_write_doc = to_dlpack_for_write.__doc__
