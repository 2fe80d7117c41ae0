"""Factories of augmentation blocks for images, with or without bounding boxes."""

import numpy as np

from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.contrib.data.vision.transforms import bbox
from mxcy.gluon.data.vision import transforms
from mxcy.gluon.nn import HybridSequential, Sequential

__all__ = ["MEAN", "STD", "create_bbox_augment", "create_image_augment", "in_turn"]


#: ImageNet's mean and standard deviation of RGB, for ``mean=True``, ``std=True``
MEAN, STD = (123.68, 116.28, 103.53), (58.395, 57.12, 57.375)


def create_image_augment(
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
    dtype="float32",
):
    """Create a block that augments images.

    Parameters
    ----------
    data_shape : tuple of int
        (channels, height, width) of the results.
    resize : int
        First resize the shorter side to this length; 0 disables.
    rand_crop, rand_resize : bool
        Crop at a random position, and of random size; otherwise crop the centre.
    rand_mirror : bool
        Mirror with probability 1/2.
    mean, std : sequence of float or True, optional
        Colour normalization; True uses ImageNet's values.
    brightness, contrast, saturation, hue, pca_noise : float
        Strength of random colour changes.
    rand_gray : float
        Probability of conversion to gray.
    inter_method : int
        Interpolation, see `mx.image.imresize`; 10 chooses one at random.
    dtype : str
        Element type of the results.

    Returns
    -------
    Sequential
    """
    image, method = transforms.image, _interpolation(inter_method)
    size = data_shape[2], data_shape[1]
    steps = [image.Resize(resize, interpolation=method)] if resize > 0 else []
    if rand_resize:
        assert rand_crop, "rand_resize needs rand_crop"
        steps.append(image.RandomResizedCrop(size, interpolation=method))
    else:
        crop = image.RandomCrop if rand_crop else image.CenterCrop
        steps.append(crop(size, interpolation=method))
    if rand_mirror:
        steps.append(image.RandomFlipLeftRight(0.5))
    steps.append(transforms.Cast())
    steps += _colours(brightness, contrast, saturation, hue, pca_noise, rand_gray)
    steps += _numbers(mean, std, dtype)
    return in_turn(steps, hybrid=False)  # a graph would be planned anew for each size of image


def create_bbox_augment(
    data_shape,
    rand_crop=0,
    rand_pad=0,
    rand_gray=0,
    rand_mirror=False,
    mean=None,
    std=None,
    brightness=0,
    contrast=0,
    saturation=0,
    pca_noise=0,
    hue=0,
    inter_method=2,
    max_aspect_ratio=2,
    area_range=(0.3, 3.0),
    max_attempts=50,
    pad_val=(127, 127, 127),
    dtype="float32",
):
    """Create a block that augments images together with their bounding boxes.

    Parameters
    ----------
    data_shape : tuple of int
        (channels, height, width) of the results.
    rand_crop, rand_pad : float
        Probabilities of a random crop and of padding to a larger image.
    rand_gray, rand_mirror, mean, std, brightness, contrast, saturation, pca_noise, hue
        See `create_image_augment`.
    inter_method, dtype
        See `create_image_augment`.
    max_aspect_ratio, max_attempts
        See `bbox_random_crop_with_constraints`.
    area_range : tuple of float
        Range of the area relative to the original.
    pad_val : tuple of number
        Colour of the padding.

    Returns
    -------
    Sequential
        Maps (image, boxes) to (image, boxes).
    """
    steps = []
    if rand_crop > 0:
        steps.append(
            bbox.ImageBboxRandomCropWithConstraints(
                rand_crop, area_range[0], 1.0, max_aspect_ratio, max_trial=max_attempts
            )
        )
    if rand_mirror:
        steps.append(bbox.ImageBboxRandomFlipLeftRight(0.5))
    if rand_pad > 0:
        steps.append(bbox.ImageBboxRandomExpand(rand_pad, area_range[1], pad_val))
    width, height = data_shape[2], data_shape[1]
    steps.append(bbox.ImageBboxResize(width, height, _interpolation(inter_method)))
    steps += [
        _OnImage(step)
        for step in (
            *_colours(brightness, contrast, saturation, hue, pca_noise, rand_gray),
            *_numbers(mean, std, dtype),
        )
    ]
    return in_turn(steps, hybrid=False)  # a graph would be planned anew for each size of image


class _OnImage(Block):
    """Apply an image transform and pass boxes through."""

    def __init__(self, step):
        super().__init__()
        self.step = step

    def forward(self, img, boxes):
        return self.step(img), boxes


def _interpolation(method):
    return np.random.randint(0, 5) if method == 10 else method


def _colours(brightness, contrast, saturation, hue, pca_noise, rand_gray):
    image = transforms.image
    if brightness or contrast or saturation or hue:
        yield image.RandomColorJitter(brightness, contrast, saturation, hue)
    if pca_noise > 0:
        yield image.RandomLighting(pca_noise)
    if rand_gray > 0:
        yield image.RandomGray(rand_gray)


def _numbers(mean, std, dtype):
    mean, std = MEAN if mean is True else mean, STD if std is True else std
    yield transforms.image.ToTensor()
    if mean is not None or std is not None:
        mean, std = 0.0 if mean is None else mean, 1.0 if std is None else std
        yield transforms.image.Normalize(mean, std)
    yield transforms.Cast(dtype)


def in_turn(blocks, hybrid=True):
    """Combine blocks into one sequential block, if `hybrid` a hybridizable one where all are."""
    hybrid = hybrid and all(isinstance(block, HybridBlock) for block in blocks)
    chain = HybridSequential() if hybrid else Sequential()
    chain.add(*blocks)
    return chain
