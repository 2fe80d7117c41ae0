"""Data-parallel executors, one per device."""

import logging
from collections import OrderedDict

from mxcy import ndarray as nd
from mxcy.io import DataDesc
from mxcy.module.binding import bind_part
from mxcy.module.slices import (
    batch_axes,
    columns,
    copy_parts,
    each_device,
    joined,
    part_shapes,
    split_batch,
)

__all__ = ["DataParallelExecutorGroup"]


class DataParallelExecutorGroup:
    """Executors of a symbol on several devices, over which batches are split.

    Parameters
    ----------
    symbol : Symbol
        The network.
    contexts : list of Context
        The devices.
    workload : list of number
        Relative share of the batch per device.
    data_shapes, label_shapes : list of DataDesc
        Descriptions of inputs and labels.
    param_names : list of str
        Arguments that are parameters.
    for_training, inputs_need_grad : bool
        Whether to compute gradients, and those of the inputs.
    shared_group : DataParallelExecutorGroup, optional
        A group to share parameters, their gradients and auxiliary states with.
    logger : Logger
        Destination of messages.
    fixed_param_names : list of str, optional
        Parameters without gradients.
    grad_req : str, list of str or dict of str to str
        Whether gradients are written or added.
    state_names : list of str, optional
        Arguments that are neither parameters nor part of batches.
    group2ctxs : dict of str to Context, or a list of one per device, optional
        Devices of context groups.

    Attributes
    ----------
    execs : list of Executor
        One per device.
    param_arrays, grad_arrays, aux_arrays : list of list of NDArray
        For each parameter or state, one array per device.
    batch_size : int
        Size of the whole batch.
    slices : list of slice
        Each device's part of the batch.
    """

    def __init__(
        self,
        symbol,
        contexts,
        workload,
        data_shapes,
        label_shapes,
        param_names,
        for_training,
        inputs_need_grad,
        shared_group=None,
        logger=logging,
        fixed_param_names=None,
        grad_req="write",
        state_names=None,
        group2ctxs=None,
    ):
        self.symbol = symbol
        self.contexts = contexts
        self.workload = workload
        self.param_names = param_names
        self.for_training = for_training
        self.inputs_need_grad = inputs_need_grad
        self.logger = logger
        self.fixed_param_names = fixed_param_names or []
        self.state_names = state_names or []
        self.arg_names = symbol.list_arguments()
        self.aux_names = symbol.list_auxiliary_states()
        self.output_names = symbol.list_outputs()
        self.output_layouts = [
            DataDesc.get_batch_axis(symbol[name].attr("__layout__")) for name in self.output_names
        ]
        self._group2ctxs = each_device(group2ctxs, len(contexts))
        self.grad_req = self._requests(grad_req, [desc.name for desc in data_shapes])
        self.execs = []
        self.bind_exec(data_shapes, label_shapes, shared_group)

    def _requests(self, grad_req, data_names):
        """{argument: grad_req} for all arguments."""
        if isinstance(grad_req, list | tuple):
            assert len(grad_req) == len(self.arg_names), (
                f"grad_req has {len(grad_req)} items for {len(self.arg_names)} arguments"
            )
            grad_req = dict(zip(self.arg_names, grad_req, strict=True))
        requests = dict.fromkeys(self.arg_names, "null")
        if not self.for_training:
            return requests
        of_all = isinstance(grad_req, str)
        trained = {*self.param_names} - {*self.fixed_param_names}
        trained.update(data_names if self.inputs_need_grad else ())
        request = grad_req if of_all else "write"
        requests.update((name, request) for name in self.arg_names if name in trained)
        return requests if of_all else {**requests, **grad_req}

    # -- binding ----------------------------------------------------------------------------------

    def decide_slices(self, data_shapes):
        """Split the batch over the devices.

        Parameters
        ----------
        data_shapes : list of DataDesc
            Shapes of the whole batch.

        Returns
        -------
        list of int
            Batch axis of each input, -1 for none.

        Raises
        ------
        AssertionError
            If the batch sizes differ.
        ValueError
            If there are more devices than samples.
        """
        before = self.batch_size
        axes, self.batch_size = batch_axes(data_shapes, before)
        if self.batch_size != before:
            self.slices = split_batch(self.batch_size, self.workload)
        return axes

    def bind_exec(self, data_shapes, label_shapes, shared_group=None, reshape=False):
        """Create the executors, or with `reshape` change their shapes.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc
            Shapes of the whole batch.
        shared_group : DataParallelExecutorGroup, optional
            See the class.
        reshape : bool
            Keep arrays whose shapes do not change.
        """
        label_shapes = label_shapes or []
        data_layouts, batch_size = batch_axes(data_shapes, None)
        label_layouts, batch_size = batch_axes(label_shapes, batch_size)
        slices = None if batch_size is None else split_batch(batch_size, self.workload)
        execs = []
        for i, ctx in enumerate(self.contexts):
            size = 0 if slices is None else slices[i].stop - slices[i].start
            parts = part_shapes(data_shapes, data_layouts, size)
            parts += part_shapes(label_shapes, label_layouts, size)
            if reshape:
                execs.append(self.execs[i].reshape(allow_up_sizing=True, **self._inputs_of(parts)))
            else:
                shared = None if shared_group is None else shared_group.execs[i]
                execs.append(bind_part(self, ctx, parts, shared, self._group2ctxs[i]))
        # Nothing has changed so far: after a failure the old binding remains usable.
        self.execs, self.batch_size, self.slices = execs, batch_size, slices
        self.data_shapes, self.label_shapes = data_shapes, label_shapes
        self.data_layouts, self.label_layouts = data_layouts, label_layouts
        self.data_names = [desc.name for desc in data_shapes]
        self.label_names = [desc.name for desc in label_shapes]
        self._collect_arrays()

    def _inputs_of(self, parts):
        """The shapes of all arguments that are not parameters, including missing labels."""
        known = {desc.name: desc.shape for desc in parts if desc.name in self.arg_names}
        shapes, _, _ = self.symbol.infer_shape(**known)
        if shapes is None:
            return known
        inferred = zip(self.arg_names, shapes, strict=True)
        return {name: shape for name, shape in inferred if name not in self.param_names}

    def _collect_arrays(self):
        own = [name for name in self.arg_names if name in self.param_names]
        self.param_arrays = columns(self.execs, "arg_dict", own)
        self.grad_arrays = columns(self.execs, "grad_dict", own)
        self.aux_arrays = columns(self.execs, "aux_dict", self.aux_names)
        self.state_arrays = columns(self.execs, "arg_dict", self.state_names)
        self.data_arrays = self._inputs(self.data_names)
        self.label_arrays = self._inputs(self.label_names)
        self.input_grad_arrays = []
        if self.inputs_need_grad:
            used = [name for name in self.data_names if name in self.arg_names]
            self.input_grad_arrays = columns(self.execs, "grad_dict", used)

    def _inputs(self, names):
        """(slice, array) pairs of all devices for each name; None if the symbol lacks it."""
        columns_of = []
        for name in names:
            arrays = [executor.arg_dict.get(name) for executor in self.execs]
            pairs = list(zip(self.slices, arrays, strict=True))
            columns_of.append(pairs if name in self.arg_names else None)
        return columns_of

    def reshape(self, data_shapes, label_shapes):
        """Change the shapes of inputs and labels, keeping the parameters.

        Parameters
        ----------
        data_shapes, label_shapes : list of DataDesc
            Shapes of the whole batch.
        """
        if data_shapes == self.data_shapes and (label_shapes or []) == self.label_shapes:
            return
        self.bind_exec(data_shapes, label_shapes, reshape=True)

    # -- parameters and states --------------------------------------------------------------------

    def set_params(self, arg_params, aux_params, allow_extra=False):
        """Copy parameters and auxiliary states to all devices.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
            The values.
        allow_extra : bool
            Ignore unknown names instead of raising ValueError.
        """
        for executor in self.execs:
            executor.copy_params_from(arg_params, aux_params, allow_extra_params=allow_extra)

    def get_params(self, arg_params, aux_params):
        """Fill arrays with the means of parameters and auxiliary states over the devices.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
            The arrays to fill.
        """
        own = [name for name in self.arg_names if name in self.param_names]
        for names, arrays, target in (
            (own, self.param_arrays, arg_params),
            (self.aux_names, self.aux_arrays, aux_params),
        ):
            for name, parts in zip(names, arrays, strict=True):
                mean = parts[0].as_in_context(target[name].context)
                if len(parts) > 1:
                    others = (part.as_in_context(mean.context) for part in parts[1:])
                    mean = sum(others, mean) / len(parts)
                mean.astype(target[name].dtype, copy=False).copyto(target[name])

    def get_states(self, merge_multi_context=True):
        """Return the states, see `BaseModule.get_states`."""
        assert not merge_multi_context, "states are kept for each device: do not merge them"
        return self.state_arrays

    def set_states(self, states=None, value=None):
        """Set the states from arrays or to one number, see `BaseModule.set_states`."""
        assert (states is None) != (value is None), "give either states or a value"
        if states is not None:
            for name, parts, arrays in zip(
                self.state_names, states, self.state_arrays, strict=True
            ):
                assert len(parts) == len(arrays), f"{name}: expected an array for each device"
                for part, array in zip(parts, arrays, strict=True):
                    part.copyto(array)
            return
        for arrays in self.state_arrays:
            for array in arrays:
                array[:] = value

    # -- running ----------------------------------------------------------------------------------

    def forward(self, data_batch, is_train=None):
        """Copy a batch to the devices and compute the outputs.

        Parameters
        ----------
        data_batch : DataBatch, or list of one per device
            The inputs.
        is_train : bool, optional
            Training mode; defaults to the group's `for_training`.
        """
        is_train = self.for_training if is_train is None else is_train
        self._load(data_batch, "data", self.data_arrays, self.data_layouts)
        self._load(data_batch, "label", self.label_arrays, self.label_layouts)
        for executor in self.execs:
            executor.forward(is_train=is_train)

    @staticmethod
    def _load(batch, kind, targets, axes):
        # Batches for prediction may lack labels.
        if isinstance(batch, list):  # one batch per device
            sources = list(zip(*(getattr(each, kind, None) or [] for each in batch), strict=True))
        else:
            sources = getattr(batch, kind, None) or []
        for source, target, axis in zip(sources, targets, axes, strict=False):
            if target is not None:
                copy_parts(source, target, axis)

    def backward(self, out_grads=None):
        """Compute gradients.

        Parameters
        ----------
        out_grads : NDArray or list of NDArray, optional
            Gradients of the outputs.
        """
        assert self.for_training, "re-bind with for_training=True to run backward"
        if isinstance(out_grads, nd.NDArray):
            out_grads = [out_grads]
        for part, executor in zip(self.slices, self.execs, strict=True):
            heads = None
            if out_grads:
                heads = [
                    self._part(gradient, part, axis).as_in_context(executor.outputs[0].context)
                    for gradient, axis in zip(out_grads, self.output_layouts, strict=True)
                ]
            executor.backward(out_grads=heads)

    def _part(self, array, part, axis):
        if axis < 0 or len(self.execs) == 1:
            return array
        return nd.slice_axis(array, axis=axis, begin=part.start, end=part.stop)

    # -- results ----------------------------------------------------------------------------------

    def get_output_shapes(self):
        """Return ``(name, shape)`` of each whole output."""
        described = []
        for name, array, axis in zip(
            self.output_names, self.execs[0].outputs, self.output_layouts, strict=True
        ):
            shape = list(array.shape)
            if axis >= 0 and shape and len(self.execs) > 1:
                shape[axis] = sum(
                    executor.outputs[self.output_names.index(name)].shape[axis]
                    for executor in self.execs
                )
            described.append((name, tuple(shape)))
        return described

    def get_outputs(self, merge_multi_context=True, begin=0, end=None):
        """Return the outputs, see `BaseModule.get_outputs`; from `begin` to `end` only."""
        end = len(self.output_names) if end is None else end
        outputs = [[executor.outputs[i] for executor in self.execs] for i in range(begin, end)]
        return joined(outputs, self.output_layouts[begin:end]) if merge_multi_context else outputs

    def get_input_grads(self, merge_multi_context=True):
        """Return the gradients of the inputs, see `BaseModule.get_input_grads`."""
        assert self.inputs_need_grad, "bind with inputs_need_grad=True to get gradients of inputs"
        gradients = self.input_grad_arrays
        return joined(gradients, self.data_layouts) if merge_multi_context else gradients

    def update_metric(self, eval_metric, labels, pre_sliced):
        """Update a metric with each device's outputs, see `BaseModule.update_metric`."""
        for i, (part, executor) in enumerate(zip(self.slices, self.execs, strict=True)):
            if pre_sliced:
                own = labels[i]
            else:
                own = [
                    self._part(label, part, axis)
                    for label, axis in zip(labels or [], self._label_axes(labels), strict=False)
                ]
            eval_metric.update_dict(
                OrderedDict(zip(self.label_names, own, strict=False)),
                OrderedDict(zip(self.output_names, executor.outputs, strict=True)),
            )

    def _label_axes(self, labels):
        return self.label_layouts or [0] * len(labels or [])

    def install_monitor(self, mon):
        """Install a monitor on all executors."""
        for executor in self.execs:
            mon.install(executor)
