"""The usual augmenters of a classifier."""

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
    """Make the augmenters of a classifier.

    Parameters
    ----------
    data_shape : tuple of int
        (channel, height, width) of the result.
    resize : int
        Give images this shorter side first, if it is positive.
    rand_crop : bool
        Take a part at a random place, instead of the middle.
    rand_resize : bool
        Of random size and proportions as well.
    rand_mirror : bool
        Swap left and right in half of the images.
    mean, std : array or True, optional
        Subtracted and divided by, for each channel; True takes those of ImageNet.
    brightness, contrast, saturation : float
        By how much these are changed, at most, as parts of 1.
    hue : float
        By which part of half a turn colours are turned, at most.
    pca_noise : float
        Standard deviation of noise along the main directions of ImageNet's colours.
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
        When `data_shape` has not three numbers.
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
    # As arrays of float32, which is what dumps() shows of them in MXNet.
    mean, std = (
        nd.array(imagenet) if value is True else value
        for value, imagenet in ((mean, colours.MEAN), (std, colours.STD))
    )
    return steps + colours.augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
