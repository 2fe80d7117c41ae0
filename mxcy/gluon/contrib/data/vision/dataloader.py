"""Image loaders for record files and lists of files, with augmentation."""

import numpy as np

from mxcy import ndarray as nd
from mxcy.gluon.block import Block, HybridBlock
from mxcy.gluon.contrib.data.vision.augment import (
    MEAN,  # noqa: F401 - also offered under this module's name
    STD,  # noqa: F401
    create_bbox_augment,
    create_image_augment,
    in_turn,
)
from mxcy.gluon.data import DataLoader, batchify
from mxcy.gluon.data.vision import ImageListDataset, ImageRecordDataset

__all__ = [
    "BboxLabelTransform",
    "ImageBboxDataLoader",
    "ImageDataLoader",
    "create_bbox_augment",
    "create_image_augment",
]


class _Loader:
    """Base class of both loaders."""

    _augment = None

    def __init__(
        self,
        batch_size,
        data_shape,
        path_imgrec,
        path_imglist,
        path_root,
        part_index,
        num_parts,
        aug_list,
        imglist,
        dtype,
        augmentation,
        batchify_fn,
        **kwargs,
    ):
        assert path_imgrec or path_imglist or isinstance(imglist, list), (
            "one of path_imgrec, path_imglist and imglist must be given"
        )
        assert dtype in ("int32", "float32", "int64", "float64"), f"{dtype} label not supported"
        if path_imgrec:
            dataset = ImageRecordDataset(path_imgrec, flag=1)
        else:
            dataset = ImageListDataset(path_root, path_imglist or imglist, flag=1)
        if num_parts > 1:
            dataset = dataset.shard(num_parts, part_index)
        if aug_list is None:
            augmenter = self._augment(data_shape, **augmentation)
        elif isinstance(aug_list, Block):
            augmenter = aug_list
        elif isinstance(aug_list, list):
            augmenter = in_turn(aug_list)
        else:
            raise ValueError(f"aug_list must be a list of Blocks or a Block, got {aug_list}")
        if isinstance(augmenter, HybridBlock):
            augmenter.hybridize()
        self._loader = DataLoader(
            self._transformed(dataset, augmenter, dtype),
            batch_size,
            batchify_fn=batchify_fn,
            **kwargs,
        )

    def __iter__(self):
        return iter(self._loader)

    def __len__(self):
        return len(self._loader)


class ImageDataLoader(_Loader):
    """Load batches of augmented images and their labels.

    Parameters
    ----------
    batch_size : int
        Images per batch.
    data_shape : tuple of int
        (channels, height, width) of an image in a batch.
    path_imgrec : str
        A record file, or
    path_imglist : str
        a list file of images, or
    imglist : list
        a list of labels and file names.
    path_root : str
        Folder of images in lists.
    part_index, num_parts : int
        Index of the part to load, and number of parts.
    aug_list : Block or list of Block, optional
        Augmenters; by default those of `create_image_augment`.
    dtype : str
        Accepted for compatibility: labels are float32.
    shuffle, sampler, last_batch, batch_sampler, batchify_fn, num_workers, pin_memory
        See `mxcy.gluon.data.DataLoader`.
    pin_device_id, prefetch, thread_pool, timeout, try_nopython
        See `mxcy.gluon.data.DataLoader`.
    **kwargs
        Arguments of `create_image_augment`.
    """

    _augment = staticmethod(create_image_augment)

    def __init__(
        self,
        batch_size,
        data_shape,
        path_imgrec=None,
        path_imglist=None,
        path_root=".",
        part_index=0,
        num_parts=1,
        aug_list=None,
        imglist=None,
        dtype="float32",
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
        prefetch=None,
        thread_pool=False,
        timeout=120,
        try_nopython=None,
        **kwargs,
    ):
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec,
            path_imglist,
            path_root,
            part_index,
            num_parts,
            aug_list,
            imglist,
            dtype,
            kwargs,
            batchify_fn,
            shuffle=shuffle,
            sampler=sampler,
            last_batch=last_batch,
            batch_sampler=batch_sampler,
            num_workers=num_workers,
            pin_memory=pin_memory,
            pin_device_id=pin_device_id,
            prefetch=prefetch,
            thread_pool=thread_pool,
            timeout=timeout,
            try_nopython=try_nopython,
        )

    def _transformed(self, dataset, augmenter, dtype):
        return dataset.transform_first(augmenter)


