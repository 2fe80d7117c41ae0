"""Augmenters for detection that are made of others, and the usual ones of a detector."""

import random

from mxcy import ndarray as nd
from mxcy.image import colours
from mxcy.image.augmenters import Augmenter, CastAug, ForceResizeAug, ResizeAug
from mxcy.image.det_augmenter import DetAugmenter
from mxcy.image.det_boxes import DetRandomCropAug, DetRandomPadAug

__all__ = [
    "CreateDetAugmenter",
    "CreateMultiRandCropAugmenter",
    "DetAugmenter",
    "DetBorrowAug",
    "DetHorizontalFlipAug",
    "DetRandomSelectAug",
]


class DetBorrowAug(DetAugmenter):
    """An augmenter that leaves boxes where they are, such as one of colours.

    Parameters
    ----------
    augmenter : Augmenter

    Raises
    ------
    TypeError
        When it is none.
    """

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"Borrowing from invalid Augmenter: {augmenter!r}")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self):
        """Describe the augmenter: a list of this one's name and its description."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """One of several augmenters, chosen at random, or none.

    Parameters
    ----------
    aug_list : DetAugmenter or list of DetAugmenter
    skip_prob : float
        The probability of none.

    Raises
    ------
    TypeError
        When something else is in the list.
    """

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        self.aug_list = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        for augmenter in self.aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise TypeError(f"Allow DetAugmenter in list only, got {augmenter!r}")
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self):
        """Describe the augmenters: a list of this one's name and their descriptions."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Left and right swapped, with a probability.

    Parameters
    ----------
    p : float
        The probability.
    """

    def __init__(self, p):
        super().__init__(p=p)
        self.p = p

    def __call__(self, src, label):
        if random.random() >= self.p:
            return src, label
        label = label.copy()
        label[:, (1, 3)] = 1.0 - label[:, (3, 1)]
        return nd.flip(src, axis=1), label


def CreateMultiRandCropAugmenter(
    min_object_covered=0.1,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 1.0),
    min_eject_coverage=0.3,
    max_attempts=50,
    skip_prob=0,
):
    """Make an augmenter that chooses between several `DetRandomCropAug`.

    Parameters
    ----------
    min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts
        The parameters of that, or lists of them; those of length 1 hold for all.
    skip_prob : float
        The probability of no crop.

    Returns
    -------
    DetRandomSelectAug
    """
    arguments = [
        min_object_covered,
        aspect_ratio_range,
        area_range,
        min_eject_coverage,
        max_attempts,
    ]
    arguments = [value if isinstance(value, list) else [value] for value in arguments]
    count = max(map(len, arguments))
    arguments = [value * count if len(value) == 1 else value for value in arguments]
    assert all(len(value) == count for value in arguments), (
        f"the lists of parameters must be of one length, got {[len(value) for value in arguments]}"
    )
    crops = [DetRandomCropAug(*one) for one in zip(*arguments, strict=True)]
    return DetRandomSelectAug(crops, skip_prob=skip_prob)


def CreateDetAugmenter(
    data_shape,
    resize=0,
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
    min_object_covered=0.1,
    aspect_ratio_range=(0.75, 1.33),
    area_range=(0.05, 3.0),
    min_eject_coverage=0.3,
    max_attempts=50,
    pad_val=(127, 127, 127),
):
    """Make the augmenters of a detector.

    Parameters
    ----------
    data_shape : tuple of int
        (channel, height, width) of the result.
    resize : int
        Give images this shorter side first, if it is positive.
    rand_crop, rand_pad : float
        Probabilities of a `DetRandomCropAug` and a `DetRandomPadAug`.
    rand_gray : float
        Probability of a gray image.
    rand_mirror : bool
        Swap left and right in half of the images.
    mean, std, brightness, contrast, saturation, pca_noise, hue, inter_method
        See `CreateAugmenter`.
    min_object_covered, aspect_ratio_range, min_eject_coverage, max_attempts
        See `DetRandomCropAug`.
    area_range : tuple of float
        The least area of a crop and the greatest of a padded image.
    pad_val : tuple of float
        See `DetRandomPadAug`.

    Returns
    -------
    list of DetAugmenter
    """
    steps = [DetBorrowAug(ResizeAug(resize, inter_method))] if resize > 0 else []
    if rand_crop > 0:
        crop = CreateMultiRandCropAugmenter(
            min_object_covered,
            aspect_ratio_range,
            area_range,
            min_eject_coverage,
            max_attempts,
            skip_prob=1 - rand_crop,
        )
        steps.append(crop)
    if rand_mirror > 0:
        steps.append(DetHorizontalFlipAug(0.5))
    if rand_pad > 0:
        pad = DetRandomPadAug(aspect_ratio_range, (1.0, area_range[1]), max_attempts, pad_val)
        steps.append(DetRandomSelectAug([pad], 1 - rand_pad))
    borrowed = [ForceResizeAug((data_shape[2], data_shape[1]), inter_method), CastAug()]
    borrowed += colours.augmenters(
        brightness, contrast, saturation, hue, pca_noise, rand_gray, mean, std
    )
    return steps + [DetBorrowAug(augmenter) for augmenter in borrowed]
