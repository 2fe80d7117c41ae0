"""The events of training, and what a handler of each defines."""

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
    """Base of all handlers.

    The estimator calls handlers in ascending order of their attribute `priority`, 0 by default.
    """


class TrainBegin(EventHandler):
    """A handler that is called before training begins."""

    def train_begin(self, estimator, *args, **kwargs):
        """Do something before training begins.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.
        """


class TrainEnd(EventHandler):
    """A handler that is called after training has ended."""

    def train_end(self, estimator, *args, **kwargs):
        """Do something after training has ended.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.
        """


class EpochBegin(EventHandler):
    """A handler that is called before each epoch."""

    def epoch_begin(self, estimator, *args, **kwargs):
        """Do something before an epoch.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.
        """


class EpochEnd(EventHandler):
    """A handler that is called after each epoch."""

    def epoch_end(self, estimator, *args, **kwargs):
        """Do something after an epoch.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.

        Returns
        -------
        bool
            Whether training ends here.
        """
        return False


class BatchBegin(EventHandler):
    """A handler that is called before each batch."""

    def batch_begin(self, estimator, *args, **kwargs):
        """Do something before a batch.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.
        **kwargs
            ``batch``: what the loader gave.
        """


class BatchEnd(EventHandler):
    """A handler that is called after each batch."""

    def batch_end(self, estimator, *args, **kwargs):
        """Do something after a batch.

        Parameters
        ----------
        estimator : Estimator
            Whose training it is.
        **kwargs
            ``batch``: what the loader gave; ``label``, ``pred`` and ``loss``: lists of arrays,
            one for each context.

        Returns
        -------
        bool
            Whether training ends here.
        """
        return False
