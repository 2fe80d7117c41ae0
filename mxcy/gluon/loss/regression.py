"""Regression losses."""

from mxcy.gluon.loss.base import Loss

__all__ = ["L2Loss", "L1Loss", "HuberLoss"]


class L2Loss(Loss):
    """Half the squared error.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, weight=1.0, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.square(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighted(F, loss, sample_weight, factor=0.5))


class L1Loss(Loss):
    """The absolute error.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,).

    Parameters
    ----------
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        loss = F.abs(F.reshape_like(label, pred) - pred)
        return self._mean(F, self._weighted(F, loss, sample_weight))


class HuberLoss(Loss):
    """Squared for small errors, absolute for large ones.

    Inputs are `pred` and `label` of one shape, and optionally `sample_weight`. The output has
    shape (batch size,).

    Parameters
    ----------
    rho : float
        Error at which the two meet.
    weight, batch_axis, **kwargs
        See `Loss`.
    """

    def __init__(self, rho=1, weight=None, batch_axis=0, **kwargs):
        super().__init__(weight, batch_axis, **kwargs)
        self._rho = rho

    def hybrid_forward(self, F, pred, label, sample_weight=None):
        distance = F.abs(F.reshape_like(label, pred) - pred)
        loss = F.where(
            distance > self._rho, distance - 0.5 * self._rho, (0.5 / self._rho) * F.square(distance)
        )
        return self._mean(F, self._weighted(F, loss, sample_weight))
