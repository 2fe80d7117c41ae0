"""Activation layers."""

from mxcy import initializer
from mxcy._base.listing import listing
from mxcy.gluon.block import HybridBlock

__all__ = ["Activation", "LeakyReLU", "PReLU", "ELU", "SELU", "GELU", "Swish", "SiLU"]

__dir__ = listing(__name__)


class Activation(HybridBlock):
    """A named activation function.

    Parameters
    ----------
    activation : {'relu', 'sigmoid', 'tanh', 'softrelu', 'softsign', 'log_sigmoid', 'mish'}
        The function.
    **kwargs
        See `Block`.
    """

    def __init__(self, activation, **kwargs):
        self._act_type = activation
        super().__init__(**kwargs)

    def _alias(self):
        return self._act_type

    def hybrid_forward(self, F, x):
        if self._act_type in ("log_sigmoid", "mish"):  # MXNet 2.x only
            return getattr(F, self._act_type)(x, name="fwd")
        return F.Activation(x, act_type=self._act_type, name="fwd")

    def __repr__(self):
        return f"{type(self).__name__}({self._act_type})"


class LeakyReLU(HybridBlock):
    """``x`` where positive, ``alpha * x`` elsewhere.

    Parameters
    ----------
    alpha : float
        Slope for negative inputs, at least 0.
    **kwargs
        See `Block`.
    """

    def __init__(self, alpha, **kwargs):
        assert alpha >= 0, "Slope coefficient for LeakyReLU must be no less than 0."
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="leaky", slope=self._alpha, name="fwd")

    def __repr__(self):
        return f"{type(self).__name__}({self._alpha})"


class PReLU(HybridBlock):
    """``x`` where positive, ``alpha * x`` elsewhere, with learned slopes (He et al., 2015).

    Parameters
    ----------
    alpha_initializer : Initializer
        Initializer of the slopes.
    in_channels : int
        Number of slopes: 1, or one for each channel (axis 1).
    **kwargs
        See `Block`.
    """

    def __init__(
        self,
        alpha_initializer=initializer.Constant(0.25),  # noqa: B008 - never changed
        in_channels=1,
        **kwargs,
    ):
        super().__init__(**kwargs)
        with self.name_scope():
            self.alpha = self.params.get("alpha", shape=(in_channels,), init=alpha_initializer)

    def hybrid_forward(self, F, x, alpha):
        return F.LeakyReLU(x, gamma=alpha, act_type="prelu", name="fwd")


class ELU(HybridBlock):
    """``x`` where positive, ``alpha * (exp(x) - 1)`` elsewhere (Clevert et al., 2016).

    Parameters
    ----------
    alpha : float
        The scale for negative inputs.
    **kwargs
        See `Block`.
    """

    def __init__(self, alpha=1.0, **kwargs):
        super().__init__(**kwargs)
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="elu", slope=self._alpha)


class SELU(HybridBlock):
    """ELU scaled so that activations normalize themselves (Klambauer et al., 2017).

    Parameters
    ----------
    **kwargs
        See `Block`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type="selu", name="fwd")


class GELU(HybridBlock):
    """``x * Phi(x)`` with the normal CDF ``Phi`` (Hendrycks & Gimpel, 2016).

    Parameters
    ----------
    approximation : {'erf', 'tanh'}
        Exact CDF, or its tanh approximation.
    **kwargs
        See `Block`.

    Raises
    ------
    ValueError
        If `approximation` is neither.
    """

    def __init__(self, approximation="erf", **kwargs):
        if approximation not in ("erf", "tanh"):
            raise ValueError(f"GELU: approximation must be 'erf' or 'tanh', got {approximation!r}")
        super().__init__(**kwargs)
        self._act_type = "gelu" if approximation == "erf" else "gelu_tanh"

    def hybrid_forward(self, F, x):
        return F.LeakyReLU(x, act_type=self._act_type, name="fwd")


class Swish(HybridBlock):
    """``x * sigmoid(beta * x)`` (Ramachandran et al., 2017).

    Parameters
    ----------
    beta : float
        Steepness of the sigmoid.
    **kwargs
        See `Block`.
    """

    def __init__(self, beta=1.0, **kwargs):
        super().__init__(**kwargs)
        self._beta = beta

    def hybrid_forward(self, F, x):
        return x * F.sigmoid(self._beta * x, name="fwd")


class SiLU(HybridBlock):
    """``x * sigmoid(x)``.

    Parameters
    ----------
    **kwargs
        See `Block`.
    """

    def __init__(self, **kwargs):
        super().__init__(**kwargs)

    def hybrid_forward(self, F, x):
        return x * F.sigmoid(x)
