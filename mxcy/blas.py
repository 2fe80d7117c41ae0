"""What takes over very large matrix products: oneDNN or OpenBLAS, where one is installed.

The native library has matrix products of its own and needs neither. Searching looks at a few file
names only; what is found is opened when the first product comes that is large enough.
"""

import ctypes
import os
import site
import sys

from mxcy import env, libinfo

__all__ = ["find_library", "offer"]

_ONEDNN = "libdnnl.so.3"


def _onednn_candidates():
    """Where packages put oneDNN: wheels of oneDNN itself below the prefix, others among theirs."""
    prefixes = [sys.prefix, site.USER_BASE]
    for folder in [prefix for prefix in prefixes if prefix]:
        yield os.path.join(folder, "lib", _ONEDNN)
    for folder in sys.path:
        yield os.path.join(folder, "paddle", "libs", _ONEDNN)


def _openblas_candidates():
    for folder in sys.path:
        yield os.path.join(folder, "scipy_openblas32", "lib", "libscipy_openblas.so")


def find_library():
    """Find oneDNN, else OpenBLAS.

    MXCY_ONEDNN_LIBRARY names the file; MXNET_ONEDNN_ENABLED=0 leaves oneDNN aside.

    Returns
    -------
    str or None
        A path.

    Raises
    ------
    EnvError
        When MXCY_ONEDNN_LIBRARY leads to no file.
    """
    candidates = []
    if env.get("MXNET_ONEDNN_ENABLED"):
        wanted = env.get("MXCY_ONEDNN_LIBRARY")
        if wanted is not None:
            if not os.path.isfile(wanted):
                raise env.EnvError(f"MXCY_ONEDNN_LIBRARY={wanted}: there is no such file")
            return os.path.abspath(wanted)
        candidates += _onednn_candidates()
    candidates += _openblas_candidates()
    return next((path for path in candidates if os.path.isfile(path)), None)


def offer():
    """Tell the native library what `find_library` found.

    Raises
    ------
    EnvError
        When MXCY_ONEDNN_LIBRARY names a file that is not oneDNN 3 or later with OpenMP.
    """
    path = find_library()
    if path is None:
        return
    library = libinfo.open_library()
    if env.get("MXNET_ONEDNN_ENABLED") and env.is_set("MXCY_ONEDNN_LIBRARY"):
        if library.mx_blas_open(os.fsencode(path)) != 0:
            library.mx_last_error.restype = ctypes.c_char_p
            reason = library.mx_last_error().decode()
            raise env.EnvError(f"MXCY_ONEDNN_LIBRARY={path} cannot be used: {reason}")
        return
    library.mx_blas_offer(os.fsencode(path))
