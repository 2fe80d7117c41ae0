"""Regression metrics."""

import math

import numpy

from mxcy.metric.base import EvalMetric, alias, as_numpy, check_label_shapes, register

__all__ = ["MAE", "MSE", "RMSE", "PearsonCorrelation"]


class _MeanOfBatches(EvalMetric):
    """Base of metrics averaged over each batch and then over batches."""

    def _of_batch(self, difference):
        raise NotImplementedError

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            difference = _as_columns(label) - _as_columns(pred)
            self._add(float(self._of_batch(difference)), 1)


def _as_columns(array):
    array = as_numpy(array)
    return array.reshape(array.shape[0], 1) if array.ndim == 1 else array


@register
class MAE(_MeanOfBatches):
    """Mean absolute error.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="mae", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference):
        return numpy.abs(difference).mean()


@register
class MSE(_MeanOfBatches):
    """Mean squared error.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="mse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference):
        return (difference**2.0).mean()


@register
class RMSE(_MeanOfBatches):
    """Root mean squared error of each batch, averaged over batches.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    """

    def __init__(self, name="rmse", output_names=None, label_names=None):
        super().__init__(name, output_names, label_names, has_global_stats=True)

    def _of_batch(self, difference):
        return numpy.sqrt((difference**2.0).mean())


@alias("pearsonr")
@register
class PearsonCorrelation(EvalMetric):
    """Pearson's correlation of predictions and labels.

    Parameters
    ----------
    name, output_names, label_names
        See `EvalMetric`.
    average : {'macro', 'micro'}
        Average the coefficients of batches, or correlate all samples together.
    """

    def __init__(self, name="pearsonr", output_names=None, label_names=None, average="macro"):
        self.average = average
        super().__init__(name, output_names, label_names, has_global_stats=True)
        self.reset_micro()

    def reset_micro(self):
        """Reset the running moments of ``average='micro'``."""
        self._pred_moments = (0, 0.0, 0.0)
        self._label_moments = (0, 0.0, 0.0)
        self._covariance = 0.0

    def reset(self):
        super().reset()
        self.reset_micro()

    def update_variance(self, new_values, *aggregate):
        """Update running moments with values.

        Parameters
        ----------
        new_values : numpy.ndarray
            The values.
        *aggregate
            Current count, mean and sum of squared deviations.

        Returns
        -------
        tuple
            Updated count, mean and sum of squared deviations.
        """
        count, mean, squares = aggregate
        number = new_values.size
        new_mean = float(new_values.mean())
        total = count + number
        shift = new_mean - mean
        squares += float(((new_values - new_mean) ** 2).sum())
        squares += shift * shift * count * number / total
        return total, mean + shift * number / total, squares

    def update_cov(self, label, pred):
        """Update the running sum of co-deviations; call before `update_variance`.

        Parameters
        ----------
        label, pred : numpy.ndarray
            The values.
        """
        count, pred_mean, _ = self._pred_moments
        _, label_mean, _ = self._label_moments
        number = pred.size
        of_batch = ((label - label.mean()) * (pred - pred.mean())).sum()
        shift = (label.mean() - label_mean) * (pred.mean() - pred_mean)
        self._covariance += float(of_batch + shift * count * number / (count + number))

    def update(self, labels, preds):
        labels, preds = check_label_shapes(labels, preds, wrap=True)
        for label, pred in zip(labels, preds, strict=True):
            check_label_shapes(label, pred, shape=True)
            label = as_numpy(label).ravel().astype(numpy.float64)
            pred = as_numpy(pred).ravel().astype(numpy.float64)
            if self.average == "macro":
                self._add(float(numpy.corrcoef(pred, label)[0, 1]), 1)
                continue
            self.num_inst += 1
            self.global_num_inst += 1
            self.update_cov(label, pred)
            self._label_moments = self.update_variance(label, *self._label_moments)
            self._pred_moments = self.update_variance(pred, *self._pred_moments)

    def get(self):
        if self.average == "macro" or not self.num_inst:
            return super().get()
        return (self.name, self._running_correlation())

    def get_global(self):
        if self.average == "macro" or not self.global_num_inst:
            return super().get_global()
        return (self.name, self._running_correlation())

    def _running_correlation(self):
        spread = math.sqrt(self._label_moments[2] * self._pred_moments[2])
        return self._covariance / spread if spread else float("nan")
