"""Iterator over images with object annotations."""

import logging

import numpy as np

from mxcy import ndarray as nd
from mxcy._library.opencv import opencv
from mxcy.base import MXNetError
from mxcy.image.det_augmenters import CreateDetAugmenter
from mxcy.image.image_iter import ImageIter
from mxcy.io.batch import DataDesc

__all__ = ["ImageDetIter"]


class ImageDetIter(ImageIter):
    """Iterate over batches of images with object annotations.

    An image's label is: length of the header (at least 2), length of an object (at least 5), the
    rest of the header, then the objects: class, left, top, right and bottom as fractions of the
    width and height, and optional values. Batches have labels of shape (batch_size, maximum number
    of objects, length of an object), padded with -1. Images without an object of positive size are
    skipped.

    Parameters
    ----------
    batch_size, data_shape, path_imgrec, path_imglist, path_root, path_imgidx, shuffle
        See `ImageIter`.
    part_index, num_parts, imglist, data_name, label_name, last_batch_handle
        See `ImageIter`.
    aug_list : list of DetAugmenter, optional
        Defaults to ``CreateDetAugmenter(data_shape, **kwargs)``.

    Attributes
    ----------
    label_shape : tuple of int
        (objects, length of an object)
    """

    def __init__(
        self,
        batch_size,
        data_shape,
        path_imgrec=None,
        path_imglist=None,
        path_root=None,
        path_imgidx=None,
        shuffle=False,
        part_index=0,
        num_parts=1,
        aug_list=None,
        imglist=None,
        data_name="data",
        label_name="label",
        last_batch_handle="pad",
        **kwargs,
    ):
        if aug_list is None:
            aug_list = CreateDetAugmenter(data_shape, **kwargs)
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec=path_imgrec,
            path_imglist=path_imglist,
            path_root=path_root,
            path_imgidx=path_imgidx,
            shuffle=shuffle,
            part_index=part_index,
            num_parts=num_parts,
            aug_list=aug_list,
            imglist=imglist,
            data_name=data_name,
            label_name=label_name,
            last_batch_handle=last_batch_handle,
        )
        self.label_shape = self._largest_label()
        self.provide_label = [DataDesc(label_name, (batch_size, *self.label_shape))]

    def _largest_label(self):
        """The smallest shape that fits the labels of all images."""
        objects, width = 0, 5
        self.reset()
        while True:
            try:
                label, _ = self.next_sample()
            except StopIteration:
                break
            label = self._parse_label(label)
            objects, width = max(objects, len(label)), label.shape[1]
        self.reset()
        return objects, width

    def _parse_label(self, label):
        """Parse a label to an array with one row per object of positive size."""
        numbers = (label.asnumpy() if isinstance(label, nd.NDArray) else np.asarray(label)).ravel()
        if numbers.size < 7:
            raise RuntimeError(f"Label shape is invalid: {numbers.shape}")
        start, width = int(numbers[0]), int(numbers[1])
        if width < 5 or (numbers.size - start) % width:
            raise RuntimeError(
                f"Label shape {numbers.shape} inconsistent with annotation width {width}."
            )
        objects = numbers[start:].reshape(-1, width)
        real = (objects[:, 3] > objects[:, 1]) & (objects[:, 4] > objects[:, 2])
        if not real.any():
            raise RuntimeError("Encounter sample with no valid label.")
        return objects[real]

    def reshape(self, data_shape=None, label_shape=None):
        """Change the shapes of batches.

        Parameters
        ----------
        data_shape : tuple of int, optional
            (channel, height, width)
        label_shape : tuple of int, optional
            (objects, length of an object)
        """
        if data_shape is not None:
            self.check_data_shape(data_shape)
            name = self.provide_data[0][0]
            self.provide_data = [DataDesc(name, (self.batch_size, *data_shape))]
            self.data_shape = tuple(data_shape)
        if label_shape is not None:
            self.check_label_shape(label_shape)
            name = self.provide_label[0][0]
            self.provide_label = [DataDesc(name, (self.batch_size, *label_shape))]
            self.label_shape = tuple(label_shape)

    def check_label_shape(self, label_shape):
        """Raise ValueError unless all labels fit into this (objects, length of an object)."""
        if len(label_shape) != 2:
            raise ValueError("label_shape should have length 2")
        if label_shape[0] < self.label_shape[0]:
            raise ValueError(
                f"Attempts to reduce label count from {self.label_shape[0]} to {label_shape[0]}, "
                "not allowed."
            )
        if label_shape[1] != self.label_shape[1]:
            raise ValueError(
                f"label_shape object width inconsistent: {self.label_shape[1]} vs {label_shape[1]}."
            )

    def augmentation_transform(self, data, label):
        """Apply the augmenters to an image and its label."""
        for augmenter in self.auglist:
            data, label = augmenter(data, label)
        return data, label

    def _prepared(self, data, label):
        changed = self._augmented(data, label)
        return changed and (self.postprocess_data(changed[0]), changed[1])

    def _augmented(self, data, label):
        """Augment an image and its label; None if the label is invalid."""
        try:
            return self.augmentation_transform(data, self._parse_label(label))
        except RuntimeError as error:
            logging.debug("Invalid image, skipping: %s", error)
            return None

    def _label_of(self, label):
        filled = np.full(self.label_shape, -1, np.float32)
        if len(label) > len(filled):
            raise MXNetError(f"ImageDetIter: {len(label)} objects do not fit into {filled.shape}")
        filled[: len(label)] = label
        return filled

    def draw_next(
        self,
        color=None,
        thickness=2,
        mean=None,
        std=None,
        clip=True,
        waitKey=None,
        window_name="draw_next",
        id2labels=None,
    ):
        """Draw the boxes into the remaining images of this epoch.

        Parameters
        ----------
        color : tuple of int, optional
            RGB colour; random for each box by default.
        thickness : int
            Line width.
        mean, std : True or array, optional
            Undo a normalization by these; True means ImageNet's.
        clip : bool
            Clip values to 0 ... 255.
        waitKey : int, optional
            Show each image in a window and wait this many milliseconds for a key.
        window_name : str
        id2labels : dict of int to str, optional
            Class names, written next to the boxes.

        Yields
        ------
        numpy.ndarray
            RGB image (height, width, channel).
        """
        cv2 = opencv("draw_next")
        mean = np.array((123.68, 116.28, 103.53)) if mean is True else mean
        std = np.array((58.395, 57.12, 57.375)) if std is True else std
        while True:
            try:
                label, content = self.next_sample()
            except StopIteration:
                return
            changed = self._augmented(self.imdecode(content), label)
            if changed is None:
                continue
            image = changed[0].asnumpy().astype(np.float32)
            image = image * (1 if std is None else std) + (0 if mean is None else mean)
            image = np.ascontiguousarray(np.clip(image, 0, 255) if clip else image, np.float32)
            for box in changed[1]:
                _draw(cv2, image, box, color, thickness, id2labels)
            if waitKey is not None:
                shown = cv2.cvtColor(image.astype(np.uint8), cv2.COLOR_RGB2BGR)
                cv2.imshow(window_name, shown)
                cv2.waitKey(waitKey)
            yield image

    def sync_label_shape(self, it, verbose=False):
        """Set the label shapes of this and another iterator to the larger of both.

        Parameters
        ----------
        it : ImageDetIter
        verbose : bool
            Log changes of the shape.

        Returns
        -------
        ImageDetIter
            `it`
        """
        assert isinstance(it, ImageDetIter), "Synchronize with invalid iterator."
        assert self.label_shape[1] == it.label_shape[1], "object width mismatch."
        shape = (max(self.label_shape[0], it.label_shape[0]), self.label_shape[1])
        for iterator in (self, it):
            if shape != iterator.label_shape:
                iterator.reshape(None, shape)
                if verbose:
                    logging.info("Resized label_shape to (%d, %d).", *shape)
        return it


def _draw(cv2, image, box, color, thickness, names):
    height, width = image.shape[:2]
    left, top, right, bottom = (
        int(part * extent) for part, extent in zip(box[1:5], (width, height) * 2, strict=True)
    )
    color = np.random.rand(3) * 255 if color is None else color
    color = tuple(float(part) for part in color)
    cv2.rectangle(image, (left, top), (right, bottom), color, thickness)
    if names is not None and int(box[0]) in names:
        text = (names[int(box[0])], (left + 5, top + 20), cv2.FONT_HERSHEY_SIMPLEX, 0.6)
        letters = np.zeros((height, width), np.uint8)  # OpenCV draws text on uint8 only
        cv2.putText(letters, *text, 255, 2)
        image[letters > 0] = color
