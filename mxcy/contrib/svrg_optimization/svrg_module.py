"""A module trained with stochastic variance-reduced gradients (Johnson and Zhang, 2013)."""

import logging

from mxcy.context import cpu
from mxcy.module import Module

__all__ = ["SVRGModule"]


class SVRGModule(Module):
    """A `Module` whose gradients are corrected by those of snapshot weights.

    Every `update_freq` epochs the weights are saved, with their mean gradients over all data. From
    each batch's gradients, those of the snapshot on the same batch are subtracted, and the mean
    gradients are added.

    Parameters
    ----------
    symbol, data_names, label_names, logger, context, work_load_list, fixed_param_names, \
    state_names, group2ctxs, compression_params
        See `Module`.
    update_freq : int
        Number of epochs between snapshots.

    Raises
    ------
    TypeError
        If `update_freq` is not an int.
    ValueError
        If it is not positive.
    """

    def __init__(
        self,
        symbol,
        data_names=("data",),
        label_names=("softmax_label",),
        logger=logging,
        context=cpu(),  # noqa: B008
        work_load_list=None,
        fixed_param_names=None,
        state_names=None,
        group2ctxs=None,
        compression_params=None,
        update_freq=None,
    ):
        if not isinstance(update_freq, int):
            raise TypeError(f"SVRGModule: update_freq must be an int, got {update_freq!r}")
        if update_freq <= 0:
            raise ValueError(f"SVRGModule: update_freq must be positive, got {update_freq}")
        settings = (
            symbol,
            data_names,
            label_names,
            logger,
            context,
            work_load_list,
            fixed_param_names,
            state_names,
            group2ctxs,
            compression_params,
        )
        super().__init__(*settings)
        self.update_freq = update_freq
        self._mod_aux = Module(*settings)  # holds the snapshot weights
        self._means = None  # mean gradients over all data, per parameter and device

    def bind(
        self,
        data_shapes,
        label_shapes=None,
        for_training=True,
        inputs_need_grad=False,
        force_rebind=False,
        shared_module=None,
        grad_req="write",
    ):
        settings = (
            data_shapes,
            label_shapes,
            for_training,
            inputs_need_grad,
            force_rebind,
            shared_module,
            grad_req,
        )
        super().bind(*settings)
        if for_training:
            self._mod_aux.bind(*settings)

    def reshape(self, data_shapes, label_shapes=None):
        super().reshape(data_shapes, label_shapes)
        self._mod_aux.reshape(data_shapes, label_shapes)

    def init_optimizer(self, *args, **kwargs):
        super().init_optimizer(*args, **kwargs)
        group = self._exec_group
        self._means = [[0 * array for array in row] for row in group.param_arrays]

    def forward(self, data_batch, is_train=None):
        super().forward(data_batch, is_train)
        if self.for_training if is_train is None else is_train:
            self._mod_aux.forward(data_batch, True)

    def backward(self, out_grads=None):
        super().backward(out_grads)
        if self._mod_aux.binded:
            self._mod_aux.backward(out_grads)

    def prepare(self, data_batch, sparse_row_id_fn=None):
        super().prepare(data_batch, sparse_row_id_fn)
        self._mod_aux.prepare(data_batch, sparse_row_id_fn)

    def update(self):
        """Update the parameters with the corrected gradients."""
        self._assert_ready(optimizer=True)
        for new, old, mean in zip(
            self._exec_group.grad_arrays,
            self._mod_aux._exec_group.grad_arrays,
            self._means,
            strict=True,
        ):
            for gradient, older, all_data in zip(new, old, mean, strict=True):
                if gradient is not None:
                    gradient -= older
                    gradient += all_data
        super().update()

    def update_full_grads(self, train_data):
        """Save the weights, and compute their mean gradients over all data.

        As in MXNet, the previous mean counts as one more batch.

        Parameters
        ----------
        train_data : DataIter
        """
        train_data.reset()
        self._keep_weights(train_data)

    def _keep_weights(self, train_data):
        self._mod_aux.set_params(*self.get_params())
        batches = pad = 0
        for batch in train_data:
            self._mod_aux.forward(batch, is_train=True)
            self._mod_aux.backward()
            for row, gradients in zip(
                self._means, self._mod_aux._exec_group.grad_arrays, strict=True
            ):
                for mean, gradient in zip(row, gradients, strict=True):
                    if gradient is not None:
                        mean += gradient
            batches, pad = batches + 1, batch.pad or 0
        count = batches - pad / train_data.batch_size
        for row in self._means:
            for mean in row:
                mean /= count
            if self._kvstore is not None:  # all devices get the sum
                total = sum((mean.as_in_context(row[0].context) for mean in row[1:]), row[0])
                for mean in row:
                    mean[:] = total / len(row)

    def fit(self, train_data, *args, **kwargs):
        """Train; see `Module.fit`."""
        train_data.reset()
        super().fit(train_data, *args, **kwargs)

    def _train_epoch(self, train_data, eval_metric, epoch, *settings):
        if epoch % self.update_freq == 0:
            self._keep_weights(train_data)
            train_data.reset()
        return super()._train_epoch(train_data, eval_metric, epoch, *settings)
