"""Executors: symbols bound to arrays."""

from typing import Any

import numpy as np

from mxcy import profile
from mxcy._base.suggestions import did_you_mean
from mxcy._execute.executor_arrays import (
    by_name,
    check_gradients,
    dense,
    gradient_arrays,
    head_gradient,
    in_order,
    requests_of,
    resized,
)
from mxcy._execute.executor_slots import add_to_gradients, head_slots_of, sources_of
from mxcy._execute.planned import Planned, training_graph
from mxcy._execute.watching import Watcher
from mxcy._library.api_calls import api_call
from mxcy.base import MXNetError
from mxcy.context import Context
from mxcy.custom.objects import share
from mxcy.graph.backend import to_entries
from mxcy.graph.control import expand
from mxcy.graph.graph import from_entries
from mxcy.graph.infer import infer, infer_partial
from mxcy.graph.passes import cse
from mxcy.graph.planning.report import summary
from mxcy.ndarray import NDArray
from mxcy.ops.core.infer import Spec

__all__ = ["Executor"]


class Executor:
    """A symbol bound to arrays, created by `Symbol.bind` and `Symbol.simple_bind`.

    What it computes may be another form of the symbol, with the same variables and outputs.

    Attributes
    ----------
    outputs : list of NDArray
        Overwritten by each `forward`.
    """

    def __init__(self, symbol, ctx, args, args_grad, grad_req, aux_states, partitioned=None):
        self._symbol, self._ctx = symbol, Context(ctx)
        self._partitioned = symbol if partitioned is None else partitioned
        self._arg_names = symbol.list_arguments()
        self._aux_names = symbol.list_auxiliary_states()
        self._output_names = symbol.list_outputs()
        self._arg_arrays = in_order(args, self._arg_names, "args")
        self._aux_arrays = in_order(aux_states or [], self._aux_names, "aux_states")
        self._requests = requests_of(grad_req, self._arg_names)
        self._grad_arrays = gradient_arrays(args_grad, self._arg_names)
        check_gradients(self._arg_names, self._arg_arrays, self._grad_arrays)
        for name, gradient in zip(self._arg_names, self.grad_arrays, strict=True):
            if gradient is None:
                self._requests[name] = "null"
        self._plans: dict = {}  # (training, with backward pass) -> plan
        self._slots: dict = {}  # plan -> the arrays of its slots
        self._head_slots: dict = {}  # plan -> see head_slots_of
        self._objects: dict = {}  # state objects of custom operators
        self._watcher: Any = None
        self._arena: Any = None  # (plan, its memory)
        self._ran: Any = None  # (plan, arrays) of the last forward pass
        self._mode = self._spent = False  # of the last forward pass; whether backward followed it
        self._slopes_of_predictions = False  # whether backward ever followed prediction mode
        self._known = {
            name: Spec(array.shape, array.dtype_code)
            for name, array in (*self.arg_dict.items(), *self.aux_dict.items())
        }
        self.outputs = self._first_outputs()
        if symbol._is_numpy:
            self.outputs = [array.as_np_ndarray() for array in self.outputs]

    @property
    def _device(self):
        """Context: MXNet 2's name for what MXNet 1.x calls `_ctx`."""
        return self._ctx

    def _first_outputs(self):
        """Allocate the outputs, whose values are not computed yet."""
        return self._planned(False, False).new_outputs(len(self._output_names))

    # --- arrays, as lists and by name ---
    @property
    def arg_arrays(self):
        """list of NDArray: the arguments."""
        return self._arg_arrays

    @property
    def grad_arrays(self):
        """list of NDArray: the arguments' gradients, None where not requested."""
        return self._grad_arrays

    @property
    def aux_arrays(self):
        """list of NDArray: the auxiliary states."""
        return self._aux_arrays

    @property
    def arg_dict(self):
        """dict of str to NDArray: the arguments."""
        return by_name(self._arg_names, self.arg_arrays, "arguments")

    @property
    def grad_dict(self):
        """dict of str to NDArray: the arguments' gradients, None where not requested."""
        return by_name(self._arg_names, self.grad_arrays, "arguments")

    @property
    def aux_dict(self):
        """dict of str to NDArray: the auxiliary states."""
        return by_name(self._aux_names, self.aux_arrays, "auxiliary states")

    @property
    def output_dict(self):
        """dict of str to NDArray: the outputs."""
        return by_name(self._output_names, self.outputs, "outputs")

    # --- running ---
    @api_call("MXExecutorForward")
    def forward(self, is_train=False, **kwargs):
        """Compute the outputs.

        Parameters
        ----------
        is_train : bool
            Whether operators run in training mode.
        **kwargs : NDArray or array_like
            New values of arguments by name.

        Returns
        -------
        list of NDArray

        Raises
        ------
        TypeError
            If a name is not an argument.
        ValueError
            If the shape of a value differs from the argument's.
        """
        if kwargs:
            self._take(kwargs)
        self._mode = bool(is_train)
        planned, arrays = self._prepare(self._mode or self._slopes_of_predictions)
        if self._watcher is None:
            planned.forward(arrays, self._arena[1])
        else:
            planned.step_by_step(arrays, self._arena[1], self._watcher.visit)
        for output in self.outputs:
            output.touch()
        return self.outputs

    def _prepare(self, differentiable):
        """Return the plan of a pass, its arrays and its memory."""
        planned = self._planned(self._mode, differentiable)
        arrays = self._arrays(planned)
        if self._arena is None or self._arena[0] is not planned:
            self._arena = (planned, planned.new_arena())
        self._ran, self._spent = (planned, arrays), not differentiable
        return planned, arrays

    @api_call("MXExecutorBackwardEx")
    def backward(self, out_grads=None, is_train=True):
        """Compute the gradients of the arguments after `forward`.

        After ``forward(is_train=True)`` only the backward pass runs. A second `backward`, or the
        first one after a forward pass in prediction mode, repeats the forward pass, and one without
        any preceding forward pass runs it.

        Parameters
        ----------
        out_grads : NDArray, list of NDArray or dict of str to NDArray, optional
            Gradients of the outputs, of any dtype; losses need none. With the profile of MXNet 2,
            ones by default. Surplus gradients are ignored.
        is_train : bool
            Mode of the forward pass if none preceded.

        Raises
        ------
        TypeError
            If a gradient is not an array.
        MXNetError
            If there are fewer gradients than outputs, or none although an output is no loss, or a
            shape is wrong.
        """
        if not self._wanted():
            return
        if self._ran is None:
            self._mode, self._spent = bool(is_train), True
        if out_grads is None:
            self._refuse_outputs_without_loss()
        heads = self._heads(out_grads)
        if self._spent:
            self._repeat()
        planned, arrays = self._ran
        arrays = list(arrays)
        for slot, position, _ in self._head_slots[planned]:
            arrays[slot] = heads[position]
        planned.backward(arrays, self._arena[1])
        self._spent = True
        for array in self.grad_arrays:
            if array is not None:
                array.touch()
        if self._watcher is not None:
            slot = len(planned.variables) + len(self.outputs) + len(self._wanted())
            self._watcher.show_gradients(self._mode, planned.graph, heads, arrays[slot:])

    def _repeat(self):
        """Repeat the forward pass for a backward pass, without updating states again."""
        if not self._mode:
            self._slopes_of_predictions = True
        states = [array.copy() for array in self.aux_arrays]
        planned, arrays = self._prepare(True)
        planned.forward(arrays, self._arena[1])
        for array, state in zip(self.aux_arrays, states, strict=True):
            array[:] = state

    def _heads(self, out_grads):
        if isinstance(out_grads, NDArray):
            out_grads = [out_grads]
        elif isinstance(out_grads, dict):
            out_grads = [out_grads[name] for name in self._output_names]
        if out_grads is None:
            out_grads = [None] * len(self.outputs)
        if len(out_grads) < len(self.outputs):
            raise MXNetError(
                f"backward: expected {len(self.outputs)} output gradients, got {len(out_grads)}"
            )
        read = self._heads_read()
        return [
            # A gradient that affects no argument is not checked, as in MXNet.
            self._head(name, gradient, output) if number in read else output
            for number, (name, gradient, output) in enumerate(
                zip(self._output_names, out_grads, self.outputs, strict=False)
            )
        ]

    def _refuse_outputs_without_loss(self):
        """Raise if a gradient of an output is needed, as MXNet 1.x does."""
        if profile.is_mxnet_2() or self._watcher is not None:  # plans of monitors read all of them
            return
        names = [self._output_names[number] for number in sorted(self._heads_read())]
        if names:
            raise MXNetError(
                f"backward: out_grads is required, as {', '.join(names)} is no output of a loss; "
                "to minimize an output, pass it through make_loss"
            )

    def _heads_read(self):
        """The indices of outputs whose gradients are used."""
        slots = self._head_slots[self._planned(self._mode, True)]
        return {number for _, number, is_used in slots if is_used}

    def _head(self, name, gradient, output):
        return dense(head_gradient(name, gradient, output))  # plans support only dense arrays

    def _take(self, values):
        arguments = self.arg_dict
        for name, value in values.items():
            if name not in arguments:
                raise TypeError(f"Unknown argument {name}{did_you_mean(name, arguments)}")
            array = arguments[name]
            if tuple(np.shape(value)) != array.shape:
                raise ValueError(
                    f"Shape not match! Argument {name}, need: {array.shape}, "
                    f"received: {tuple(np.shape(value))}"
                )
            array[:] = value

    def _wanted(self):
        return [name for name in self._arg_names if self._requests[name] != "null"]

    def _planned(self, training, differentiable):
        """The plan of a mode, with or without backward pass, created at its first use."""
        planned = self._plans.get((training, differentiable))
        if planned is None:
            graph = expand(infer(from_entries(self._partitioned._entries, training), self._known))
            wanted = self._wanted() if differentiable else []
            if wanted:
                trace: list | None = None if self._watcher is None else []
                graph = training_graph(graph, wanted, trace=trace, context=self._ctx)
                adding = [name for name in wanted if self._requests[name] == "add"]
                graph = add_to_gradients(graph, len(self._output_names), wanted, adding)
                if trace:
                    self._watcher.trace(training, graph, trace)
            planned = self._plans[training, differentiable] = Planned(
                graph, self._ctx, self._watcher is None
            )
            share(planned.plan.steps, self._objects)
            self._head_slots[planned] = head_slots_of(planned, graph, len(self._output_names))
        return planned

    def _arrays(self, planned):
        """The arrays of a plan's slots: variables, then outputs and their gradients."""
        arrays = self._slots.get(planned)
        if arrays is None:
            names = self._arg_names, self._aux_names, self._output_names
            lists = (self._arg_arrays, self._aux_arrays, self._grad_arrays, self.outputs)
            sources = sources_of(planned, *names, self._wanted())
            arrays = self._slots[planned] = [lists[kind][index] for kind, index in sources]
        if self._watcher is not None:  # which added outputs
            added = planned.new_outputs()[len(arrays) - len(planned.variables) :]
            return arrays + added
        return arrays

    # --- the rest of the public interface ---
    def set_monitor_callback(self, callback, monitor_all=False):
        """Call ``callback(name, array)`` for the outputs and gradients of every operator.

        Parameters
        ----------
        callback : callable or None
            The name has a method `decode`, because MXNet passes bytes.
        monitor_all : bool
            Whether to call it for inputs as well, during `forward`.
        """
        self._plans.clear()  # watched graphs are not optimized
        self._slots.clear()
        self._head_slots.clear()
        self._arena = self._ran = self._watcher = None
        if callback is not None:
            self._watcher = Watcher(callback, self._partitioned._entries, monitor_all)

    def copy_params_from(self, arg_params, aux_params=None, allow_extra_params=False):
        """Copy values into the arguments and auxiliary states.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
        allow_extra_params : bool
            Whether to ignore names that are not in the symbol.

        Raises
        ------
        ValueError
            If a name is not in the symbol and `allow_extra_params` is False.
        MXNetError
            If the shape of a value is wrong.
        """
        for kind, own, sources in (
            ("arguments", self.arg_dict, arg_params),
            ("auxiliary states", self.aux_dict, aux_params or {}),
        ):
            for name, array in sources.items():
                if name in own:
                    if array.shape != own[name].shape:
                        raise MXNetError(
                            f"{name}: expected shape {own[name].shape} here, got {array.shape}"
                        )
                    array.astype(own[name].dtype).copyto(own[name])
                elif not allow_extra_params:
                    raise ValueError(f'Find name "{name}" that is not in the {kind}')

    def reshape(self, partial_shaping=False, allow_up_sizing=False, **kwargs):
        """Make an executor for other input shapes, which shares the unchanged arrays.

        Parameters
        ----------
        partial_shaping : bool
            Whether the shapes of other arguments may change.
        allow_up_sizing : bool
            Whether arrays may grow.
        **kwargs : tuple of int
            New shapes by argument name.

        Raises
        ------
        ValueError
            If a name is unknown.
        MXNetError
            If a shape would change or grow that may not.
        """
        for name in kwargs:
            if name not in self._known:
                raise ValueError(f"{name} is not an argument of the symbol")
        arg_shapes, _, aux_shapes = self._symbol.infer_shape(**kwargs)
        if arg_shapes is None:
            raise ValueError("Insufficient argument shapes provided.")
        arguments, gradients = [], []
        for name, shape, array, gradient in zip(
            self._arg_names, arg_shapes, self.arg_arrays, self.grad_arrays, strict=True
        ):
            if not (partial_shaping or name in kwargs or shape == array.shape):
                raise MXNetError(
                    f"Shape of unspecified array arg:{name} changed. This can cause the new "
                    "executor to not share parameters with the old one. Please check for error in "
                    "the network. If this is intended, set partial_shaping=True to suppress this "
                    "warning."
                )
            arguments.append(resized(array, shape, name, allow_up_sizing))
            gradients.append(
                None if gradient is None else resized(gradient, shape, name, allow_up_sizing)
            )
        states = []
        for name, shape, array in zip(self._aux_names, aux_shapes, self.aux_arrays, strict=True):
            if not partial_shaping and shape != array.shape:
                raise MXNetError(f"Shape of unspecified array aux:{name} changed.")
            states.append(resized(array, shape, name, allow_up_sizing))
        arrays = (arguments, gradients, self._requests, states)
        reshaped = type(self)(self._symbol, self._ctx, *arrays, self._partitioned)
        if self._watcher is not None:
            reshaped.set_monitor_callback(*self._watcher.settings)
        return reshaped

    def plan(self, is_train=False):
        """The plan of a mode, a `mxcy.graph.planning.plan.Plan`, for inspection."""
        return self._planned(is_train, is_train).plan

    def describe(self, is_train=False):
        """The optimized graph of a mode as a dict, see `mxcy.graph.planning.report.describe`."""
        return self._planned(is_train, is_train).describe()

    def debug_str(self):
        """List the steps of the plan, including gradients if requested, as text."""
        training = bool(self._wanted())
        planned = self._planned(training, training)
        lines = [f"Symbol Outputs: {', '.join(self._output_names)}"]
        lines += [
            f"{step.name}: {step.call.op.name} by {step.call.kernel or 'ref'} -> "
            f"{', '.join(map(str, step.call.outs))}"
            for step in planned.plan.steps
        ]
        lines.append(summary(planned.describe()))
        lines.append(f"Total {planned.plan.arena >> 20} MB allocated")
        return "\n".join(lines)

    def get_optimized_symbol(self):
        """The bound symbol after common subexpression elimination.

        The results of other passes are not symbols; `debug_str` shows them.

        Returns
        -------
        Symbol
        """
        graph = from_entries(self._partitioned._entries)
        graph.specs = infer_partial(graph, self._known)
        merged = cse.run(graph, self._planned(False, False).machine)
        return self._partitioned if merged is graph else type(self._symbol)(to_entries(merged))
