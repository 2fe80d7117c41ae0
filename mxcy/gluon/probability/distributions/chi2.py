"""The chi-square distribution."""

from mxcy.gluon.probability.distributions.constraint import Positive
from mxcy.gluon.probability.distributions.gamma import Gamma

__all__ = ["Chi2"]


class Chi2(Gamma):
    """The chi-square distribution: sum of `df` squared standard normal variables.

    Parameters
    ----------
    df : float or ndarray
        The degrees of freedom.
    validate_args : bool, optional
        Check parameters and values.
    """

    df = None  # set on instances
    scale = 2.0
    arg_constraints = {"df": Positive()}
    _parameters = {"df": 0}

    def __init__(self, df, validate_args=None):
        self._take(df=df)
        super(Gamma, self).__init__(event_dim=0, validate_args=validate_args)

    @property
    def shape(self):
        """Shape of the equivalent gamma distribution."""
        return self.df / 2
