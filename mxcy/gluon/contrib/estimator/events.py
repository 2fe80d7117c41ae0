"""Base classes of event handlers, one per event of training."""

__all__ = [
    "BatchBegin",
    "BatchEnd",
    "EpochBegin",
    "EpochEnd",
    "EventHandler",
    "TrainBegin",
    "TrainEnd",
]


class EventHandler:
    """Base class of handlers.

    The estimator calls handlers in ascending order of their attribute `priority`, 0 by default.
    """


class TrainBegin(EventHandler):
    """A handler that is called before training begins."""

    def train_begin(self, estimator, *args, **kwargs):
        """Do something before training begins.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.
        """


class TrainEnd(EventHandler):
    """A handler that is called after training has ended."""

    def train_end(self, estimator, *args, **kwargs):
        """Do something after training has ended.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.
        """


class EpochBegin(EventHandler):
    """A handler that is called before each epoch."""

    def epoch_begin(self, estimator, *args, **kwargs):
        """Do something before an epoch.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.
        """


class EpochEnd(EventHandler):
    """A handler that is called after each epoch."""

    def epoch_end(self, estimator, *args, **kwargs):
        """Do something after an epoch.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.

        Returns
        -------
        bool
            Whether to stop training.
        """
        return False


class BatchBegin(EventHandler):
    """A handler that is called before each batch."""

    def batch_begin(self, estimator, *args, **kwargs):
        """Do something before a batch.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.
        **kwargs
            ``batch``: the loader's batch.
        """


class BatchEnd(EventHandler):
    """A handler that is called after each batch."""

    def batch_end(self, estimator, *args, **kwargs):
        """Do something after a batch.

        Parameters
        ----------
        estimator : Estimator
            The running estimator.
        **kwargs
            ``batch``: the loader's batch; ``label``, ``pred`` and ``loss``: lists with one
            array per context.

        Returns
        -------
        bool
            Whether to stop training.
        """
        return False
