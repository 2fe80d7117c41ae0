"""Box utilities, for NumPy arrays (boxes, 4 or more) of left, top, right, bottom, extra values.

Columns after the first four, such as classes, are passed through.
"""

import random

import numpy as np

__all__ = [
    "bbox_clip_xyxy",
    "bbox_crop",
    "bbox_flip",
    "bbox_iou",
    "bbox_random_crop_with_constraints",
    "bbox_resize",
    "bbox_translate",
    "bbox_xywh_to_xyxy",
    "bbox_xyxy_to_xywh",
    "check_shape",
]

#: minimum and maximum IoU of boxes and a random crop, as in the SSD paper
CONSTRAINTS = ((0.1, None), (0.3, None), (0.5, None), (0.7, None), (0.9, None), (None, 1))


def check_shape(bbox):
    """Check that an array has the shape of boxes.

    Raises
    ------
    AssertionError
        If it has not.
    """
    assert len(bbox.shape) == 2 and bbox.shape[1] >= 4, (
        f"bbox requires shape of (N, 4+), given: {bbox.shape}"
    )


def _pair(size, name):
    if len(size) != 2:
        raise ValueError(f"{name} requires length 2 tuple, given {len(size)}")
    return size


def bbox_crop(bbox, crop_box=None, allow_outside_center=True):
    """Clip boxes to a crop of the image, whose corner becomes the origin.

    Parameters
    ----------
    bbox : numpy.ndarray
        The boxes.
    crop_box : tuple, optional
        Left, top, width and height of the crop; None or 0 for no limit.
    allow_outside_center : bool
        Keep boxes whose centres are outside.

    Returns
    -------
    numpy.ndarray
        The boxes that are not empty.
    """
    bbox = bbox.copy()
    if crop_box is None:
        return bbox
    if len(crop_box) != 4:
        raise ValueError(f"Invalid crop_box parameter, requires length 4, given {crop_box}")
    left, top, width, height = (extent or 0 for extent in crop_box)
    if not (left or top or width or height):
        return bbox
    low = np.array([left, top])
    high = low + [width or np.inf, height or np.inf]
    kept = np.ones(len(bbox), bool)
    if not allow_outside_center:
        centers = (bbox[:, :2] + bbox[:, 2:4]) / 2
        kept = ((low <= centers) & (centers < high)).all(axis=1)
    bbox[:, :2] = np.maximum(bbox[:, :2], low) - low
    bbox[:, 2:4] = np.minimum(bbox[:, 2:4], high) - low
    return bbox[kept & (bbox[:, :2] < bbox[:, 2:4]).all(axis=1)]


def bbox_flip(bbox, size, flip_x=False, flip_y=False):
    """Mirror boxes with their image.

    Parameters
    ----------
    bbox : numpy.ndarray
        The boxes.
    size : tuple
        Width and height of the image.
    flip_x, flip_y : bool
        Whether to mirror horizontally and vertically.

    Returns
    -------
    numpy.ndarray
    """
    bbox = bbox.copy()
    for axis, (extent, flip) in enumerate(zip(_pair(size, "size"), (flip_x, flip_y), strict=True)):
        if flip:
            bbox[:, [axis, axis + 2]] = extent - bbox[:, [axis + 2, axis]]
    return bbox


def bbox_resize(bbox, in_size, out_size):
    """Scale boxes with their image.

    Parameters
    ----------
    bbox : numpy.ndarray
        The boxes.
    in_size, out_size : tuple
        Width and height of the image, before and after.

    Returns
    -------
    numpy.ndarray
        Of float64.
    """
    before, after = _pair(in_size, "in_size"), _pair(out_size, "out_size")
    scales = [new / old for new, old in zip(after, before, strict=True)]
    bbox = bbox.astype("float64")
    bbox[:, :4] *= scales * 2
    return bbox


def bbox_translate(bbox, x_offset=0, y_offset=0):
    """Move boxes.

    Parameters
    ----------
    bbox : numpy.ndarray
        The boxes.
    x_offset, y_offset : number
        Offset to the right and down.

    Returns
    -------
    numpy.ndarray
    """
    bbox = bbox.copy()
    bbox[:, :4] += np.array([x_offset, y_offset] * 2).astype(bbox.dtype)
    return bbox


def bbox_iou(bbox_a, bbox_b, offset=0):
    """Compute the pairwise intersection over union (IoU) of boxes.

    Parameters
    ----------
    bbox_a, bbox_b : numpy.ndarray
        Boxes, (n, 4) and (m, 4).
    offset : number
        1 if boxes include the pixels at their right and bottom edge, else 0.

    Returns
    -------
    numpy.ndarray
        (n, m).

    Raises
    ------
    IndexError
        If there are fewer than four columns.
    """
    if bbox_a.shape[1] < 4 or bbox_b.shape[1] < 4:
        raise IndexError("Bounding boxes axis 1 must have at least length 4")
    low = np.maximum(bbox_a[:, None, :2], bbox_b[:, :2])
    high = np.minimum(bbox_a[:, None, 2:4], bbox_b[:, 2:4])
    shared = np.prod(high - low + offset, axis=2) * (low < high).all(axis=2)
    area_a = np.prod(bbox_a[:, 2:4] - bbox_a[:, :2] + offset, axis=1)
    area_b = np.prod(bbox_b[:, 2:4] - bbox_b[:, :2] + offset, axis=1)
    return shared / (area_a[:, None] + area_b - shared)


