"""Random colour changes of uint8 BGR images."""

import numpy as np

__all__ = ["changed_colours", "shifted_hls"]

# Principal components of ImageNet's colours times their standard deviations, in BGR order.
_DIRECTIONS = np.array(
    [[-0.5675, 0.7192, 0.4009], [-0.5808, -0.0045, -0.8140], [-0.5836, -0.6948, 0.4203]]
)[::-1] * (55.46, 4.794, 1.148)


def changed_colours(cv2, pixels, options, draw):
    """Apply the colour augmentations.

    Parameters
    ----------
    cv2 : module
    pixels : numpy.ndarray of uint8
        (height, width) or (height, width, 3)
    options : namespace
        `brightness`, `contrast`, `saturation`, `random_h`, `random_l`, `random_s`, `pca_noise`.
    draw : random.Random

    Returns
    -------
    numpy.ndarray of uint8
    """
    o = options
    steps = [
        (step, 1 + draw.uniform(-amount, amount))
        for step, amount in (
            (_brighter, o.brightness),
            (_contrasted, o.contrast),
            (_saturated, o.saturation),
        )
        if amount > 0
    ]
    draw.shuffle(steps)
    for step, factor in steps:
        pixels = step(cv2, pixels, factor)
    if pixels.ndim == 2 or pixels.shape[2] != 3:
        return pixels
    if o.random_h or o.random_l or o.random_s:
        shift = [_rarely_extreme(most, draw) for most in (o.random_h, o.random_l, o.random_s)]
        pixels = shifted_hls(cv2, pixels, shift)
    if o.pca_noise > 0:
        noise = _DIRECTIONS @ [draw.gauss(0, o.pca_noise) for _ in range(3)]
        pixels = _bytes(pixels + noise.astype(np.float32))
    return pixels


def _rarely_extreme(most, draw):
    """Draw an integer from -most to most; the outer fifths are rarer, as in MXNet."""
    return int(most * (0.4 * draw.random() + 1.6 * draw.random() - 1))


def shifted_hls(cv2, pixels, shift):
    """Shift hue, lightness and saturation, each clipped to its range.

    Parameters
    ----------
    cv2 : module
    pixels : numpy.ndarray of uint8
        (height, width, 3)
    shift : sequence of int
    """
    values = cv2.cvtColor(pixels, cv2.COLOR_BGR2HLS).astype(np.int16) + np.int16(shift)
    values = np.clip(values, 0, (180, 255, 255)).astype(np.uint8)
    return cv2.cvtColor(values, cv2.COLOR_HLS2BGR)


def _bytes(values):
    return np.clip(np.rint(values), 0, 255).astype(np.uint8)


def _brighter(cv2, pixels, factor):
    return cv2.addWeighted(pixels, factor, pixels, 0, 0)


def _gray(cv2, pixels):
    return cv2.cvtColor(pixels, cv2.COLOR_RGB2GRAY)  # MXNet swaps the weights of red and blue


def _contrasted(cv2, pixels, factor):
    gray = pixels if pixels.ndim == 2 else _gray(cv2, pixels)
    return cv2.addWeighted(pixels, factor, pixels, 0, (1 - factor) * cv2.mean(gray)[0])


def _saturated(cv2, pixels, factor):
    if pixels.ndim == 2:
        return pixels
    gray = _gray(cv2, pixels)
    return cv2.addWeighted(pixels, factor, cv2.cvtColor(gray, cv2.COLOR_GRAY2BGR), 1 - factor, 0)
