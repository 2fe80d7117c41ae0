"""oneDNN: its location and version, and its cache of primitives.

The native library opens it when one of its kernels is first looked up or a very large matrix
product runs, so importing mxcy only looks at a few file names. oneDNN is optional.
"""

import ctypes
import os
import site
import sys

from mxcy import env
from mxcy._library.open import open_library
from mxcy.env.table.onednn import MISSING

__all__ = ["cache_stats", "compared", "find_libraries", "offer", "version"]

_FILE = "libdnnl.so.3"


def find_libraries() -> list[str]:
    """Find candidate library files, best first.

    MXCY_ONEDNN_LIBRARY names the only candidate; MXNET_ONEDNN_ENABLED=0 leaves none. Otherwise:
    the file that the wheel `onednn-cpu-gomp` installs, found as ``../../libdnnl.so.3`` from the
    packages on the path; the `lib` of the environment and of the user; the file in the wheel
    `paddlepaddle`.

    Returns
    -------
    list of str

    Raises
    ------
    EnvError
        If MXCY_ONEDNN_LIBRARY names no existing file.
    """
    if not env.get("MXNET_ONEDNN_ENABLED"):
        return []
    wanted = env.get("MXCY_ONEDNN_LIBRARY")
    if wanted is not None:
        if not os.path.isfile(wanted):
            raise env.EnvError(f"MXCY_ONEDNN_LIBRARY={wanted}: file not found")
        return [os.path.abspath(wanted)]
    packages = [folder for folder in sys.path if os.path.basename(folder).endswith("-packages")]
    candidates = [os.path.join(folder, "..", "..", _FILE) for folder in packages]
    candidates += [os.path.join(p, "lib", _FILE) for p in (sys.prefix, site.USER_BASE) if p]
    candidates += [os.path.join(folder, "paddle", "libs", _FILE) for folder in packages]
    paths = [os.path.normpath(path) for path in candidates if os.path.isfile(path)]
    return list(dict.fromkeys(path for path in paths if ":" not in path))


def _why_missing() -> str:
    return "" if find_libraries() else "oneDNN is not in use"


MISSING.ask = _why_missing


def offer() -> None:
    """Pass the result of `find_libraries` to the native library.

    Raises
    ------
    EnvError
        If MXCY_ONEDNN_LIBRARY is not oneDNN 3 built with OpenMP.
    """
    paths = find_libraries()
    if not paths:
        return
    library = open_library()
    library.mx_onednn_cache_limit.argtypes = [ctypes.c_int64]
    library.mx_onednn_cache_limit(env.get("MXNET_ONEDNN_CACHE_NUM"))
    library.mx_onednn_check(env.get("MXNET_ONEDNN_DEBUG"))
    if not env.is_set("MXCY_ONEDNN_LIBRARY"):
        library.mx_onednn_offer(os.fsencode(":".join(paths)))
    elif library.mx_onednn_open(os.fsencode(paths[0])) != 0:
        library.mx_last_error.restype = ctypes.c_char_p
        reason = library.mx_last_error().decode()
        raise env.EnvError(f"MXCY_ONEDNN_LIBRARY={paths[0]} cannot be used: {reason}")


def version() -> str | None:
    """The version of oneDNN in use, such as ``'3.2.0'``, or None."""
    library = open_library()
    library.mx_onednn_version.restype = ctypes.c_char_p
    return library.mx_onednn_version().decode() or None


def compared() -> int:
    """The number of oneDNN calls compared with mxcy's kernels (MXNET_ONEDNN_DEBUG)."""
    library = open_library()
    library.mx_onednn_compared.restype = ctypes.c_int64
    return library.mx_onednn_compared()


def cache_stats() -> dict[str, int]:
    """Statistics of the primitive cache.

    Returns
    -------
    dict of str to int
        ``entries`` and their estimated ``bytes``; ``hits``, ``misses`` and ``evictions`` so far;
        ``capacity``, the maximum number of entries (MXNET_ONEDNN_CACHE_NUM, or what fits 256 MB).
    """
    numbers = (ctypes.c_int64 * 6)()
    open_library().mx_onednn_cache_stats(numbers)
    names = ("entries", "bytes", "hits", "misses", "evictions", "capacity")
    return dict(zip(names, numbers, strict=True))