def _converted(boxes, convert):
    """Apply a function of four columns to boxes, or to a single box (tuple or list)."""
    if isinstance(boxes, (tuple, list)):
        if len(boxes) != 4:
            raise IndexError(f"Bounding boxes must have 4 elements, given {len(boxes)}")
        return tuple(convert(*boxes))
    if not isinstance(boxes, np.ndarray):
        raise TypeError(
            f"Expected a list, tuple or numpy.ndarray of boxes, given {type(boxes).__name__}"
        )
    if boxes.size % 4 != 0:
        raise IndexError(f"Bounding boxes must have n * 4 elements, given {boxes.shape}")
    return np.stack(convert(*boxes.T), axis=1)


def bbox_xywh_to_xyxy(xywh):
    """Convert left, top, width, height to left, top and the last pixels at right and bottom.

    Parameters
    ----------
    xywh : tuple, list or numpy.ndarray
        One box, or boxes (n, 4).

    Returns
    -------
    tuple or numpy.ndarray
    """
    return _converted(
        xywh, lambda x, y, w, h: (x, y, x + np.maximum(w - 1, 0), y + np.maximum(h - 1, 0))
    )


def bbox_xyxy_to_xywh(xyxy):
    """Convert left, top and the last pixels at right and bottom to left, top, width, height.

    Parameters
    ----------
    xyxy : tuple, list or numpy.ndarray
        One box, or boxes (n, 4).

    Returns
    -------
    tuple or numpy.ndarray
    """
    return _converted(
        xyxy, lambda left, top, right, bottom: (left, top, right - left + 1, bottom - top + 1)
    )


def bbox_clip_xyxy(xyxy, width, height):
    """Clip boxes to an image.

    Parameters
    ----------
    xyxy : tuple, list or numpy.ndarray
        One box, or boxes (n, 4).
    width, height : number
        Size of the image.

    Returns
    -------
    tuple or numpy.ndarray
    """

    def within(value, extent):
        return np.minimum(extent - 1, np.maximum(0, value))

    return _converted(
        xyxy,
        lambda left, top, right, bottom: (
            within(left, width),
            within(top, height),
            within(right, width),
            within(bottom, height),
        ),
    )


def bbox_random_crop_with_constraints(
    bbox, size, min_scale=0.3, max_scale=1, max_aspect_ratio=2, constraints=None, max_trial=50
):
    """Choose a random crop of an image that overlaps its boxes sufficiently (Liu et al., 2016).

    Candidates are drawn from Python's `random`, the choice among them from `numpy.random`.

    Parameters
    ----------
    bbox : numpy.ndarray
        The boxes.
    size : tuple
        Width and height of the image.
    min_scale, max_scale : float
        Limits of the crop's size, relative to the image.
    max_aspect_ratio : float
        Limit of width / height and of height / width.
    constraints : iterable of tuple, optional
        Minimum and maximum IoU (or None) with all boxes; each yields one candidate.
    max_trial : int
        Number of attempts per constraint.

    Returns
    -------
    bbox : numpy.ndarray
        The boxes inside the crop.
    crop : tuple
        Left, top, width and height of the crop.
    """
    width, height = size
    candidates = [(0, 0, width, height)]
    for least, most in CONSTRAINTS if constraints is None else constraints:
        for _ in range(max_trial):
            part = _random_part(width, height, min_scale, max_scale, max_aspect_ratio)
            if len(bbox) == 0:
                return bbox, part
            left, top, part_width, part_height = part
            corners = np.array([[left, top, left + part_width, top + part_height]])
            overlap = bbox_iou(bbox, corners)
            if (least is None or least <= overlap.min()) and (
                most is None or overlap.max() <= most
            ):
                candidates.append(part)
                break
    while candidates:
        part = candidates.pop(np.random.randint(0, len(candidates)))
        cut = bbox_crop(bbox, part, allow_outside_center=False)
        if cut.size:
            return cut, part
    return bbox, (0, 0, width, height)


def _random_part(width, height, min_scale, max_scale, max_aspect_ratio):
    """Left, top, width and height of a random crop."""
    scale = random.uniform(min_scale, max_scale)
    ratio = random.uniform(
        max(1 / max_aspect_ratio, scale * scale), min(max_aspect_ratio, 1 / (scale * scale))
    )
    part_height = int(height * scale / np.sqrt(ratio))
    part_width = int(width * scale * np.sqrt(ratio))
    top = random.randrange(max(height - part_height, 1))
    left = random.randrange(max(width - part_width, 1))
    return left, top, part_width, part_height
