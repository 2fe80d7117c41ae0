"""Dynamic loss scaling, which prevents underflow of 16-bit gradients."""

import logging

from mxcy.ndarray.register import F

__all__ = ["LossScaler"]

_CHUNK = 200  # gradients checked per operator call
_LOWEST = 2.0**-14


class LossScaler:
    """Loss scale that is halved when gradients overflow, and doubled after a time without.

    Attributes
    ----------
    loss_scale : float
        Loss scale of the current step.
    """

    def __init__(self):
        self._loss_scale = self._next_loss_scale = 2.0**16
        self._max_loss_scale = 2.0**24
        self._scale_seq_len = 2000  # steps without overflow before the scale is doubled
        self._unskipped = 0
        self._has_warned = False

    @property
    def loss_scale(self):
        """float: loss scale of the current step."""
        return self._loss_scale

    def has_overflow(self, params):
        """Return whether a gradient is inf or nan, and update the scale for the next step.

        Parameters
        ----------
        params : list of Parameter
            Parameters; with several devices only the first one's gradients are checked.

        Returns
        -------
        bool
        """
        self._loss_scale = self._next_loss_scale
        gradients = [p.list_grad()[0] for p in params if p.grad_req != "null"]
        gradients = [g if g.stype == "default" else g.data for g in gradients]
        gradients = [g.as_nd_ndarray() for g in gradients if g.size]
        overflow = not all(
            F.multi_all_finite(*part, num_arrays=len(part)).asscalar()
            for part in (gradients[i : i + _CHUNK] for i in range(0, len(gradients), _CHUNK))
        )
        if overflow:
            self._next_loss_scale = max(_LOWEST, self._loss_scale / 2)
            self._unskipped = 0
            logging.info("AMP: decreasing loss scale to %f", self._next_loss_scale)
            if self._next_loss_scale < 1 and not self._has_warned:
                self._has_warned = True
                logging.warning(
                    "AMP: the loss scale has fallen below 1; gradients overflow without it too"
                )
            return True
        self._unskipped += 1
        if self._unskipped == self._scale_seq_len:
            self._unskipped = 0
            self._next_loss_scale = min(self._max_loss_scale, self._loss_scale * 2)
            logging.info("AMP: increasing loss scale to %f", self._next_loss_scale)
        return False
