"""Locations of mxcy's native library and C header, and the package version."""

import os
import warnings
from pathlib import Path

from mxcy import env
from mxcy._base.listing import listing

__all__ = ["__version__", "find_lib_path", "find_include_path", "find_conf_path"]

__dir__ = listing(__name__)

__version__ = "0.2.0"

_PACKAGE = Path(__file__).resolve().parent


def find_lib_path(prefix="libmxcy"):
    """Find the native library.

    MXNET_LIBRARY_PATH names the file or its folder; the default is the package's library.

    Returns
    -------
    list of str
        One absolute path.

    Raises
    ------
    MXNetError
        If MXNET_LIBRARY_PATH names no existing file. With MXNET_ENV_STRICT=0 this is a warning and
        the package's library is used.
    RuntimeError
        If the package contains no library.
    """
    wanted = env.get("MXNET_LIBRARY_PATH")
    if wanted is not None:
        path = Path(wanted)
        path = path / f"{prefix}.so" if path.is_dir() else path
        if path.is_file():
            return [os.path.abspath(path)]
        _refuse(f"MXNET_LIBRARY_PATH={wanted}: file not found: {path}")
    path = _PACKAGE / f"{prefix}.so"
    if not path.is_file():
        raise RuntimeError(f"the native library {path} is missing: {mend()}")
    return [str(path)]


def mend():
    """Instructions for an error message about a missing or unusable native library."""
    tree = _PACKAGE.parent
    if (tree / "kernels").is_dir():
        return f"this source tree is not built; in {tree} run: pip install -e ."
    return "pip install --force-reinstall --no-deps mxcy"


def _refuse(message):
    """Raise an MXNetError, or only warn with MXNET_ENV_STRICT=0."""
    if env.get("MXNET_ENV_STRICT") is not False:
        raise env.EnvError(message)
    warnings.warn(message, stacklevel=3)


def find_include_path():
    """Find the folder of ``mxcy.h``, the header for kernels.

    MXNET_INCLUDE_PATH names it; the default is the package's or the source tree's.

    Raises
    ------
    RuntimeError
        If there is none.
    """
    wanted = env.get("MXNET_INCLUDE_PATH")
    folders = [wanted] if wanted else [_PACKAGE / "include", _PACKAGE.parent / "kernels/include"]
    for folder in folders:
        if os.path.isdir(folder):
            return os.path.abspath(folder)
    raise RuntimeError(f"cannot find the folder of mxcy.h, tried {', '.join(map(str, folders))}")


def find_conf_path(prefix="tvmop"):
    """Find the configuration file that MXNET_CONF_PATH names.

    Raises
    ------
    RuntimeError
        If the variable is unset or names no existing file; mxcy has no default.
    """
    wanted = env.get("MXNET_CONF_PATH")
    if wanted and os.path.isfile(wanted):
        return os.path.abspath(wanted)
    raise RuntimeError(f"cannot find {prefix}.conf: MXNET_CONF_PATH is {wanted or 'not set'}")
