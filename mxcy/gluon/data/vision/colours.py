"""Random colour transforms, hybridizable; all but `RandomGray` use `mx.nd.image` operators."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.context import cpu
from mxcy.gluon.block import HybridBlock

__all__ = [
    "RandomBrightness",
    "RandomColorJitter",
    "RandomContrast",
    "RandomGray",
    "RandomHue",
    "RandomLighting",
    "RandomSaturation",
    "draw",
]


def draw(low=0.0, high=1.0):
    """A number from the CPU's random streams, uniform in [low, high)."""
    return float(nd.random.uniform(low, high, shape=(1,), ctx=cpu()).asscalar())


def _mixed(x, weights):
    """Return an image whose channels are all the same weighted sum of the image's."""
    return nd.dot(x, nd.array([[weight] * 3 for weight in weights], ctx=x.context))


class _Jitter(HybridBlock):
    """Base of transforms that scale by a random factor around 1."""

    def __init__(self, amount):
        super().__init__()
        self._range = max(0.0, 1 - amount), 1.0 + amount


class RandomBrightness(_Jitter):
    """Change the brightness by a random factor.

    Parameters
    ----------
    brightness : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, brightness):
        super().__init__(brightness)

    def hybrid_forward(self, F, x):
        """Transform an image."""
        return F.image.random_brightness(x, *self._range)


class RandomContrast(_Jitter):
    """Change the contrast by a random factor: scale deviations from the image's mean.

    Parameters
    ----------
    contrast : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, contrast):
        super().__init__(contrast)

    def hybrid_forward(self, F, x):
        """Transform an image."""
        return F.image.random_contrast(x, *self._range)


class RandomSaturation(_Jitter):
    """Change the saturation by a random factor: scale deviations from gray.

    Gray is the dark one of `mx.nd.image.random_saturation`.

    Parameters
    ----------
    saturation : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, saturation):
        super().__init__(saturation)

    def hybrid_forward(self, F, x):
        """Transform an image."""
        return F.image.random_saturation(x, *self._range)


class RandomHue(_Jitter):
    """Rotate the hue by a random angle.

    Parameters
    ----------
    hue : float
        Maximum rotation in either direction, as a fraction of a full turn.
    """

    def __init__(self, hue):
        super().__init__(hue)

    def hybrid_forward(self, F, x):
        """Transform an image."""
        return F.image.random_hue(x, *self._range)


class RandomColorJitter(HybridBlock):
    """Random changes of brightness, contrast, saturation and hue, in random order.

    Parameters
    ----------
    brightness, contrast, saturation, hue : float
        Arguments of the individual transforms; 0 skips one.
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        self._most = (brightness, contrast, saturation, hue)

    def hybrid_forward(self, F, x):
        """Transform an image."""
        return F.image.random_color_jitter(x, *self._most)


class RandomGray(HybridBlock):
    """Convert an image to gray with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def hybrid_forward(self, F, x):
        """Transform an image of three channels, or return it.

        `mx.np` images become float32, and so do all images of hybridized transforms.
        """
        if F is not nd:
            x = F.cast(x, "float32")
            red, green, blue = F.split(x, num_outputs=3, axis=-1)
            gray = 0.2989 * red + 0.587 * green + 0.114 * blue
            is_gray = F.random.uniform(shape=(1,)) <= self.p
            return F.broadcast_add(F.broadcast_mul(gray, is_gray), F.broadcast_mul(x, 1 - is_gray))
        if x._is_numpy:  # MXNet 2 uses other weights and does not round
            x = x.astype("float32")
            gray = _mixed(x, (0.2989, 0.587, 0.114))
            return x if draw() > self.p else gray.as_np_ndarray()
        if draw() > self.p:
            return x
        gray = _mixed(x.astype("float32"), (0.21, 0.72, 0.07))
        return (gray.clip(0, 255) if x.dtype == np.uint8 else gray).astype(x.dtype)


class RandomLighting(HybridBlock):
    """Add noise along the principal components of ImageNet's colours, as AlexNet did.

    Parameters
    ----------
    alpha : float
        Standard deviation of the noise.
    """

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def hybrid_forward(self, F, x):
        """Transform an image of three channels."""
        return F.image.random_lighting(x, self._alpha)
