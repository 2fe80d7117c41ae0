"""`mx.operator`: custom operators in Python.

A subclass of `CustomOpProp`, registered under a name, describes inputs, outputs, shapes and dtypes,
and creates `CustomOp` objects, which compute. `mx.nd.Custom`, `mx.sym.Custom` and `F.Custom` call
them by name.
"""

import ctypes
import logging
from collections import namedtuple

import numpy as np

from mxcy import profile
from mxcy._base.listing import listing
from mxcy.base import MXNetError, NDArrayHandle, py_str
from mxcy.custom.described import NAME, PROPERTIES
from mxcy.ndarray import NDArray, array
from mxcy.operator.legacy import NDArrayOp, NumpyOp, PythonOp
from mxcy.ops.core.record import ONLY_SYMBOLS, REGISTRY

# The last four are also star-exported by MXNet's module; monitor callbacks need them.
__all__ = [
    "CustomOp",
    "CustomOpProp",
    "NDArrayOp",
    "NumpyOp",
    "OperatorArguments",
    "PythonOp",
    "get_all_registered_operators",
    "get_all_registered_operators_grouped",
    "get_operator_arguments",
    "register",
    "NDArray",
    "NDArrayHandle",
    "ctypes",
    "py_str",
]

__dir__ = listing(__name__)

#: number, names and type texts of an operator's arguments
OperatorArguments = namedtuple("OperatorArguments", ["narg", "names", "types"])


class CustomOp:
    """Base class of an operator's computation.

    One object serves a forward pass and the subsequent backward pass, and may keep state between
    them. Arrays passed to the methods are only valid until the methods return.
    """

    def forward(self, is_train, req, in_data, out_data, aux):
        """Compute the outputs.

        Parameters
        ----------
        is_train : bool
            Whether the mode is training.
        req : list of str
            Request for each output; see `assign`.
        in_data : list of NDArray
            Inputs, read-only.
        out_data : list of NDArray
            Outputs to write.
        aux : list of NDArray
            Auxiliary states, which may be modified.
        """

    def backward(self, req, out_grad, in_data, out_data, in_grad, aux):
        """Compute the gradients of the inputs.

        Parameters
        ----------
        req : list of str
            Request for each gradient; ``'null'`` if not required.
        out_grad, in_data, out_data : list of NDArray
            Output gradients, inputs and outputs; None for those that
            `CustomOpProp.declare_backward_dependency` omits.
        in_grad : list of NDArray
            Gradients to write.
        aux : list of NDArray
            Auxiliary states, which may be modified.
        """

    def assign(self, dst, req, src):
        """Store a result as requested.

        Parameters
        ----------
        dst : NDArray
        req : {'null', 'write', 'inplace', 'add'}
            ``'null'``: discard; ``'add'``: add to the contents.
        src : NDArray, numpy.ndarray or number
        """
        if req in ("write", "inplace"):
            dst[:] = src
        elif req == "add":
            if isinstance(src, np.ndarray):
                src = array(src, dst.context, dst.dtype)
            dst[:] += src


