"""`mx.rtc`: CUDA source code, compiled at run time and launched on arrays."""

import ctypes
import re

import numpy as np

from mxcy._base.listing import listing
from mxcy._library import front
from mxcy.base import MXNetError
from mxcy.context import num_gpus
from mxcy.gpu import compile as compiling
from mxcy.gpu import driver
from mxcy.gpu.devices import is_device
from mxcy.ndarray import NDArray

__all__ = ["CudaKernel", "CudaModule"]

__dir__ = listing(__name__)

#: C type of a parameter -> NumPy dtype and ctypes type
_TYPES = {
    "float": np.float32,
    "double": np.float64,
    "__half": np.float16,
    "uint8_t": np.uint8,
    "int": np.int32,
    "int32_t": np.int32,
    "int8_t": np.int8,
    "char": np.int8,
    "int64_t": np.int64,
}
_PARAMETER = re.compile(r"^\s*(const)?\s*([\w_]+)\s*(\*)?\s*([\w_]+)?\s*$")


class CudaModule:
    """CUDA source code, compiled by NVRTC.

    Parameters
    ----------
    source : str
    options : sequence of str
        Compiler options.
    exports : sequence of str
        Template instances to take kernels from, such as ``"axpy<float>"``; ``extern "C"`` kernels
        need not be listed.

    Raises
    ------
    MXNetError
        If there is no GPU or no compiler, or compilation fails.

    Examples
    --------
    ::

        source = r'''
        extern "C" __global__ void axpy(const float *x, float *y, float alpha) {
            int i = threadIdx.x + blockIdx.x * blockDim.x;
            y[i] += alpha * x[i];
        }
        '''
        module = mx.rtc.CudaModule(source)
        kernel = module.get_kernel("axpy", "const float *x, float *y, float alpha")
        x, y = mx.nd.ones((10,), ctx=mx.gpu(0)), mx.nd.zeros((10,), ctx=mx.gpu(0))
        kernel.launch([x, y, 3.0], mx.gpu(0), (1, 1, 1), (10, 1, 1))
    """

    def __init__(self, source, options=(), exports=()):
        if not num_gpus():
            raise MXNetError(
                "CudaModule: there is no GPU to run the source on. "
                "Use mx.operator.CustomOp with NumPy, Numba or Cython instead"
            )
        options, exports = ((x,) if isinstance(x, str) else tuple(x) for x in (options, exports))
        self._image, self._names = compiling.compiled(
            source, compiling.architecture(0), options, exports
        )
        self._modules = {}

    def _function(self, name, device):
        """The handle of a kernel on a device; loads the module if needed."""
        if device not in self._modules:
            self._modules[device] = driver.module(device, self._image)
        return driver.function(device, self._modules[device], self._names.get(name, name))

    def get_kernel(self, name, signature):
        """Return a kernel of the source.

        Parameters
        ----------
        name : str
            Name of the kernel, or one of `exports`.
        signature : str
            Parameters as in the source, such as ``"const float *x, float *y, float alpha"``.

        Returns
        -------
        CudaKernel

        Raises
        ------
        ValueError
            If the signature has anything but scalars and pointers to scalars.
        """
        parameters = []
        for text in re.sub(r"\s+", " ", signature).split(","):
            match = _PARAMETER.match(text)
            if not match or match[2] == "const":
                raise ValueError(
                    f'CudaModule: invalid parameter "{text}"; '
                    'expected a declaration like "const float *x"'
                )
            if match[2] not in _TYPES:
                raise TypeError(f"CudaModule: unsupported parameter type {match[2]}")
            parameters.append((match[3] is not None, match[1] is not None, _TYPES[match[2]]))
        self._function(name, 0)
        return CudaKernel(self, name, parameters)


class CudaKernel:
    """A kernel, created by `CudaModule.get_kernel`."""

    def __init__(self, module, name, parameters):
        self._module, self._name, self._parameters = module, name, parameters
        self._functions = {}

    def launch(self, args, ctx, grid_dims, block_dims, shared_mem=0):
        """Run the kernel on a GPU.

        Parameters
        ----------
        args : sequence of NDArray and numbers
            Arguments: arrays for pointers, numbers for scalars.
        ctx : Context
            The GPU that holds all arrays.
        grid_dims, block_dims : tuple of int
            Three extents each.
        shared_mem : int
            Bytes of dynamic shared memory.

        Raises
        ------
        MXNetError
            If an argument does not match the signature, or the launch fails.
        """
        if not is_device(ctx):
            raise MXNetError(f"kernel {self._name}: expected a GPU, got {ctx}")
        if len(args) != len(self._parameters):
            raise MXNetError(
                f"kernel {self._name}: expected {len(self._parameters)} arguments, got {len(args)}"
            )
        for name, extents in (("grid_dims", grid_dims), ("block_dims", block_dims)):
            if len(extents) != 3:
                raise MXNetError(f"kernel {self._name}: {name} must have 3 extents, got {extents}")
        values, reads, writes = [], [], []
        for number, (argument, parameter) in enumerate(zip(args, self._parameters, strict=True)):
            is_array, is_const, dtype = parameter
            if is_array:
                self._check(number, argument, dtype, ctx)
                (reads if is_const else writes).append(argument)
                values.append(argument)
            else:
                values.append(dtype(argument))
        device = ctx.device_id
        function = self._functions.get(device)
        if function is None:
            function = self._functions[device] = self._module._function(self._name, device)
        with front.held(tuple(reads), tuple(writes)):
            arguments = [
                ctypes.c_uint64(value.address)
                if isinstance(value, NDArray)
                else (ctypes.c_char * value.nbytes).from_buffer_copy(value.tobytes())
                for value in values
            ]
            for array in (*reads, *writes):
                driver.turn(device, array.address, not any(array is read for read in reads))
            driver.start(device, function, grid_dims, block_dims, shared_mem, arguments)
            driver.wait(device)
        for array in writes:
            array.touch()

    def _check(self, number, argument, dtype, ctx):
        if not isinstance(argument, NDArray):
            raise MXNetError(
                f"kernel {self._name}: argument {number} must be an NDArray, got {argument!r:.80}"
            )
        if argument.dtype != dtype:
            raise MXNetError(
                f"kernel {self._name}: argument {number} must have element type "
                f"{np.dtype(dtype)}, got {np.dtype(argument.dtype)}"
            )
        if argument.context != ctx:
            raise MXNetError(
                f"kernel {self._name}: argument {number} is on {argument.context}, not on {ctx}"
            )
