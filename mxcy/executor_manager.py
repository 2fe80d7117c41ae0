"""`mx.executor_manager`: data-parallel executors, the predecessor of modules.

Old programs use it for training on several devices, or import `_split_input_slice`.
"""

import logging
from collections import Counter

import numpy as np

from mxcy import ndarray as nd
from mxcy._base.listing import listing
from mxcy.base import MXNetError
from mxcy.context import cpu
from mxcy.module.slices import columns
from mxcy.module.slices import split_batch as _split_input_slice

__all__ = ["DataParallelExecutorGroup", "DataParallelExecutorManager"]

__dir__ = listing(__name__)


def _check_arguments(symbol):
    """Check that the variables of a symbol have unique names.

    Raises
    ------
    ValueError
    """
    for kind, names in (
        ("argument", symbol.list_arguments()),
        ("auxiliary state", symbol.list_auxiliary_states()),
    ):
        twice = [name for name, count in Counter(names).items() if count > 1]
        if twice:
            raise ValueError(f"the symbol has several variables for {kind} {', '.join(twice)}")


def _load_general(arrays, targets):
    """Copy arrays to devices; a target is an array, or a list of (slice, array)."""
    for source, target in zip(arrays, targets, strict=True):
        if isinstance(target, nd.NDArray):
            source.copyto(target)
            continue
        if target[-1][0].stop != source.shape[0]:
            raise MXNetError(
                f"the batch has {source.shape[0]} entries, expected {target[-1][0].stop}"
            )
        for part, array in target:
            source[part].copyto(array)


def _load_data(batch, targets):
    _load_general(batch.data, targets)


def _load_label(batch, targets):
    _load_general(batch.label, targets)


def _bound(symbol, context, part, train_data, base):
    """Bind an executor for a part of each batch, sharing the parameters of `base` if given."""
    inputs = [*train_data.provide_data, *train_data.provide_label]
    shapes = {desc[0]: (part.stop - part.start, *desc[1][1:]) for desc in inputs}
    types = {desc[0]: getattr(desc, "dtype", np.float32) for desc in inputs}
    names = symbol.list_arguments()
    requests = {name: "null" if name in shapes else "write" for name in names}
    if base is None:
        return symbol.simple_bind(context, grad_req=requests, type_dict=types, **shapes)
    arrays, grads = {}, {}
    for name in names:
        if name in shapes:
            arrays[name] = nd.zeros(shapes[name], ctx=context, dtype=types[name])
        else:
            arrays[name], grads[name] = base.arg_dict[name], base.grad_dict[name]
    return symbol.bind(context, arrays, grads, requests, base.aux_dict)


