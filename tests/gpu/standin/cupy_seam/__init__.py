"""The seam that runs the real CuPy on the stand-in; installed before CuPy is imported.

CuPy's modules find ``runtime`` and ``driver`` by the C pointers in ``__pyx_capi__``, which carry
their C types as text. Those pointers are replaced before any of CuPy's modules reads them; a CuPy
with other types is rejected. Functions that are not replaced raise cudaErrorInsufficientDriver.
"""

import ctypes
import importlib
import os
import re
import sys

from tests.gpu.standin.build import CUBLAS, build_seam

__all__ = ["install"]

_capsule = ctypes.pythonapi
for _function in (_capsule.PyCapsule_GetName, _capsule.PyCapsule_GetPointer):
    _function.restype = ctypes.c_void_p
_capsule.PyCapsule_GetName.argtypes = [ctypes.py_object]
_capsule.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_void_p]
_capsule.PyCapsule_New.restype = ctypes.py_object
_capsule.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_void_p, ctypes.c_void_p]


def _c_types(capsule):
    """Return the C types of a function, without module names in structures."""
    text = ctypes.string_at(_capsule.PyCapsule_GetName(capsule)).decode()
    text = re.sub(r"struct __pyx_obj_\w+ \*", "PyObject *", text)
    return re.sub(r"struct __pyx_opt_args_\w+ ", "struct optional ", text)


def _replace(module, standin):
    """Replace a module's C and Python functions by the stand-in's."""
    table = module.__pyx_capi__
    for name, capsule in standin.__pyx_capi__.items():
        original = table.get(name)
        types = None if original is None else _c_types(original)
        if types != _c_types(capsule):
            raise ImportError(f"{module.__name__}.{name} is {types}, not {_c_types(capsule)}")
        pointer = _capsule.PyCapsule_GetPointer(capsule, _capsule.PyCapsule_GetName(capsule))
        table[name] = _capsule.PyCapsule_New(pointer, _capsule.PyCapsule_GetName(original), None)
        if hasattr(standin, name):
            setattr(module, name, getattr(standin, name))


def install():
    """Make ``import cupy`` run on the stand-in.

    Raises
    ------
    ImportError
        If CuPy is imported already, or its version does not match the stand-in.
    """
    if "cupy" in sys.modules:
        raise ImportError("cupy was imported before the stand-in was put under it")
    os.environ["CUPY_ACCELERATORS"] = ""  # CUB's kernels are GPU machine code
    folder = build_seam()
    os.environ["CUPY_CACHE_DIR"] = str(folder / "cupy")
    flags = sys.getdlopenflags()
    sys.path.insert(0, str(folder))
    for name in ("runtime", "driver"):
        original = importlib.import_module(f"cupy_backends.cuda.api.{name}")
        # Another libcuda may be loaded globally, as in cuDNN's tests.
        sys.setdlopenflags(os.RTLD_NOW | os.RTLD_DEEPBIND)
        standin = importlib.import_module(f"standin_{name}")
        sys.setdlopenflags(flags)
        _replace(original, standin)
    sys.path.remove(str(folder))
    ctypes.CDLL(str(folder / CUBLAS), ctypes.RTLD_GLOBAL)
    importlib.import_module("cupy_backends.cuda.libs.cublas")  # before CuPy looks for NVIDIA's
    importlib.import_module("tests.gpu.standin.cupy_seam.nvrtc").install()
