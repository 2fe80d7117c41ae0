"""MXNet's legacy training interface: a `Module` that accepts arrays as data."""

import logging
import warnings

import numpy as np

from mxcy import metric as metrics
from mxcy import ndarray as nd
from mxcy._files.checkpoint import load_checkpoint, save_checkpoint
from mxcy.callback import LogValidationMetricsCallback
from mxcy.context import as_contexts, cpu
from mxcy.initializer import InitDesc, Uniform
from mxcy.io import DataDesc, DataIter, NDArrayIter, ResizeIter
from mxcy.module import BucketingModule, Module
from mxcy.ndarray import NDArray

__all__ = ["FeedForward"]


class FeedForward:
    """A network with its parameters; deprecated in favour of `Module`.

    Parameters
    ----------
    symbol : Symbol, or callable
        The network, or a function from bucket keys to networks.
    ctx : Context, str or list of these, optional
        The devices; the current one by default.
    num_epoch : int, optional
        End of the range of epochs (exclusive).
    epoch_size : int, optional
        Batches per epoch; all of the data by default.
    optimizer : str or Optimizer
        The optimizer.
    initializer : Initializer
        Initializer of parameters that are not given.
    numpy_batch_size : int
        Batch size if data are given as arrays.
    arg_params, aux_params : dict of str to NDArray, optional
        Parameters and auxiliary states.
    allow_extra_params : bool
        Ignore parameters that the symbol lacks.
    begin_epoch : int
        The first epoch.
    **kwargs
        Arguments of the optimizer.
    """

    def __init__(
        self,
        symbol,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer=Uniform(0.01),  # noqa: B008
        numpy_batch_size=128,
        arg_params=None,
        aux_params=None,
        allow_extra_params=False,
        begin_epoch=0,
        **kwargs,
    ):
        warnings.warn(
            "mx.model.FeedForward has been deprecated. Please use mxcy.mod.Module instead.",
            DeprecationWarning,
            stacklevel=2,
        )
        self.sym_gen = symbol if callable(symbol) and not hasattr(symbol, "list_outputs") else None
        self.symbol = None if self.sym_gen else symbol
        self.ctx = as_contexts(ctx)
        self.num_epoch = num_epoch
        self.epoch_size = epoch_size
        self.optimizer = optimizer
        self.initializer = initializer
        self.numpy_batch_size = numpy_batch_size
        self.arg_params, self.aux_params = arg_params, aux_params
        self.allow_extra_params = allow_extra_params
        self.begin_epoch = begin_epoch
        self.kwargs = dict(kwargs)
        self._predictor = None
        if self.symbol is not None:
            self._drop_extra_params()

    def __getstate__(self):
        return {**self.__dict__, "_predictor": None}

    def __setstate__(self, state):
        self.__dict__.update(state)

    def _drop_extra_params(self):
        if not self.allow_extra_params:
            return
        for kind, names in (
            ("arg_params", self.symbol.list_arguments()),
            ("aux_params", self.symbol.list_auxiliary_states()),
        ):
            params = getattr(self, kind)
            if params:
                setattr(self, kind, {n: array for n, array in params.items() if n in names})

    # -- data -------------------------------------------------------------------------------------

    def _iterator(self, data, label, for_training):
        """Wrap the user's data in an iterator."""
        if isinstance(data, DataIter):
            return data
        if not isinstance(data, np.ndarray | NDArray):
            raise TypeError("X must be DataIter, NDArray or numpy.ndarray")
        if label is None:
            if for_training:
                raise ValueError("y must be specified when X is numpy.ndarray")
            label = np.zeros(data.shape[0])
        if not isinstance(label, np.ndarray | NDArray):
            raise TypeError("y must be ndarray when X is numpy.ndarray")
        if data.shape[0] != label.shape[0]:
            raise ValueError("The numbers of data points and labels not equal")
        if label.ndim == 2 and label.shape[1] == 1:
            label = label.reshape((-1,))
        if label.ndim != 1:
            raise ValueError("Label must be 1D or 2D (with 2nd dimension being 1)")
        return NDArrayIter(
            data,
            label,
            min(data.shape[0], self.numpy_batch_size),
            shuffle=for_training,
            last_batch_handle="roll_over" if for_training else "pad",
        )

    def _evaluation_iterator(self, eval_data):
        if eval_data is None or isinstance(eval_data, DataIter):
            return eval_data
        if not isinstance(eval_data, list | tuple) or len(eval_data) != 2:
            raise TypeError(
                "Eval data must be DataIter, or NDArray/numpy.ndarray/list pair "
                "(i.e. tuple/list of length 2)"
            )
        data, label = eval_data
        if data is None:
            raise ValueError("Eval data is NONE")
        data, label = (np.array(part) if isinstance(part, list) else part for part in (data, label))
        return self._iterator(data, label, for_training=label is not None)

    # -- training ---------------------------------------------------------------------------------

    def fit(
        self,
        X,
        y=None,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        monitor=None,
        eval_end_callback=LogValidationMetricsCallback(),  # noqa: B008
        eval_batch_end_callback=None,
    ):
        """Train the network.

        Parameters
        ----------
        X : DataIter, NDArray or numpy.ndarray
            Training data.
        y : NDArray or numpy.ndarray, optional
            The labels, if `X` is an array.
        eval_data : DataIter or pair of arrays, optional
            Validation data, scored after each epoch.
        eval_metric, epoch_end_callback, batch_end_callback, kvstore, monitor, eval_end_callback, \
eval_batch_end_callback
            See `BaseModule.fit`.
        logger, work_load_list
            See `Module`.
        """
        data = self._iterator(X, y, for_training=True)
        eval_data = self._evaluation_iterator(eval_data)
        if self.sym_gen is not None:
            self.symbol = self.sym_gen(data.default_bucket_key)
            self._drop_extra_params()
        self._init_params([*data.provide_data, *data.provide_label])
        module = self._module(data, logger or logging, work_load_list)
        data.reset()
        if self.epoch_size is not None:
            data = ResizeIter(data, self.epoch_size, reset_internal=False)
        if isinstance(eval_end_callback, LogValidationMetricsCallback):
            eval_end_callback = None  # the module already logs it
        module.fit(
            data,
            eval_data=eval_data,
            eval_metric=metrics.create(eval_metric),
            epoch_end_callback=epoch_end_callback,
            batch_end_callback=batch_end_callback,
            kvstore=kvstore,
            optimizer=self.optimizer,
            optimizer_params=self.kwargs,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
            initializer=None,
            arg_params=self.arg_params,
            aux_params=self.aux_params,
            begin_epoch=self.begin_epoch,
            num_epoch=self.num_epoch,
            monitor=monitor,
        )
        self.arg_params, self.aux_params = module.get_params()
        self._predictor = None

    def _init_params(self, inputs):
        """Initialize the parameters that are not given."""
        inputs = [desc if isinstance(desc, DataDesc) else DataDesc(*desc) for desc in inputs]
        shapes = {desc.name: desc.shape for desc in inputs}
        arg_shapes, _, aux_shapes = self.symbol.infer_shape(**shapes)
        assert arg_shapes is not None, f"parameter shapes cannot be inferred from {shapes}"
        attributes = self.symbol.attr_dict()
        for kind, names, inferred in (
            ("arg_params", self.symbol.list_arguments(), arg_shapes),
            ("aux_params", self.symbol.list_auxiliary_states(), aux_shapes),
        ):
            known, params = getattr(self, kind) or {}, {}
            for name, shape in zip(names, inferred, strict=True):
                if name in shapes:
                    continue
                params[name] = nd.zeros(shape, ctx=cpu())
                if name in known:
                    params[name][:] = known[name]
                else:
                    self.initializer(InitDesc(name, attributes.get(name)), params[name])
            setattr(self, kind, params)

    def _module(self, data, logger, work_load_list):
        names = _names_of(data)
        options = {"logger": logger, "context": self.ctx, "work_load_list": work_load_list}
        if self.sym_gen is None:
            return Module(self.symbol, *names, **options)
        return BucketingModule(
            lambda key: (self.sym_gen(key), *names), data.default_bucket_key, **options
        )

    # -- predicting -------------------------------------------------------------------------------

    def _bound(self, data):
        """A module for prediction on the first device, bound to an iterator's shapes."""
        shapes = {desc[0]: desc[1] for desc in data.provide_data}
        arguments = self.symbol.list_arguments()
        inferred = dict(zip(arguments, self.symbol.infer_shape(**shapes)[0], strict=True))
        labels = [n for n in arguments if n not in shapes and n not in self.arg_params]
        if self._predictor is None or self._predictor.data_names != list(shapes):
            self._predictor = Module(self.symbol, list(shapes), labels, context=self.ctx[0])
        self._predictor.bind(
            data.provide_data,
            [(name, inferred[name]) for name in labels],
            for_training=False,
            force_rebind=True,
        )
        self._predictor.set_params(self.arg_params, self.aux_params or {})
        return self._predictor

    def predict(self, X, num_batch=None, return_data=False, reset=True):
        """Predict for all the data.

        Parameters
        ----------
        X : DataIter, NDArray or numpy.ndarray
            The data.
        num_batch : int, optional
            Number of batches; all by default.
        return_data : bool
            Also return data and labels.
        reset : bool
            Reset `X` first.

        Returns
        -------
        numpy.ndarray or list of numpy.ndarray, or a tuple of three of them
            The outputs; with `return_data` also data and labels.
        """
        if self.arg_params is None:
            raise ValueError("FeedForward has no parameters yet: call fit, or pass arg_params")
        data = self._iterator(X, None, for_training=False)
        rows = []
        for outputs, _, batch in self._bound(data).iter_predict(data, num_batch, reset):
            end = outputs[0].shape[0]
            kinds = (outputs, batch.data, batch.label) if return_data else (outputs,)
            rows.append([[array[:end].asnumpy() for array in arrays] for arrays in kinds])
        joined = []
        for arrays in zip(*rows, strict=True):
            whole = [np.concatenate(parts) for parts in zip(*arrays, strict=True)]
            joined.append(whole[0] if len(whole) == 1 else whole)
        return tuple(joined) if return_data else joined[0]

    def score(self, X, eval_metric="acc", num_batch=None, batch_end_callback=None, reset=True):
        """Evaluate a metric on data.

        Parameters
        ----------
        X : DataIter
            The data.
        eval_metric : EvalMetric or anything that `mx.metric.create` takes
            The metric.
        num_batch : int, optional
            Number of batches; all by default.
        batch_end_callback : callable or list of callable, optional
            Called with a `BatchEndParam` after each batch.
        reset : bool
            Reset `X` first.

        Returns
        -------
        float or list of float
        """
        if self.arg_params is None:
            raise ValueError("FeedForward has no parameters yet: call fit, or pass arg_params")
        data = self._iterator(X, None, for_training=False)
        names = [
            [desc[0] for desc in descriptions]
            for descriptions in (data.provide_data, data.provide_label)
        ]
        module = Module(self.symbol, *names, context=self.ctx[0])
        module.bind(data.provide_data, data.provide_label, for_training=False)
        module.set_params(self.arg_params, self.aux_params or {})
        eval_metric = metrics.create(eval_metric)
        module.score(data, eval_metric, num_batch, batch_end_callback, reset=reset)
        return eval_metric.get()[1]

    # -- files ------------------------------------------------------------------------------------

    def save(self, prefix, epoch=None, remove_amp_cast=True):
        """Write a checkpoint, see `mx.model.save_checkpoint`.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int, optional
            Epoch number in the file name, `num_epoch` by default.
        remove_amp_cast : bool
            Remove casts inserted by automatic mixed precision.
        """
        epoch = self.num_epoch if epoch is None else epoch
        assert epoch is not None, "epoch must be given, because num_epoch is not set"
        save_checkpoint(
            prefix, epoch, self.symbol, self.arg_params, self.aux_params, remove_amp_cast
        )

    @staticmethod
    def load(prefix, epoch, ctx=None, **kwargs):
        """Read a checkpoint.

        Parameters
        ----------
        prefix : str
            Prefix of the file names.
        epoch : int
            Epoch number in the file name, from which training resumes.
        ctx, **kwargs
            Arguments of `FeedForward`.

        Returns
        -------
        FeedForward
        """
        symbol, arg_params, aux_params = load_checkpoint(prefix, epoch)
        return FeedForward(
            symbol, ctx, arg_params=arg_params, aux_params=aux_params, begin_epoch=epoch, **kwargs
        )

    @staticmethod
    def create(
        symbol,
        X,
        y=None,
        ctx=None,
        num_epoch=None,
        epoch_size=None,
        optimizer="sgd",
        initializer=Uniform(0.01),  # noqa: B008
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        logger=None,
        work_load_list=None,
        eval_end_callback=LogValidationMetricsCallback(),  # noqa: B008
        eval_batch_end_callback=None,
        **kwargs,
    ):
        """Create a network and train it.

        Parameters
        ----------
        symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs
            Arguments of `FeedForward`.
        X, y, eval_data, eval_metric, epoch_end_callback, batch_end_callback, kvstore, logger, \
work_load_list, eval_end_callback, eval_batch_end_callback
            Arguments of `fit`.

        Returns
        -------
        FeedForward
        """
        model = FeedForward(symbol, ctx, num_epoch, epoch_size, optimizer, initializer, **kwargs)
        model.fit(
            X,
            y,
            eval_data,
            eval_metric,
            epoch_end_callback,
            batch_end_callback,
            kvstore,
            logger,
            work_load_list,
            eval_end_callback=eval_end_callback,
            eval_batch_end_callback=eval_batch_end_callback,
        )
        return model


def _names_of(data):
    """The names of an iterator's inputs, and of its labels."""
    return [
        [desc[0] for desc in descriptions]
        for descriptions in (data.provide_data, data.provide_label)
    ]