class CustomOpProp:
    """Base class of an operator's properties.

    Parameters
    ----------
    need_top_grad : bool
        Whether backward reads the gradients of the outputs, which losses do not. Other parameters
        of a subclass receive the arguments of `Custom` as str.
    """

    def __init__(self, need_top_grad=True):
        self.need_top_grad_ = need_top_grad

    def infer_shape(self, in_shape):
        """Infer the shapes of inputs, outputs and auxiliary states.

        Parameters
        ----------
        in_shape : list of list of int
            Input shapes as far as known; in symbols, an empty list means unknown.

        Returns
        -------
        in_shape, out_shape, aux_shape : list or tuple
            The last may be omitted. By default outputs have the shape of the first input.
        """
        return in_shape, (in_shape[0],) * len(self.list_outputs()), ()

    def infer_type(self, in_type):
        """Infer the dtypes of inputs, outputs and auxiliary states.

        Parameters
        ----------
        in_type : list of type
            Input types such as ``numpy.float32``; in symbols, None means unknown.

        Returns
        -------
        in_type, out_type, aux_type : list
            The last may be omitted. By default all have the type of the first input.
        """
        outs, states = self.list_outputs(), self.list_auxiliary_states()
        return in_type, [in_type[0]] * len(outs), [in_type[0]] * len(states)

    def infer_storage_type(self, in_stype):
        """Infer the storage types of inputs, outputs and auxiliary states: all ``'default'``.

        Raises
        ------
        AssertionError
            If an input has another storage type.
        """
        for number, stype in enumerate(in_stype):
            assert stype == "default", (
                f"input {number} has storage type {stype}; infer_storage_type accepts only default"
            )
        outs, states = self.list_outputs(), self.list_auxiliary_states()
        return in_stype, ["default"] * len(outs), ["default"] * len(states)

    def infer_storage_type_backward(self, ograd_stype, in_stype, out_stype, igrad_stype, aux_stype):
        """Infer the storage types of arrays used by the backward pass: all ``'default'``.

        Raises
        ------
        AssertionError
            If an array has another storage type.
        """
        lists = [ograd_stype, in_stype, out_stype, igrad_stype, aux_stype]
        for stypes in (ograd_stype, igrad_stype):
            for number, stype in enumerate(stypes):
                assert stype in ("default", "undefined"), (
                    f"gradient {number} has storage type {stype}; infer_storage_type_backward "
                    "accepts only default"
                )
        return tuple(["default"] * len(stypes) for stypes in lists)

    def list_arguments(self):
        """List the names of the inputs, by default ``['data']``."""
        return ["data"]

    def list_outputs(self):
        """List the names of the outputs, by default ``['output']``."""
        return ["output"]

    def list_auxiliary_states(self):
        """List the names of the auxiliary states, by default none."""
        return []

    def declare_backward_dependency(self, out_grad, in_data, out_data):
        """Declare the arrays that the backward pass reads.

        Parameters
        ----------
        out_grad, in_data, out_data : list of int
            Numbers that represent the arrays.

        Returns
        -------
        list of int
            A subset; by default all, without `out_grad` if `need_top_grad` is False.
        """
        return [*(out_grad if self.need_top_grad_ else ()), *in_data, *out_data]

    def create_operator(self, ctx, in_shapes, in_dtypes):
        """Create the object that computes.

        Parameters
        ----------
        ctx : Context
        in_shapes : list of list of int
            Shapes of the inputs.
        in_dtypes : list of int
            MXNet's dtype codes of the inputs: 0 for float32, ...

        Returns
        -------
        CustomOp
        """
        return CustomOp()


def register(reg_name):
    """Make a class decorator that registers a subclass of `CustomOpProp` under a name.

    A class previously registered under the name is replaced, with a logged warning.

    Parameters
    ----------
    reg_name : str

    Returns
    -------
    callable
    """

    def enter(prop_cls):
        if reg_name in PROPERTIES and PROPERTIES[reg_name] is not prop_cls:
            logging.warning("custom operator %s is registered again", reg_name)
        PROPERTIES[reg_name] = prop_cls
        return prop_cls

    return enter


register("custom_op")(CustomOpProp)


def get_all_registered_operators():
    """List the names of all operators, including aliases.

    Returns
    -------
    list of str
    """
    return [*REGISTRY, *ONLY_SYMBOLS, NAME]


def get_all_registered_operators_grouped():
    """List the operators with their names.

    Returns
    -------
    dict of str to list of str
        Name of an operator -> all its names, including itself.
    """
    groups: dict = {name: [name] for name in (*ONLY_SYMBOLS, NAME)}
    for name, record in REGISTRY.items():
        groups.setdefault(record.name, []).append(name)
    return groups


def get_operator_arguments(op_name):
    """Return the inputs and attributes of an operator.

    Parameters
    ----------
    op_name : str

    Returns
    -------
    OperatorArguments
        A named tuple: `narg`, `names`, and `types`, str such as ``"int, required"``.

    Raises
    ------
    MXNetError
        If there is no such operator.
    """
    if op_name == NAME:
        return OperatorArguments(2, ["data", "op_type"], ["NDArray-or-Symbol[]", "string"])
    record = REGISTRY.get(op_name) or ONLY_SYMBOLS.get(op_name)
    if record is None:
        raise MXNetError(f"operator {op_name} is not registered")
    inputs = [record.variadic] if record.variadic else list(record.inputs)
    kind = "NDArray-or-Symbol[]" if record.variadic else "NDArray-or-Symbol"
    fields = record.schema.fields
    names = inputs + [field.name for field in fields]
    if profile.is_mxnet_2():
        texts = [field.type.generation_2.text(field.default) for field in fields]
    else:
        texts = [field.text for field in fields]
    types = [kind] * len(inputs) + texts
    return OperatorArguments(len(names), names, types)
