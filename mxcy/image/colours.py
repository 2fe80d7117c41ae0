"""Colour augmenters, for float images."""

import math
import random

import numpy as np

from mxcy import ndarray as nd
from mxcy.image.augmenters import Augmenter, RandomOrderAug

__all__ = [
    "MEAN",
    "STD",
    "BrightnessJitterAug",
    "ColorJitterAug",
    "ColorNormalizeAug",
    "ContrastJitterAug",
    "HueJitterAug",
    "LightingAug",
    "RandomGrayAug",
    "SaturationJitterAug",
    "augmenters",
    "color_normalize",
]

_BRIGHTNESS = np.array([[[0.299, 0.587, 0.114]]])  # weights of red, green and blue
_TO_YIQ = np.array([[0.299, 0.587, 0.114], [0.596, -0.274, -0.321], [0.211, -0.523, 0.311]])
_FROM_YIQ = np.array([[1.0, 0.956, 0.621], [1.0, -0.272, -0.647], [1.0, -1.107, 1.705]])
_GRAY = np.array([[0.21] * 3, [0.72] * 3, [0.07] * 3])
MEAN, STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)  # ImageNet's
# Principal components of ImageNet's colours: eigenvalues and eigenvectors.
_SPREADS = np.array([55.46, 4.794, 1.148])
_DIRECTIONS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
)


def color_normalize(src, mean, std=None):
    """Subtract a mean and divide by a standard deviation.

    Parameters
    ----------
    src : NDArray
        Float image, modified in place.
    mean, std : NDArray or float, optional
        One number, or one per channel.

    Returns
    -------
    NDArray
        `src`
    """
    if mean is not None:
        src -= mean
    if std is not None:
        src /= std
    return src


def _gray(src):
    """The brightness of each pixel, (height, width, 1)."""
    return (src * nd.array(_BRIGHTNESS)).sum(axis=2, keepdims=True)


class BrightnessJitterAug(Augmenter):
    """Change the brightness by a random factor.

    Parameters
    ----------
    brightness : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, brightness):
        super().__init__(brightness=brightness)
        self.brightness = brightness

    def __call__(self, src):
        src *= 1.0 + random.uniform(-self.brightness, self.brightness)
        return src


class ContrastJitterAug(Augmenter):
    """Change the contrast by a random factor: scale deviations from the image's mean.

    Parameters
    ----------
    contrast : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, contrast):
        super().__init__(contrast=contrast)
        self.contrast = contrast

    def __call__(self, src):
        factor = 1.0 + random.uniform(-self.contrast, self.contrast)
        mean = _gray(src).mean()
        src *= factor
        src += mean * (1.0 - factor)
        return src


class SaturationJitterAug(Augmenter):
    """Change the saturation by a random factor: scale deviations from gray.

    Parameters
    ----------
    saturation : float
        Maximum deviation of the factor from 1.
    """

    def __init__(self, saturation):
        super().__init__(saturation=saturation)
        self.saturation = saturation

    def __call__(self, src):
        factor = 1.0 + random.uniform(-self.saturation, self.saturation)
        gray = _gray(src)
        src *= factor
        src += gray * (1.0 - factor)
        return src


class HueJitterAug(Augmenter):
    """Rotate the hue by a random angle.

    Parameters
    ----------
    hue : float
        Maximum rotation, as a fraction of half a turn.
    """

    def __init__(self, hue):
        super().__init__(hue=hue)
        self.hue = hue
        self.tyiq, self.ityiq = _TO_YIQ, _FROM_YIQ

    def __call__(self, src):
        angle = random.uniform(-self.hue, self.hue) * math.pi
        cos, sin = math.cos(angle), math.sin(angle)
        rotation = np.array([[1.0, 0.0, 0.0], [0.0, cos, -sin], [0.0, sin, cos]])
        return nd.dot(src, nd.array((self.ityiq @ rotation @ self.tyiq).T))


class ColorJitterAug(RandomOrderAug):
    """Random changes of brightness, contrast and saturation, in random order.

    Parameters
    ----------
    brightness, contrast, saturation : float
        Arguments of the individual augmenters; 0 skips one.
    """

    def __init__(self, brightness, contrast, saturation):
        ranges = (
            (BrightnessJitterAug, brightness),
            (ContrastJitterAug, contrast),
            (SaturationJitterAug, saturation),
        )
        super().__init__([kind(amount) for kind, amount in ranges if amount > 0])


class LightingAug(Augmenter):
    """Add noise along the principal components of a data set's colours, as AlexNet did.

    Parameters
    ----------
    alphastd : float
        Standard deviation of the noise.
    eigval : array (3,)
        Standard deviations of the components.
    eigvec : array (3, 3)
        The components, one per column.
    """

    def __init__(self, alphastd, eigval, eigvec):
        super().__init__(alphastd=alphastd, eigval=eigval, eigvec=eigvec)
        self.alphastd, self.eigval, self.eigvec = alphastd, eigval, eigvec

    def __call__(self, src):
        noise = np.random.normal(0, self.alphastd, size=(3,))
        src += nd.array(np.dot(self.eigvec * noise, self.eigval))
        return src


class ColorNormalizeAug(Augmenter):
    """Augmenter for `color_normalize`.

    Parameters
    ----------
    mean, std : array
    """

    def __init__(self, mean, std):
        super().__init__(mean=mean, std=std)
        self.mean, self.std = (
            value if value is None or isinstance(value, nd.NDArray) else nd.array(value)
            for value in (mean, std)
        )

    def __call__(self, src):
        return color_normalize(src, self.mean, self.std)


class RandomGrayAug(Augmenter):
    """Convert to gray with a given probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src):
        return nd.dot(src, nd.array(_GRAY)) if random.random() < self.p else src


def augmenters(brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std):
    """The colour augmenters of `CreateAugmenter`, in order."""
    steps = []
    if brightness or contrast or saturation:
        steps.append(ColorJitterAug(brightness, contrast, saturation))
    if hue:
        steps.append(HueJitterAug(hue))
    if pca_noise > 0:
        steps.append(LightingAug(pca_noise, _SPREADS, _DIRECTIONS))
    if rand_gray > 0:
        steps.append(RandomGrayAug(rand_gray))
    mean, std = _published(mean, MEAN, "mean"), _published(std, STD, "std")
    if mean is not None or std is not None:
        steps.append(ColorNormalizeAug(mean, std))
    return steps


def _published(value, imagenet, name):
    if value is True:
        return np.array(imagenet)
    if value is not None:
        assert isinstance(value, (np.ndarray, nd.NDArray)) and value.shape[0] in (1, 3), (
            f"{name}: expected True or an array of 1 or 3 numbers, got {value!r}"
        )
    return value
