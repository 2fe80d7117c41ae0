"""mxcy as an ONNX backend, with the interface of `onnx.backend.base`."""

import numpy as np
from onnx import TensorProto, helper
from onnx.backend.base import Backend, BackendRep, namedtupledict

from mxcy._base.dtypes import bfloat16
from mxcy.context import cpu, gpu, num_gpus
from mxcy.numpy import array as np_array
from mxcy.onnx.onnx2mx.import_model import import_model
from mxcy.onnx.onnx2mx.values import UnknownValueError

__all__ = ["MXCYBackend", "PreparedModel", "prepare", "run_model", "run_node", "supports_device"]


def _to_numpy(array):
    if array.dtype != bfloat16:
        return array.asnumpy()
    kind = helper.tensor_dtype_to_np_dtype(TensorProto.BFLOAT16)
    return array.astype("float32").asnumpy().astype(kind)


class PreparedModel(BackendRep):
    """A model ready to run.

    It is imported on the first run for the shapes of the inputs, and again for other shapes. Inputs
    that determine shapes (such as the second one of Reshape) become constants, so that other values
    also require a new import.

    Parameters
    ----------
    model : onnx.ModelProto
    ctx : Context
    """

    def __init__(self, model, ctx):
        self._model, self._ctx = model, ctx
        initializers = {tensor.name for tensor in model.graph.initializer}
        self.inputs = [i.name for i in model.graph.input if i.name not in initializers]
        self.outputs = [output.name for output in model.graph.output]
        self.constants = set()  # inputs that must be constants
        self._ready = {}

    def run(self, inputs, **kwargs):
        """Compute the outputs.

        Parameters
        ----------
        inputs : sequence of numpy.ndarray, or dict of str to numpy.ndarray
        **kwargs
            Options of other backends; ignored.

        Returns
        -------
        namedtuple of numpy.ndarray
        """
        if not isinstance(inputs, dict):
            inputs = dict(zip(self.inputs, inputs, strict=False))
        inputs = {name: np.asarray(array) for name, array in inputs.items()}
        while True:
            key = tuple(
                (name, array.shape, array.tobytes() if name in self.constants else array.dtype.str)
                for name, array in inputs.items()
            )
            try:
                if key not in self._ready:
                    self._ready[key] = self._imported(inputs)
                outputs = self._computed(*self._ready[key], inputs)
                return namedtupledict("Outputs", self.outputs)(*outputs)
            except UnknownValueError as error:
                more = {name for name in error.names if name in inputs} - self.constants
                if not more:
                    raise
                self.constants |= more

    def _imported(self, inputs):
        constants = {name: inputs[name] for name in self.constants if name in inputs}
        shapes = {name: a.shape for name, a in inputs.items() if name not in constants}
        symbol, args, states = import_model(self._model, shapes, input_values=constants)
        return symbol.as_np_ndarray(), args, states

    def _computed(self, symbol, args, states, inputs):
        arguments = {name: array.as_np_ndarray() for name, array in args.items()}
        for name in symbol.list_arguments():
            if name not in arguments:
                arguments[name] = _to_array(inputs[name], self._ctx)
        executor = symbol.bind(self._ctx, arguments, aux_states=states, grad_req="null")
        return [_to_numpy(array) for array in executor.forward()]


def _to_array(array, ctx):
    if array.dtype.name == "bfloat16":  # of ml_dtypes
        return np_array(array.astype(np.float32), ctx=ctx).astype("bfloat16")
    return np_array(array, dtype=array.dtype, ctx=ctx)


class MXCYBackend(Backend):
    """The backend; its methods are also functions of this module."""

    @classmethod
    def prepare(cls, model, device="CPU", **kwargs):
        """Prepare a model.

        Parameters
        ----------
        model : onnx.ModelProto
        device : str
            ``CPU`` or ``CUDA``, optionally with an index (``CUDA:1``).
        **kwargs
            Options of other backends; ignored.

        Returns
        -------
        PreparedModel
        """
        if not cls.supports_device(device):
            raise ValueError(f"there is no device {device}")
        name, _, number = device.partition(":")
        place = cpu if name == "CPU" else gpu
        return PreparedModel(model, place(int(number or 0)))

    @classmethod
    def run_model(cls, model, inputs, device="CPU", **kwargs):
        """Prepare a model and run it once.

        Parameters
        ----------
        model : onnx.ModelProto
        inputs : sequence of numpy.ndarray
        device : str
        **kwargs
            Options of other backends; ignored.

        Returns
        -------
        namedtuple of numpy.ndarray
        """
        return cls.prepare(model, device, **kwargs).run(inputs)

    @classmethod
    def supports_device(cls, device):
        """Return whether a device is available.

        Parameters
        ----------
        device : str

        Returns
        -------
        bool
        """
        name, _, number = device.partition(":")
        if name not in ("CPU", "CUDA") or number and not number.isdigit():
            return False
        return name == "CPU" or int(number or 0) < num_gpus()


prepare, run_model = MXCYBackend.prepare, MXCYBackend.run_model
run_node, supports_device = MXCYBackend.run_node, MXCYBackend.supports_device
