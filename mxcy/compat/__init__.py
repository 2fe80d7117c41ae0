"""Running programs with ``import mxnet`` on mxcy.

`install` makes ``mxnet`` and every ``mxnet.x.y`` aliases of mxcy's modules; nothing is wrapped or
loaded twice. ``python -m mxcy.compat script.py`` does that for an unmodified program.
"""

import importlib
import multiprocessing.pool  # noqa: F401  programs rely on mxnet importing it
import os
import sys
import warnings

import mxcy
from mxcy import libinfo, profile
from mxcy.compat import old_numpy
from mxcy.compat.finder import MxnetFinder
from mxcy.compat.horovod_finder import HorovodFinder

__all__ = ["find_real_mxnet", "install", "is_installed", "old_numpy", "uninstall"]

#: default of `mxnet.__version__`: the release whose interface mxcy follows
MXNET_VERSION = profile.PROFILES[profile.current().name]

_finder, _horovod = MxnetFinder(), HorovodFinder()
_CHILDREN = os.path.join(os.path.dirname(os.path.abspath(__file__)), "children")
_aside = {}  # modules of an imported real mxnet, for uninstall


def find_real_mxnet():
    """Find an mxnet other than mxcy, imported or importable.

    Returns
    -------
    str or None
        Its location, or None.
    """
    module = sys.modules.get("mxnet")
    if module is not None and not _finder.owns(module):
        return getattr(module, "__file__", None) or repr(module)
    for finder in sys.meta_path:
        look = getattr(finder, "find_spec", None)
        spec = None if finder is _finder or look is None else look("mxnet", None)
        if spec is None or spec.loader is None:  # a plain folder has a spec without loader
            continue
        if not (spec.origin or "").startswith(_CHILDREN):
            return spec.origin or repr(spec.loader)
    return None


def install(replace=False, version=MXNET_VERSION):
    """Make ``import mxnet`` import mxcy.

    From then on ``mxnet`` is the module `mxcy`, ``mxnet.gluon.nn`` is `mxcy.gluon.nn`, and so on
    for every module, with the same classes and functions. Pickles that refer to classes of
    ``mxnet`` can be loaded. An installed mxnet is not modified, and by default keeps its name. If
    no horovod is installed, ``horovod.mxnet`` is `mxcy.horovod`.

    Parameters
    ----------
    replace : bool
        Take the name even if a real mxnet is installed or imported. Modules that imported the real
        one before keep it.
    version : str or None
        Value of ``mxnet.__version__``, hence `mxcy.__version__`, from now on, for programs that
        require a minimum release. None keeps mxcy's; `mxcy.libinfo.__version__` always does.

    Returns
    -------
    bool
        Whether ``import mxnet`` now imports mxcy. If not, a warning shows the location of the real
        mxnet. A repeated call changes only the version.
    """
    real = None if replace or is_installed() else find_real_mxnet()
    if real is not None:
        warnings.warn(
            f"import mxnet still imports the mxnet at {real}; "
            "use mxcy.compat.install(replace=True) to replace it",
            RuntimeWarning,
            stacklevel=2,
        )
        return False
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] == "mxnet" and not _finder.owns(module):
            _aside[name] = sys.modules.pop(name)
    if _finder not in sys.meta_path:
        sys.meta_path.insert(0, _finder)
        sys.meta_path.append(_horovod)
        sys.path.insert(1 if replace else len(sys.path), _CHILDREN)  # 0 is the program's folder
        importlib.invalidate_caches()
    if version is not None:
        mxcy.__version__ = version
    return True


def is_installed():
    """Return whether ``import mxnet`` imports mxcy in this process."""
    return _finder in sys.meta_path


def uninstall():
    """Undo `install`: ``mxnet`` is undefined or the real one again."""
    if _finder in sys.meta_path:
        sys.meta_path.remove(_finder)
        sys.meta_path.remove(_horovod)
        sys.path.remove(_CHILDREN)
    for name, module in [*sys.modules.items()]:
        if name.partition(".")[0] in ("mxnet", "horovod") and _finder.owns(module):
            del sys.modules[name]
    sys.modules.update(_aside)
    _aside.clear()
    mxcy.__version__ = libinfo.__version__
