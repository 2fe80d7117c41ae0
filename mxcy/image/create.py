"""Default augmenters of a classifier."""

from mxcy import ndarray as nd
from mxcy.image import colours
from mxcy.image.augmenters import (
    CastAug,
    CenterCropAug,
    HorizontalFlipAug,
    RandomCropAug,
    RandomSizedCropAug,
    ResizeAug,
)

__all__ = ["CreateAugmenter"]


def CreateAugmenter(
    data_shape,
    resize=0,
    rand_crop=False,
    rand_resize=False,
    rand_mirror=False,
    mean=None,
    std=None,
    brightness=0,
    contrast=0,
    saturation=0,
    hue=0,
    pca_noise=0,
    rand_gray=0,
    inter_method=2,
):
    """Create the augmenters of a classifier.

    Parameters
    ----------
    data_shape : tuple of int
        (channel, height, width) of the result.
    resize : int
        If positive, first resize the shorter side to this.
    rand_crop : bool
        Crop at a random position instead of the centre.
    rand_resize : bool
        Also crop with random size and aspect ratio.
    rand_mirror : bool
        Flip horizontally with probability 1/2.
    mean, std : array or True, optional
        Mean to subtract and standard deviation to divide by, per channel; True uses ImageNet's.
    brightness, contrast, saturation : float
        Maximum deviation of their random factors from 1.
    hue : float
        Maximum rotation of the hue, as a fraction of half a turn.
    pca_noise : float
        Standard deviation of noise along the principal components of ImageNet's colours.
    rand_gray : float
        Probability of a gray image.
    inter_method : int
        See `resize_short`.

    Returns
    -------
    list of Augmenter

    Raises
    ------
    ValueError
        If `data_shape` does not have three elements.
    """
    if len(data_shape) != 3:
        raise ValueError(f"data_shape: expected (channel, height, width), got {data_shape}")
    steps = [ResizeAug(resize, inter_method)] if resize > 0 else []
    size = (data_shape[2], data_shape[1])
    if rand_resize:
        assert rand_crop, "rand_resize needs rand_crop"
        steps.append(RandomSizedCropAug(size, 0.08, (3.0 / 4.0, 4.0 / 3.0), inter_method))
    elif rand_crop:
        steps.append(RandomCropAug(size, inter_method))
    else:
        steps.append(CenterCropAug(size, inter_method))
    if rand_mirror:
        steps.append(HorizontalFlipAug(0.5))
    steps.append(CastAug())
    # float32 arrays, as MXNet's dumps() shows them
    mean, std = (
        nd.array(imagenet) if value is True else value
        for value, imagenet in ((mean, colours.MEAN), (std, colours.STD))
    )
    return steps + colours.augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