class DataParallelExecutorGroup:
    """One executor per device, each for its slice of the batch.

    Parameters
    ----------
    sym : Symbol
    arg_names, param_names : list of str
        All arguments of the symbol, and the trained ones.
    ctx : list of Context
    slices : list of slice
        Each device's slice of a batch.
    train_data : DataIter or DataBatch
        Any object with ``provide_data`` and ``provide_label``.
    shared_group : DataParallelExecutorGroup, optional
        A group whose parameters are shared.
    """

    def __init__(self, sym, arg_names, param_names, ctx, slices, train_data, shared_group=None):
        _check_arguments(sym)
        self.data_names = [desc[0] for desc in train_data.provide_data]
        self.label_names = [desc[0] for desc in train_data.provide_label]
        self.aux_names = sym.list_auxiliary_states()
        self.param_names = [name for name in arg_names if name in param_names]
        self.param_idx = [arg_names.index(name) for name in self.param_names]
        self.slices = slices
        bases = [None] * len(ctx) if shared_group is None else shared_group.train_execs
        self.train_execs = [
            _bound(sym, context, part, train_data, base)
            for context, part, base in zip(ctx, slices, bases, strict=True)
        ]
        self.data_arrays = self._parts(self.data_names)
        self.label_arrays = self._parts(self.label_names)
        self.param_arrays = columns(self.train_execs, "arg_dict", self.param_names)
        self.grad_arrays = columns(self.train_execs, "grad_dict", self.param_names)
        self.aux_arrays = columns(self.train_execs, "aux_dict", self.aux_names)

    def _parts(self, names):
        return [
            list(zip(self.slices, arrays, strict=True))
            for arrays in columns(self.train_execs, "arg_dict", names)
        ]

    def load_data_batch(self, data_batch):
        """Copy a batch to the devices."""
        _load_data(data_batch, self.data_arrays)
        _load_label(data_batch, self.label_arrays)

    def forward(self, is_train=False):
        """Compute outputs on each device."""
        for executor in self.train_execs:
            executor.forward(is_train=is_train)

    def backward(self):
        """Compute gradients on each device."""
        for executor in self.train_execs:
            executor.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Update a metric with the outputs.

        Parameters
        ----------
        metric : EvalMetric
        labels : list of NDArray, or a list of them per device
        pre_sliced : bool
            Whether `labels` has a list per device.
        """
        for number, (executor, part) in enumerate(zip(self.train_execs, self.slices, strict=True)):
            own = labels[number] if pre_sliced else [label[part] for label in labels]
            metric.update(own, executor.outputs)


class DataParallelExecutorManager:
    """Executors on several devices, for one symbol or one per bucket.

    Parameters
    ----------
    symbol : Symbol
    ctx : list of Context
    train_data : DataIter
    arg_names, param_names, aux_names : list of str
        All arguments, the trained ones, and the auxiliary states.
    work_load_list : list of number, optional
        Relative size of each device's slice of a batch, by default equal.
    logger : Logger, optional
    sym_gen : callable, optional
        Makes the symbol of a bucket from its key.
    """

    def __init__(
        self,
        symbol,
        ctx,
        train_data,
        arg_names,
        param_names,
        aux_names,
        work_load_list=None,
        logger=None,
        sym_gen=None,
    ):
        (logger or logging).info("Start training with %s", ctx)
        work_load_list = work_load_list or [1] * len(ctx)
        if len(work_load_list) != len(ctx):
            raise MXNetError(f"{len(work_load_list)} work loads were given for {len(ctx)} contexts")
        self.slices = _split_input_slice(train_data.batch_size, work_load_list)
        self.arg_names, self.param_names, self.aux_names = arg_names, param_names, aux_names
        self.ctx, self.symbol, self.sym_gen = ctx, symbol, sym_gen
        self.execgrp = self.curr_execgrp = self._group(symbol, train_data)
        if sym_gen is not None:
            self.execgrp_bucket = {train_data.default_bucket_key: self.execgrp}

    def _group(self, symbol, data, shared=None):
        return DataParallelExecutorGroup(
            symbol, self.arg_names, self.param_names, self.ctx, self.slices, data, shared
        )

    def install_monitor(self, monitor):
        """Install a monitor on all executors.

        Parameters
        ----------
        monitor : Monitor
        """
        for executor in self.execgrp.train_execs:
            monitor.install(executor)

    def set_params(self, arg_params, aux_params):
        """Copy parameters and auxiliary states, dicts of arrays, to all devices."""
        for executor in self.execgrp.train_execs:
            executor.copy_params_from(arg_params, aux_params)

    def copy_to(self, arg_params, aux_params):
        """Write the means over all devices to the arrays of two dicts."""
        for names, rows, targets in (
            (self.execgrp.param_names, self.param_arrays, arg_params),
            (self.execgrp.aux_names, self.aux_arrays, aux_params),
        ):
            for name, row in zip(names, rows, strict=True):
                mean = sum(array.copyto(cpu()) for array in row) / len(row)
                mean.astype(targets[name].dtype).copyto(targets[name])

    @property
    def param_arrays(self):
        """list of list of NDArray: each parameter on each device."""
        return self.execgrp.param_arrays

    @property
    def grad_arrays(self):
        """list of list of NDArray: each gradient on each device."""
        return self.execgrp.grad_arrays

    @property
    def aux_arrays(self):
        """list of list of NDArray: each auxiliary state on each device."""
        return self.execgrp.aux_arrays

    def load_data_batch(self, data_batch):
        """Copy a batch to the devices and switch to the executors of its bucket."""
        if self.sym_gen is not None:
            key = data_batch.bucket_key
            if key not in self.execgrp_bucket:
                group = self._group(self.sym_gen(key), data_batch, self.execgrp)
                self.execgrp_bucket[key] = group
            self.curr_execgrp = self.execgrp_bucket[key]
        self.curr_execgrp.load_data_batch(data_batch)

    def forward(self, is_train=False):
        """Compute outputs of the current batch."""
        self.curr_execgrp.forward(is_train=is_train)

    def backward(self):
        """Compute gradients of the current batch."""
        self.curr_execgrp.backward()

    def update_metric(self, metric, labels, pre_sliced=False):
        """Update a metric with the outputs; see `DataParallelExecutorGroup`."""
        self.curr_execgrp.update_metric(metric, labels, pre_sliced)
