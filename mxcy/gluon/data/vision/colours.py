"""Random transforms of colours."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.gluon.block import Block

__all__ = [
    "RandomBrightness", "RandomColorJitter", "RandomContrast", "RandomGray", "RandomHue",
    "RandomLighting", "RandomSaturation", "draw",
]  # fmt: skip

_GRAY = (0.299, 0.587, 0.114)  # what red, green and blue contribute to brightness
# The main directions in which colours of ImageNet differ, each times how much they do.
_DIRECTIONS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
) * (55.46, 4.794, 1.148)


def draw(low=0.0, high=1.0):
    """A number from MXNet's random streams, uniform in [low, high)."""
    return float(nd.random.uniform(low, high, shape=(1,)).asscalar())


def _gray(x):
    """The brightness of each pixel, (height, width, 1)."""
    if x.shape[-1] == 1:
        return x
    return nd.broadcast_mul(x, nd.array(_GRAY)).sum(axis=-1, keepdims=True)


def _as(x, values):
    """Values in the element type of an image; bytes stay in their range."""
    return (values.clip(0, 255) if x.dtype == np.uint8 else values).astype(x.dtype)


class _Jitter(Block):
    """A change of values by a factor around 1."""

    def __init__(self, amount):
        super().__init__()
        self._range = max(0.0, 1 - amount), 1 + amount

    def forward(self, x):
        """Transform an image."""
        return _as(x, self._changed(x.astype("float32"), draw(*self._range)))


class RandomBrightness(_Jitter):
    """Make an image brighter or darker.

    Parameters
    ----------
    brightness : float
        The factor lies within this distance of 1.
    """

    def __init__(self, brightness):
        super().__init__(brightness)

    def _changed(self, x, factor):
        return x * factor


class RandomContrast(_Jitter):
    """Bring all values nearer to the image's mean, or away from it.

    Parameters
    ----------
    contrast : float
        The factor lies within this distance of 1.
    """

    def __init__(self, contrast):
        super().__init__(contrast)

    def _changed(self, x, factor):
        return x * factor + float(_gray(x).mean().asscalar()) * (1 - factor)


class RandomSaturation(_Jitter):
    """Bring colours nearer to gray, or away from it.

    Parameters
    ----------
    saturation : float
        The factor lies within this distance of 1.
    """

    def __init__(self, saturation):
        super().__init__(saturation)

    def _changed(self, x, factor):
        return nd.broadcast_add(x * factor, _gray(x) * (1 - factor))


class RandomHue(_Jitter):
    """Turn the circle of colours.

    Parameters
    ----------
    hue : float
        The part of a full turn, at most, in either direction.
    """

    def __init__(self, hue):
        super().__init__(hue)

    def _changed(self, x, factor):
        return x if x.shape[-1] == 1 else nd.array(_turned(x.asnumpy(), factor))


def _turned(values, turns):
    """Colours with their hue turned; lightness and saturation stay."""
    red, green, blue = np.moveaxis(values, -1, 0)
    most, least = values.max(-1), values.min(-1)
    range_ = np.where(most > least, most - least, 1)
    hue = np.select(
        [most == red, most == green],
        [(green - blue) / range_, (blue - red) / range_ + 2],
        (red - green) / range_ + 4,
    )
    hue = (hue + 6 * turns) % 6
    # Each channel falls from the most to the least and rises again, a third of a turn apart.
    distance = np.stack([np.abs((hue - centre + 3) % 6 - 3) for centre in (0, 2, 4)], -1)
    share = np.clip(2 - distance, 0, 1)
    return (least[..., None] + (most - least)[..., None] * share).astype("float32")


class RandomColorJitter(Block):
    """Random changes of brightness, contrast, saturation and hue, in random order.

    Parameters
    ----------
    brightness, contrast, saturation, hue : float
        See the transforms of these names; 0 leaves one out.
    """

    def __init__(self, brightness=0, contrast=0, saturation=0, hue=0):
        super().__init__()
        given = (
            (RandomBrightness, brightness), (RandomContrast, contrast),
            (RandomSaturation, saturation), (RandomHue, hue),
        )  # fmt: skip
        self._steps = [kind(amount) for kind, amount in given if amount > 0]

    def forward(self, x):
        """Transform an image."""
        for step in sorted(self._steps, key=lambda _: draw()):
            x = step(x)
        return x


class RandomGray(Block):
    """Turn an image gray, with a probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p=0.5):
        super().__init__()
        self.p = p

    def forward(self, x):
        """Transform an image of three channels, or return it."""
        if draw() > self.p:
            return x
        gray = nd.dot(x.astype("float32"), nd.array([[0.21] * 3, [0.72] * 3, [0.07] * 3]))
        return _as(x, gray)


class RandomLighting(Block):
    """Add noise along the main directions in which colours of photographs differ, as AlexNet did.

    Parameters
    ----------
    alpha : float
        Standard deviation of the noise.
    """

    def __init__(self, alpha):
        super().__init__()
        self._alpha = alpha

    def forward(self, x):
        """Transform an image of three channels."""
        if x.shape[-1] == 1:
            return x
        noise = nd.random.normal(0, self._alpha, shape=(3,)).asnumpy()
        return _as(x, nd.broadcast_add(x.astype("float32"), nd.array(_DIRECTIONS @ noise)))
