"""Compilation of CUDA source by NVRTC, cached in files under MXNET_HOME, and module loading."""

import ctypes
import functools
import hashlib
import importlib.util
import os
import sys
import warnings
from pathlib import Path

from mxcy import env
from mxcy._base.files import replacing
from mxcy.base import MXNetError
from mxcy.gpu import driver

__all__ = ["Nvrtc", "compiled", "compiler", "function", "module", "use_compiler"]

_CAPABILITY = 75, 76  # CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR and _MINOR
_LIBRARIES = ("libnvrtc.so.13", "libnvrtc.so.12")


class Nvrtc:
    """NVIDIA's compiler library.

    Parameters
    ----------
    path : str
        Of ``libnvrtc.so``.
    """

    def __init__(self, path):
        self._library = ctypes.CDLL(path)
        major, minor = ctypes.c_int(), ctypes.c_int()
        self._library.nvrtcVersion(ctypes.byref(major), ctypes.byref(minor))
        self.version = f"nvrtc {major.value}.{minor.value}"

    def _read(self, what, program):
        size = ctypes.c_size_t()
        getattr(self._library, f"nvrtcGet{what}Size")(program, ctypes.byref(size))
        text = ctypes.create_string_buffer(size.value)
        getattr(self._library, f"nvrtcGet{what}")(program, text)
        return text.raw

    def compile(self, text, architecture, options=(), instances=()):
        """Compile CUDA source.

        Parameters
        ----------
        text : str
        architecture : int
            Such as 90.
        options : sequence of str
        instances : sequence of str
            Template instances to emit, such as ``"add<float>"``.

        Returns
        -------
        (bytes, dict, str)
            The machine code, the mangled names of the instances, and the compiler's log.

        Raises
        ------
        MXNetError
            If compilation fails, with the log.
        """
        library, program = self._library, ctypes.c_void_p()
        library.nvrtcCreateProgram(
            ctypes.byref(program), text.encode(), b"kernel.cu", 0, None, None
        )
        try:
            for name in instances:
                library.nvrtcAddNameExpression(program, name.encode())
            words = [f"--gpu-architecture=sm_{architecture}", "--std=c++17", *options]
            arguments = (ctypes.c_char_p * len(words))(*(word.encode() for word in words))
            status = library.nvrtcCompileProgram(program, len(words), arguments)
            log = self._read("ProgramLog", program).rstrip(b"\0").decode()
            if status:
                raise MXNetError(f"the compiler rejects a CUDA source:\n{log}")
            names = {}
            for name in instances:
                lowered = ctypes.c_char_p()
                library.nvrtcGetLoweredName(program, name.encode(), ctypes.byref(lowered))
                names[name] = lowered.value.decode()
            return self._read("CUBIN", program), names, log
        finally:
            library.nvrtcDestroyProgram(ctypes.byref(program))


def _paths():
    """Yield candidate paths of NVRTC: NVIDIA's Python packages, then the linker's search path."""
    package = importlib.util.find_spec("nvidia")
    for root in () if package is None else package.submodule_search_locations:
        for folder in ("cu13", "cuda_nvrtc"):
            yield from (str(Path(root, folder, "lib", name)) for name in _LIBRARIES)
    yield from _LIBRARIES


class _Chosen:
    """The compiler in use."""

    compiler = None


def use_compiler(compiler):
    """Replace NVRTC by a compiler with the same `version` and `compile`."""
    _Chosen.compiler = compiler


def compiler():
    """Return the compiler in use, or None."""
    return _nvrtc() if _Chosen.compiler is None else _Chosen.compiler


@functools.cache
def _nvrtc():
    for path in _paths():
        if not os.path.isabs(path) or os.path.exists(path):
            try:
                return Nvrtc(path)
            except (OSError, AttributeError):
                continue
    return None


@functools.cache
def architecture(device):
    """Return a device's architecture, such as 90."""
    major, minor = (driver.attribute(device, number) for number in _CAPABILITY)
    return 10 * major + minor


def compiled(text, architecture, options=(), instances=()):
    """Return the machine code of a source, from the cache if it was compiled before.

    See `Nvrtc.compile`.

    Returns
    -------
    (bytes, dict)
    """
    chosen = compiler()
    if chosen is None:
        raise MXNetError(
            "NVRTC, which compiles CUDA source, is not installed; pip install nvidia-cuda-nvrtc"
        )
    key = repr((chosen.version, architecture, tuple(options), tuple(instances), text))
    name = hashlib.sha256(key.encode()).hexdigest()[:32]
    file = Path(env.get("MXNET_HOME"), "mxcy", "cuda", f"{name}.cubin")
    if not instances and file.exists():
        return file.read_bytes(), {}
    if env.get("MXNET_RTC_VERBOSE"):
        print(f"mxcy compiles for sm_{architecture}:\n{text}", file=sys.stderr, flush=True)
    image, names, _ = chosen.compile(text, architecture, options, instances)
    try:
        file.parent.mkdir(parents=True, exist_ok=True)
        with replacing(file) as stream:
            stream.write(image)
    except OSError:
        pass  # it is compiled again in the next process
    return image, names


class _Loaded:
    """Number of loaded modules. Sources that keep growing in number depend on shapes by mistake."""

    count, many = 0, 10_000


@functools.cache
def module(text, device):
    """Return the loaded module of a source on a device."""
    image, _ = compiled(text, architecture(device))
    _Loaded.count += 1
    if _Loaded.count == _Loaded.many + 1 and env.get("MXNET_RTC_SIZE_WARNING"):
        warnings.warn(
            f"more than {_Loaded.many} compiled kernels are loaded on GPUs, which takes memory; "
            "MXNET_RTC_SIZE_WARNING=0 silences this",
            UserWarning,
            stacklevel=2,
        )
    return driver.module(device, image)


@functools.cache
def function(text, name, device):
    """Return the address of a kernel on a device."""
    return driver.function(device, module(text, device), name)
