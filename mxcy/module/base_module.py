"""Base class of modules: training, scoring and prediction over iterators."""

import time

import numpy as np

from mxcy import metric as metrics
from mxcy import ndarray as nd
from mxcy._files.checkpoint import join_params, split_params
from mxcy._library.tracebacks import with_short_tracebacks
from mxcy.callback import BatchEndParam
from mxcy.initializer import Uniform
from mxcy.io import DataBatch, DataIter
from mxcy.io.iterator import check_iterator
from mxcy.module.descriptions import as_list
from mxcy.module.descriptions import as_list as _as_list  # noqa: F401  modules of users' own
from mxcy.module.descriptions import check_names_in_symbol as _check_input_names  # noqa: F401
from mxcy.module.descriptions import describe_batch as _parse_data_desc  # noqa: F401
from mxcy.module.interface import ModuleInterface
from mxcy.ndarray import NDArray

__all__ = ["BaseModule"]


def _call_all(callbacks, *arguments):
    for callback in as_list(callbacks) if callbacks is not None else ():
        callback(*arguments)


def _labels_of(batch):
    """Labels of a batch or of a list of batches per device, and whether it is such a list."""
    if isinstance(batch, list):
        return [each.label for each in batch], True
    return batch.label, False


class BaseModule(ModuleInterface):
    """Base class of modules, which train, score and predict over iterators.

    Parameters
    ----------
    logger : Logger
        Destination of messages.
    """

    # -- over iterators ---------------------------------------------------------------------------

    def forward_backward(self, data_batch):
        """Run `forward` in training mode, then `backward`.

        Parameters
        ----------
        data_batch : DataBatch
            The batch.
        """
        self.forward(data_batch, is_train=True)
        self.backward()

    @with_short_tracebacks
    def score(
        self,
        eval_data,
        eval_metric,
        num_batch=None,
        batch_end_callback=None,
        score_end_callback=None,
        reset=True,
        epoch=0,
        sparse_row_id_fn=None,
    ):
        """Evaluate a metric on data.

        Parameters
        ----------
        eval_data : DataIter
            The data.
        eval_metric : EvalMetric or anything that `mx.metric.create` takes
            The metric.
        num_batch : int, optional
            Number of batches; all by default.
        batch_end_callback, score_end_callback : callable or list of callable, optional
            Called with a `BatchEndParam` after each batch and at the end.
        reset : bool
            Reset `eval_data` first.
        epoch : int
            Epoch number passed to callbacks.
        sparse_row_id_fn : callable, optional
            See `prepare`.

        Returns
        -------
        list of (str, float)
            The metric's results.
        """
        self._assert_ready()
        if reset:
            eval_data.reset()
        eval_metric = metrics.create(eval_metric)
        eval_metric.reset()
        done = 0
        for nbatch, eval_batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(eval_batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(eval_batch, is_train=False)
            labels, pre_sliced = _labels_of(eval_batch)
            self.update_metric(eval_metric, labels, pre_sliced=pre_sliced)
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            done += 1
        _call_all(score_end_callback, BatchEndParam(epoch, done, eval_metric, locals()))
        return eval_metric.get_global_name_value()

    def iter_predict(self, eval_data, num_batch=None, reset=True, sparse_row_id_fn=None):
        """Predict batch by batch.

        Parameters
        ----------
        eval_data : DataIter
            The data.
        num_batch : int, optional
            Number of batches; all by default.
        reset : bool
            Reset `eval_data` first.
        sparse_row_id_fn : callable, optional
            See `prepare`.

        Yields
        ------
        outputs : list of NDArray
            Outputs without the padding of the batch.
        nbatch : int
            Index of the batch.
        batch : DataBatch
            The batch.
        """
        self._assert_ready()
        if reset:
            eval_data.reset()
        for nbatch, batch in enumerate(eval_data):
            if nbatch == num_batch:
                break
            self.prepare(batch, sparse_row_id_fn=sparse_row_id_fn)
            self.forward(batch, is_train=False)
            pad = batch.pad or 0
            yield [out[: out.shape[0] - pad] for out in self.get_outputs()], nbatch, batch

    @with_short_tracebacks
    def predict(
        self,
        eval_data,
        num_batch=None,
        merge_batches=True,
        reset=True,
        always_output_list=False,
        sparse_row_id_fn=None,
    ):
        """Predict for all the data.

        Parameters
        ----------
        eval_data : DataIter, NDArray or numpy.ndarray
            The data; an array is one batch.
        num_batch : int, optional
            Number of batches; all by default.
        merge_batches : bool
            Concatenate the outputs of all batches.
        reset : bool
            Reset `eval_data` first.
        always_output_list : bool
            Return a list even if the network has one output.
        sparse_row_id_fn : callable, optional
            See `prepare`.

        Returns
        -------
        NDArray or list of NDArray, or list of list of NDArray
            The outputs, or without `merge_batches` a list of them per batch.

        Raises
        ------
        ValueError
            If `eval_data` has another type.
        AssertionError
            If batches to merge differ in the number of outputs.
        """
        self._assert_ready()
        if isinstance(eval_data, NDArray | np.ndarray):
            if isinstance(eval_data, np.ndarray):
                eval_data = nd.array(eval_data)
            self.forward(DataBatch([eval_data]), is_train=False)
            return self.get_outputs()[0]
        if not isinstance(eval_data, DataIter):
            raise ValueError("eval_data must be of type NDArray or DataIter")
        batches = [
            [out.copy() for out in outputs]
            for outputs, _, _ in self.iter_predict(eval_data, num_batch, reset, sparse_row_id_fn)
        ]
        if not batches or not merge_batches:
            return batches
        assert len({len(outputs) for outputs in batches}) == 1, (
            "Cannot merge batches, as num of outputs is not the same in mini-batches. "
            "Maybe bucketing is used?"
        )
        merged = [nd.concat(*column, dim=0) for column in zip(*batches, strict=True)]
        return merged[0] if len(merged) == 1 and not always_output_list else merged

    @with_short_tracebacks
    def fit(
        self,
        train_data,
        eval_data=None,
        eval_metric="acc",
        epoch_end_callback=None,
        batch_end_callback=None,
        kvstore="local",
        optimizer="sgd",
        optimizer_params=(("learning_rate", 0.01),),
        eval_end_callback=None,
        eval_batch_end_callback=None,
        initializer=Uniform(0.01),  # noqa: B008
        arg_params=None,
        aux_params=None,
        allow_missing=False,
        force_rebind=False,
        force_init=False,
        begin_epoch=0,
        num_epoch=None,
        validation_metric=None,
        monitor=None,
        sparse_row_id_fn=None,
    ):
        """Train, after binding and initializing parameters and optimizer as needed.

        Parameters
        ----------
        train_data : DataIter
            Training data.
        eval_data : DataIter, optional
            Validation data, scored after each epoch.
        eval_metric, validation_metric : EvalMetric or anything that `mx.metric.create` takes
            Metrics of training and of validation; the latter defaults to the former.
        epoch_end_callback : callable or list of callable, optional
            Called with ``(epoch, symbol, arg_params, aux_params)``.
        batch_end_callback : callable or list of callable, optional
            Called with a `BatchEndParam`.
        kvstore, optimizer, optimizer_params
            See `init_optimizer`.
        eval_end_callback, eval_batch_end_callback : callable or list of callable, optional
            See `score`.
        initializer, arg_params, aux_params, allow_missing, force_init
            See `init_params`.
        force_rebind
            See `bind`.
        begin_epoch, num_epoch : int
            The first epoch, and the end of the range (exclusive).
        monitor : Monitor, optional
            Monitor of the network's arrays.
        sparse_row_id_fn : callable, optional
            See `prepare`.

        Raises
        ------
        AssertionError
            If `num_epoch` is not given.
        """
        assert num_epoch is not None, "please specify number of epochs"
        check_iterator("fit: train_data", train_data)
        self.bind(
            data_shapes=train_data.provide_data,
            label_shapes=train_data.provide_label,
            for_training=True,
            force_rebind=force_rebind,
        )
        if monitor is not None:
            self.install_monitor(monitor)
        self.init_params(initializer, arg_params, aux_params, allow_missing, force_init)
        self.init_optimizer(kvstore, optimizer, optimizer_params)
        if validation_metric is None:
            validation_metric = eval_metric
        eval_metric = metrics.create(eval_metric)

        for epoch in range(begin_epoch, num_epoch):
            begin = time.time()
            results = self._train_epoch(
                train_data, eval_metric, epoch, batch_end_callback, monitor, sparse_row_id_fn
            )
            for name, value in results:
                self.logger.info("Epoch[%d] Train-%s=%f", epoch, name, value)
            self.logger.info("Epoch[%d] Time cost=%.3f", epoch, time.time() - begin)

            arg_params, aux_params = self.get_params()
            self.set_params(arg_params, aux_params)  # all devices continue with their mean
            _call_all(epoch_end_callback, epoch, self.symbol, arg_params, aux_params)
            if eval_data:
                results = self.score(
                    eval_data,
                    validation_metric,
                    score_end_callback=eval_end_callback,
                    batch_end_callback=eval_batch_end_callback,
                    epoch=epoch,
                )
                for name, value in results:
                    self.logger.info("Epoch[%d] Validation-%s=%f", epoch, name, value)
            train_data.reset()

    def _train_epoch(
        self, train_data, eval_metric, epoch, batch_end_callback, monitor, sparse_row_id_fn
    ):
        """Train one epoch; return the metric's values before the last callbacks may reset it."""
        eval_metric.reset()
        results = []
        batches = iter(train_data)
        upcoming = next(batches, None)
        nbatch = 0
        while upcoming is not None:
            data_batch = upcoming
            if monitor is not None:
                monitor.tic()
            self.forward_backward(data_batch)
            self.update()
            labels, pre_sliced = _labels_of(data_batch)
            self.update_metric(eval_metric, labels, pre_sliced=pre_sliced)
            upcoming = next(batches, None)
            if upcoming is not None:
                self.prepare(upcoming, sparse_row_id_fn=sparse_row_id_fn)
            else:
                results = eval_metric.get_global_name_value()
            if monitor is not None:
                monitor.toc_print()
            _call_all(batch_end_callback, BatchEndParam(epoch, nbatch, eval_metric, locals()))
            nbatch += 1
        return results

    # -- parameters -------------------------------------------------------------------------------

    def set_params(
        self, arg_params, aux_params, allow_missing=False, force_init=True, allow_extra=False
    ):
        """Set parameters and auxiliary states.

        Parameters
        ----------
        arg_params, aux_params : dict of str to NDArray
            The values.
        allow_missing : bool
            Keep parameters without a value here.
        force_init : bool
            Set them even if they are initialized.
        allow_extra : bool
            Ignore values with unknown names.
        """
        self.init_params(
            initializer=None,
            arg_params=arg_params,
            aux_params=aux_params,
            allow_missing=allow_missing,
            force_init=force_init,
            allow_extra=allow_extra,
        )

    def save_params(self, fname):
        """Write parameters and auxiliary states to a file.

        Parameters
        ----------
        fname : str
            The file.
        """
        nd.save(fname, join_params(*self.get_params()))

    def load_params(self, fname):
        """Read parameters and auxiliary states from a file that `save_params` wrote.

        Parameters
        ----------
        fname : str
            The file.

        Raises
        ------
        ValueError
            If the file contains anything else.
        """
        self.set_params(*split_params(nd.load(fname), fname))
