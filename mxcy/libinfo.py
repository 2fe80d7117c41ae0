"""Where mxcy's native library and its C header are, and the version of the package."""

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

    MXNET_LIBRARY_PATH names the file or its folder; otherwise it is the one in the package.

    Returns
    -------
    list of str
        One absolute path.

    Raises
    ------
    MXNetError
        When MXNET_LIBRARY_PATH leads to no file. With MXNET_ENV_STRICT=0 that is a warning and
        the package's library is taken.
    RuntimeError
        When the package holds no library.
    """
    wanted = env.get("MXNET_LIBRARY_PATH")
    if wanted is not None:
        path = Path(wanted)
        path = path / f"{prefix}.so" if path.is_dir() else path
        if path.is_file():
            return [os.path.abspath(path)]
        _refuse(f"MXNET_LIBRARY_PATH={wanted}: there is no file {path}")
    path = _PACKAGE / f"{prefix}.so"
    if not path.is_file():
        raise RuntimeError(f"the native library is missing, there is no file {path}: {mend()}")
    return [str(path)]


def mend():
    """What to do where the native library is missing, or cannot be used, as a part of a message."""
    tree = _PACKAGE.parent
    if (tree / "kernels").is_dir():
        return f"this source tree is not built; in {tree} run: pip install -e ."
    return "pip install --force-reinstall --no-deps mxcy"


def _refuse(message):
    """Raise, or warn where MXNET_ENV_STRICT=0 allows to go on."""
    if env.get("MXNET_ENV_STRICT") is not False:
        raise env.EnvError(message)
    warnings.warn(message, stacklevel=3)


def find_include_path():
    """Find the folder of ``mxcy.h``, the header for kernels.

    MXNET_INCLUDE_PATH names it; otherwise it is the package's, or that of the source tree.

    Raises
    ------
    RuntimeError
        When there is none.
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
        When the variable is not set or leads to no file; mxcy has no such file of its own.
    """
    wanted = env.get("MXNET_CONF_PATH")
    if wanted and os.path.isfile(wanted):
        return os.path.abspath(wanted)
    raise RuntimeError(f"cannot find {prefix}.conf: MXNET_CONF_PATH is {wanted or 'not set'}")