class ImageBboxDataLoader(_Loader):
    """Load batches of augmented images and their bounding boxes.

    Labels have the format of `mx.image.ImageDetIter`. Boxes are returned as (batch, boxes, 5 or
    more): corners in pixels, then the class; unused rows are -1.

    Parameters
    ----------
    batch_size, data_shape, path_imgrec, path_imglist, path_root, part_index, num_parts
        See `ImageDataLoader`.
    aug_list : Block or list of Block, optional
        Augmenters; by default those of `create_bbox_augment`.
    imglist, dtype
        See `ImageDataLoader`.
    coord_normalized : bool
        Whether boxes in labels are relative to the image size rather than in pixels.
    shuffle, sampler, last_batch, batch_sampler, batchify_fn, num_workers, pin_memory
        See `mxcy.gluon.data.DataLoader`.
    pin_device_id, prefetch, thread_pool, timeout, try_nopython
        See `mxcy.gluon.data.DataLoader`.
    **kwargs
        Arguments of `create_bbox_augment`.
    """

    _augment = staticmethod(create_bbox_augment)

    def __init__(
        self,
        batch_size,
        data_shape,
        path_imgrec=None,
        path_imglist=None,
        path_root=".",
        part_index=0,
        num_parts=1,
        aug_list=None,
        imglist=None,
        coord_normalized=True,
        dtype="float32",
        shuffle=False,
        sampler=None,
        last_batch=None,
        batch_sampler=None,
        batchify_fn=None,
        num_workers=0,
        pin_memory=False,
        pin_device_id=0,
        prefetch=None,
        thread_pool=False,
        timeout=120,
        try_nopython=None,
        **kwargs,
    ):
        self._coord_normalized = coord_normalized
        if batchify_fn is None:
            batchify_fn = batchify.Group(batchify.Stack(), batchify.Pad(val=-1))
        super().__init__(
            batch_size,
            data_shape,
            path_imgrec,
            path_imglist,
            path_root,
            part_index,
            num_parts,
            aug_list,
            imglist,
            dtype,
            kwargs,
            batchify_fn,
            shuffle=shuffle,
            sampler=sampler,
            last_batch=last_batch,
            batch_sampler=batch_sampler,
            num_workers=num_workers,
            pin_memory=pin_memory,
            pin_device_id=pin_device_id,
            prefetch=prefetch,
            thread_pool=thread_pool,
            timeout=timeout,
            try_nopython=try_nopython,
        )

    def _transformed(self, dataset, augmenter, dtype):
        label = BboxLabelTransform(self._coord_normalized)
        return dataset.transform(lambda img, boxes: augmenter(*label(img, boxes)))


class BboxLabelTransform(Block):
    """Convert an image's label to boxes (boxes, 5 or more): corners in pixels, class, extra values.

    A label starts with a header: its own length, the length of a box, and optional values. Each
    box consists of class, corners and extra values.

    Parameters
    ----------
    coord_normalized : bool
        Whether corners are relative to the image size rather than in pixels.
    """

    def __init__(self, coord_normalized=True):
        super().__init__()
        self._coord_normalized = coord_normalized

    def forward(self, img, label):
        """Return the image and the boxes.

        Raises
        ------
        ValueError
            If the label is malformed.
        """
        label = (label if isinstance(label, np.ndarray) else label.asnumpy()).ravel()
        header, width = int(label[0]), int(label[1])
        if width < 5:
            raise ValueError(f"Label info for each object should be >= 5, given {width}")
        if len(label) < header + 5 or (len(label) - header) % width:
            raise ValueError(
                f"Broken label of size {len(label)}: expected objects of {width} values after a "
                f"header of {header}"
            )
        objects = label[header:].reshape(-1, width)
        objects = np.concatenate([objects[:, 1:5], objects[:, :1], objects[:, 5:]], axis=1)
        if self._coord_normalized:
            height, width = img.shape[:2]
            objects[:, :4] *= [width, height, width, height]
        return img, nd.array(objects, dtype="float32")
