"""The forward and backward computation of an estimator on a batch."""

from mxcy import autograd
from mxcy.gluon.utils import split_and_load

__all__ = ["BatchProcessor"]


class BatchProcessor:
    """Computes losses and gradients of a batch; subclasses can override it.

    The first two entries of a batch are the data and the labels.
    """

    def _get_data_and_label(self, batch, ctx, batch_axis=0):
        """Split data and labels into lists with one array per context."""
        data, label = batch[0], batch[1]
        return (
            split_and_load(data, ctx_list=ctx, batch_axis=batch_axis),
            split_and_load(label, ctx_list=ctx, batch_axis=batch_axis),
        )

    def evaluate_batch(self, estimator, val_batch, batch_axis=0):
        """Compute the loss of a batch with the validation network.

        Parameters
        ----------
        estimator : Estimator
            The estimator, which provides network and loss.
        val_batch : sequence of NDArray
            The batch.
        batch_axis : int
            Axis along which the batch is split over contexts.

        Returns
        -------
        data, label, pred, loss : list of NDArray
            One array per context.
        """
        data, label = self._get_data_and_label(val_batch, estimator.context, batch_axis)
        pred = [estimator.val_net(x) for x in data]
        loss = [estimator.val_loss(p, y) for p, y in zip(pred, label, strict=True)]
        return data, label, pred, loss

    def fit_batch(self, estimator, train_batch, batch_axis=0):
        """Compute the loss of a batch, and the gradients.

        Parameters
        ----------
        estimator : Estimator
            The estimator, which provides network and loss.
        train_batch : sequence of NDArray
            The batch.
        batch_axis : int
            Axis along which the batch is split over contexts.

        Returns
        -------
        data, label, pred, loss : list of NDArray
            One array per context.
        """
        data, label = self._get_data_and_label(train_batch, estimator.context, batch_axis)
        with autograd.record():
            pred = [estimator.net(x) for x in data]
            loss = [estimator.loss(p, y) for p, y in zip(pred, label, strict=True)]
        autograd.backward(loss)
        return data, label, pred, loss
