"""oneDNN: where it is, its version, and the primitives kept for reuse.

The native library opens it when a kernel of it is looked for, or when a very large matrix product
comes, so importing mxcy costs a look at a few file names only. Everything works without it.
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
    """The files that may be oneDNN, best first.

    MXCY_ONEDNN_LIBRARY names the only one; MXNET_ONEDNN_ENABLED=0 leaves all aside. Otherwise: what
    the wheel `onednn-cpu-gomp` lists as ``../../libdnnl.so.3`` beside the packages on the path, the
    `lib` of the environment and of the user, and the file that the wheel `paddlepaddle` carries.

    Returns
    -------
    list of str

    Raises
    ------
    EnvError
        When MXCY_ONEDNN_LIBRARY leads to no file.
    """
    if not env.get("MXNET_ONEDNN_ENABLED"):
        return []
    wanted = env.get("MXCY_ONEDNN_LIBRARY")
    if wanted is not None:
        if not os.path.isfile(wanted):
            raise env.EnvError(f"MXCY_ONEDNN_LIBRARY={wanted}: there is no such file")
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
    """Tell the native library what `find_libraries` found.

    Raises
    ------
    EnvError
        When MXCY_ONEDNN_LIBRARY names a file that is not oneDNN 3 with OpenMP.
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
    """The version of the oneDNN in use, such as ``'3.2.0'``; None without one."""
    library = open_library()
    library.mx_onednn_version.restype = ctypes.c_char_p
    return library.mx_onednn_version().decode() or None


def compared() -> int:
    """How many calls of oneDNN were compared with own kernels, as MXNET_ONEDNN_DEBUG asks for."""
    library = open_library()
    library.mx_onednn_compared.restype = ctypes.c_int64
    return library.mx_onednn_compared()


def cache_stats() -> dict[str, int]:
    """What the cache of primitives holds and did.

    Returns
    -------
    dict of str to int
        ``entries`` and their estimated ``bytes``; ``hits``, ``misses`` and ``evictions`` so far;
        ``capacity``, the most entries (MXNET_ONEDNN_CACHE_NUM, or as many as 256 MB hold).
    """
    numbers = (ctypes.c_int64 * 6)()
    open_library().mx_onednn_cache_stats(numbers)
    names = ("entries", "bytes", "hits", "misses", "evictions", "capacity")
    return dict(zip(names, numbers, strict=True))
