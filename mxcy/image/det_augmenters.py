"""Composite augmenters for detection, and the default augmenters of a detector."""

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
    """Apply an augmenter that does not affect boxes, such as a colour augmenter.

    Parameters
    ----------
    augmenter : Augmenter

    Raises
    ------
    TypeError
        If it is not an Augmenter.
    """

    def __init__(self, augmenter):
        if not isinstance(augmenter, Augmenter):
            raise TypeError(f"Borrowing from invalid Augmenter: {augmenter!r}")
        super().__init__(augmenter=augmenter.dumps())
        self.augmenter = augmenter

    def dumps(self):
        """Describe the augmenter: a list of this augmenter's name and the other's description."""
        return [type(self).__name__.lower(), self.augmenter.dumps()]

    def __call__(self, src, label):
        return self.augmenter(src), label


class DetRandomSelectAug(DetAugmenter):
    """Apply one of several augmenters, chosen at random, or none.

    Parameters
    ----------
    aug_list : DetAugmenter or list of DetAugmenter
    skip_prob : float
        Probability of applying none.

    Raises
    ------
    ValueError
        If the list contains anything else.
    """

    def __init__(self, aug_list, skip_prob=0):
        super().__init__(skip_prob=skip_prob)
        self.aug_list = aug_list if isinstance(aug_list, (list, tuple)) else [aug_list]
        for augmenter in self.aug_list:
            if not isinstance(augmenter, DetAugmenter):
                raise ValueError(f"Allow DetAugmenter in list only, got {augmenter!r}")
        self.skip_prob = skip_prob if self.aug_list else 1

    def dumps(self):
        """Describe the augmenters: a list of this augmenter's name and their descriptions."""
        return [type(self).__name__.lower(), [augmenter.dumps() for augmenter in self.aug_list]]

    def __call__(self, src, label):
        if random.random() < self.skip_prob:
            return src, label
        random.shuffle(self.aug_list)
        return self.aug_list[0](src, label)


class DetHorizontalFlipAug(DetAugmenter):
    """Flip horizontally with a given probability.

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
    """Create an augmenter that chooses among several `DetRandomCropAug`.

    Parameters
    ----------
    min_object_covered, aspect_ratio_range, area_range, min_eject_coverage, max_attempts
        Parameters of `DetRandomCropAug`, or lists of them; a list of length 1 applies to all.
    skip_prob : float
        Probability of no crop.

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
        f"lists of parameters must have equal lengths, got {[len(value) for value in arguments]}"
    )
    crops = [DetRandomCropAug(*values) for values in zip(*arguments, strict=True)]
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
    """Create the augmenters of a detector.

    Parameters
    ----------
    data_shape : tuple of int
        (channel, height, width) of the result.
    resize : int
        If positive, first resize the shorter side to this.
    rand_crop, rand_pad : float
        Probabilities of a `DetRandomCropAug` and a `DetRandomPadAug`.
    rand_gray : float
        Probability of a gray image.
    rand_mirror : bool
        Flip horizontally with probability 1/2.
    mean, std, brightness, contrast, saturation, pca_noise, hue, inter_method
        See `CreateAugmenter`.
    min_object_covered, aspect_ratio_range, min_eject_coverage, max_attempts
        See `DetRandomCropAug`.
    area_range : tuple of float
        Minimum area of a crop and maximum area of a padded image.
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
