"""Calls compared with real MXNet 1.9.1; results are arrays by name.

To rewrite image_golden.npz, run this with a Python that has MXNet 1.9.1:
``python -m tests.image.cases``. Every function takes the module `mxnet` or `mxcy`, and a folder.
"""

import json
import os
import random
import tempfile
from pathlib import Path

import numpy as np

from tests.image.pictures import picture, png

GOLDEN = Path(__file__).resolve().parent / "image_golden.npz"
LABEL = np.array([[0, 0.1, 0.2, 0.6, 0.7], [1, 0.5, 0.4, 0.9, 0.95]], np.float32)


def seeded(number=0):
    random.seed(number)
    np.random.seed(number)


def text(value):
    return np.frombuffer(json.dumps(value).encode(), np.uint8)


# --- functions -----------------------------------------------------------------------------------


def functions(mx, folder):
    image, source = mx.image, mx.nd.array(picture(12, 15), dtype="uint8")
    for flag in (0, 1):
        for channels in (1, 3):
            content = png(picture(5, 6, channels=channels))
            yield f"imdecode {flag} {channels}", image.imdecode(content, flag=flag)
    yield "imdecode bgr", image.imdecode(png(picture(5, 6)), to_rgb=0)
    for interp in range(5):
        yield f"imresize up {interp}", image.imresize(source, 20, 17, interp)
        yield f"imresize down {interp}", image.imresize(source, 7, 5, interp)
        yield f"imresize float {interp}", image.imresize(source.astype("float32"), 9, 20, interp)
    for kind in range(5):
        yield (
            f"border {kind}",
            image.image.copyMakeBorder(source, 1, 2, 3, 4, kind, values=(9, 8, 7)),
        )
    for size in (6, 14):
        for interp in (2, 9):
            yield f"resize_short {size} {interp}", image.resize_short(source, size, interp)
    yield "fixed_crop", image.fixed_crop(source, 2, 3, 6, 5)
    yield "fixed_crop size", image.fixed_crop(source, 2, 3, 6, 5, (4, 9))
    for size in ((5, 6), (20, 10), (15, 12)):
        out, place = image.center_crop(source, size)
        yield f"center_crop {size}", out
        yield f"center_crop place {size}", place
        for seed in range(3):
            seeded(seed)
            out, place = image.random_crop(source, size)
            yield f"random_crop {size} {seed}", out
            yield f"random_crop place {size} {seed}", place
            out, place = image.random_size_crop(source, size, (0.2, 0.8), (0.5, 2))
            yield f"random_size_crop {size} {seed}", out
            yield f"random_size_crop place {size} {seed}", place
    yield "random_size_crop single", image.random_size_crop(source, (3, 4), 0.08, (0.75, 1.33))[0]
    yield (
        "color_normalize",
        image.color_normalize(
            source.astype("float32"), mx.nd.array([1, 2, 3]), mx.nd.array([4, 5, 6])
        ),
    )
    for source_size in ((640, 480), (100, 900), (3, 3)):
        yield f"scale_down {source_size}", image.scale_down(source_size, (720, 120))


def rotations(mx, folder):
    floats = mx.nd.array(picture(9, 12).transpose(2, 0, 1))
    for angle in (0, 15, 90, -130.5):
        for zoom in ({}, {"zoom_in": True}, {"zoom_out": True}):
            yield f"imrotate {angle} {zoom}", mx.image.imrotate(floats, angle, **zoom)
    batch = mx.nd.stack(floats, floats)
    yield "imrotate batch", mx.image.imrotate(batch, mx.nd.array([10, -20]))
    seeded()
    yield "random_rotate", mx.image.random_rotate(floats, (-30, 30))
    yield "random_rotate batch", mx.image.random_rotate(batch, (-30, 30), zoom_in=True)


# --- augmenters ----------------------------------------------------------------------------------


def augmenters(mx, folder):
    image = mx.image
    spread, directions = np.array([55.46, 4.794, 1.148]), np.arange(9).reshape(3, 3) / 10
    made = {
        "resize": image.ResizeAug(7),
        "force": image.ForceResizeAug((5, 8), 9),
        "crop": image.RandomCropAug((5, 8)),
        "center": image.CenterCropAug((5, 8), 1),
        "sized": image.RandomSizedCropAug((5, 8), (0.1, 1), (0.5, 2)),
        "brightness": image.BrightnessJitterAug(0.4),
        "contrast": image.ContrastJitterAug(0.4),
        "saturation": image.SaturationJitterAug(0.4),
        "hue": image.HueJitterAug(0.4),
        "jitter": image.ColorJitterAug(0.3, 0.2, 0.1),
        "lighting": image.LightingAug(0.5, spread, directions),
        "normalize": image.ColorNormalizeAug(np.array([1.0, 2, 3]), np.array([4.0, 5, 6])),
        "gray": image.RandomGrayAug(0.7),
        "flip": image.HorizontalFlipAug(0.5),
        "cast": image.CastAug("float64"),
        "sequence": image.SequentialAug([image.CastAug(), image.HorizontalFlipAug(1)]),
        "order": image.RandomOrderAug([image.CastAug(), image.HorizontalFlipAug(1)]),
    }
    for name, augmenter in made.items():
        yield f"{name} dumps", text(augmenter.dumps())
        for seed in range(3):
            seeded(seed)
            source = mx.nd.array(picture(12, 15))
            yield f"{name} {seed}", augmenter(source)


CREATED = (
    {},
    {"resize": 10, "rand_crop": True, "rand_mirror": True, "mean": True, "std": True},
    {
        "rand_crop": True,
        "rand_resize": True,
        "brightness": 0.1,
        "contrast": 0.2,
        "saturation": 0.3,
        "hue": 0.1,
        "pca_noise": 0.1,
        "rand_gray": 0.2,
        "inter_method": 1,
    },
)


def created(mx, folder):
    for number, options in enumerate(CREATED):
        steps = mx.image.CreateAugmenter((3, 6, 8), **options)
        yield f"steps {number}", text([step.dumps() for step in steps])
        for seed in range(2):
            seeded(seed)
            source = mx.nd.array(picture(12, 15), dtype="uint8")
            for step in steps:
                source = step(source)
            yield f"created {number} {seed}", source


DET_CREATED = (
    {},
    {"resize": 10, "rand_crop": 0.8, "rand_pad": 0.8, "rand_mirror": True, "mean": True},
    {
        "rand_crop": 1,
        "min_object_covered": [0.2, 0.5],
        "rand_gray": 0.5,
        "brightness": 0.1,
        "pca_noise": 0.1,
        "hue": 0.1,
        "std": True,
    },
)


def detection(mx, folder):
    image = mx.image
    made = {
        "flip": image.DetHorizontalFlipAug(0.5),
        "crop": image.DetRandomCropAug(),
        "strict crop": image.DetRandomCropAug(0.6, (0.5, 2), (0.3, 0.9), 0.5, 20),
        "pad": image.DetRandomPadAug(),
        "wide pad": image.DetRandomPadAug((0.5, 2), (1, 5), 20, (7, 8, 9)),
        "borrow": image.DetBorrowAug(image.CastAug()),
        "select": image.DetRandomSelectAug([image.DetHorizontalFlipAug(1)], 0.4),
    }
    for name, augmenter in made.items():
        yield f"{name} dumps", text(augmenter.dumps())
        for seed in range(4):
            seeded(seed)
            source, label = augmenter(mx.nd.array(picture(12, 15), dtype="uint8"), LABEL.copy())
            yield f"{name} image {seed}", source
            yield f"{name} label {seed}", label
    for number, options in enumerate(DET_CREATED):
        steps = image.CreateDetAugmenter((3, 6, 8), **options)
        yield f"steps {number}", text([step.dumps() for step in steps])
        for seed in range(2):
            seeded(seed)
            source, label = mx.nd.array(picture(12, 15), dtype="uint8"), LABEL.copy()
            for step in steps:
                source, label = step(source, label)
            yield f"created {number} image {seed}", source
            yield f"created {number} label {seed}", label


# --- iterators -----------------------------------------------------------------------------------

COUNT = 7


def write_files(mx, folder, labels=None):
    """A RecordIO file of seven pictures with its index, the pictures, and a list file."""
    paths = {name: os.path.join(folder, f"pictures.{name}") for name in ("rec", "idx", "lst")}
    records = mx.recordio.MXIndexedRecordIO(paths["idx"], paths["rec"], "w")
    with open(paths["lst"], "w") as lines:
        for number in range(COUNT):
            content = png(picture(12 + number % 3, 15 - number % 2, number))
            label = float(10 * number) if labels is None else labels[number]
            header = mx.recordio.IRHeader(0, label, number + 100, 0)
            records.write_idx(number, mx.recordio.pack(header, content))
            with open(os.path.join(folder, f"{number}.png"), "wb") as file:
                file.write(content)
            listed = "\t".join(map(str, np.atleast_1d(label)))
            lines.write(f"{number + 100}\t{listed}\t{number}.png\n")
    records.close()
    return paths


def batches(iterator, pads=True, epochs=2):
    """Data, labels and pads of some epochs.

    Without pads for 'roll_over', where MXNet reports a pad for full batches.
    """
    for epoch in range(epochs):
        for number, batch in enumerate(iterator):
            yield f"{epoch} {number} data", batch.data[0]
            yield f"{epoch} {number} label", batch.label[0]
            if pads:
                yield f"{epoch} {number} pad", [batch.pad]
        iterator.reset()


def image_iter(mx, folder):
    paths = write_files(mx, folder)
    made = {
        "records": {"path_imgrec": paths["rec"]},
        "shuffled": {"path_imgrec": paths["rec"], "path_imgidx": paths["idx"], "shuffle": True},
        "part": {
            "path_imgrec": paths["rec"],
            "path_imgidx": paths["idx"],
            "num_parts": 2,
            "part_index": 1,
        },
        "list": {"path_imglist": paths["lst"], "path_root": folder},
        "given": {"imglist": [[1.0, "0.png"], [2.0, "1.png"], [3.0, "2.png"]], "path_root": folder},
    }
    for handle in ("pad", "discard", "roll_over"):
        for name, options in made.items():
            seeded()
            iterator = mx.image.ImageIter(3, (3, 6, 8), last_batch_handle=handle, **options)
            for what, array in batches(iterator, pads=handle != "roll_over"):
                yield f"{name} {handle} {what}", array


def det_labels():
    return [
        np.concatenate([[2, 5], LABEL[: 1 + number % 2].ravel() * 0.9 ** (number + 1)])
        for number in range(COUNT)
    ]


def image_det_iter(mx, folder):
    paths = write_files(mx, folder, det_labels())
    for handle in ("pad", "roll_over"):
        seeded()
        iterator = mx.image.ImageDetIter(
            3, (3, 6, 8), path_imgrec=paths["rec"], last_batch_handle=handle, rand_mirror=True
        )
        yield f"shape {handle}", iterator.label_shape
        for what, array in batches(iterator, pads=handle != "roll_over"):
            yield f"{handle} {what}", array


RECORD_OPTIONS = {
    "plain": {},
    "resize": {"resize": 7},
    "enlarged": {"data_shape": (3, 18, 17)},
    "normalised": {
        "mean_r": 10,
        "mean_g": 20,
        "mean_b": 30,
        "std_r": 2,
        "std_g": 3,
        "std_b": 4,
        "scale": 0.5,
    },
    "mean image": {"mean_img": True, "scale": 0.5, "std_g": 4},
    "mirror": {"mirror": True},
    "gray": {"data_shape": (1, 6, 8)},
    "pad": {"pad": 4, "fill_value": 9, "data_shape": (3, 14, 16)},
    "rotate": {"rotate": 30},
    "scale": {"min_random_scale": 1.5, "max_random_scale": 1.5},
    "shrink": {"min_random_scale": 0.7, "max_random_scale": 0.7, "fill_value": 0},
    "sides": {"max_img_size": 13, "min_img_size": 13},
    "ratio": {"min_aspect_ratio": 1.5, "max_aspect_ratio": 1.5},
    "square": {"min_crop_size": 9, "max_crop_size": 9},
    "by size": {"resize": 7, "inter_method": 9},
    "part": {"num_parts": 3, "part_index": 1, "batch_size": 1},
    "indexed part": {"num_parts": 3, "part_index": 2, "batch_size": 1, "idx": True},
}


def record_iter(mx, folder, maker="ImageRecordIter", chosen=tuple(RECORD_OPTIONS), **more):
    paths = write_files(mx, folder)
    for name in chosen:
        options = {"data_shape": (3, 6, 8), "batch_size": 3, **RECORD_OPTIONS[name], **more}
        if options.pop("idx", False):
            options["path_imgidx"] = paths["idx"]
        if options.get("mean_img"):
            options["mean_img"] = os.path.join(folder, "mean.nd")
            mx.nd.save(options["mean_img"], {"mean_img": mx.nd.arange(144).reshape((3, 6, 8))})
        iterator = getattr(mx.io, maker)(
            path_imgrec=paths["rec"], preprocess_threads=2, verbose=False, **options
        )
        described = (*iterator.provide_data, *iterator.provide_label)
        yield f"{name} shapes", text([list(one.shape) for one in described])
        for what, array in batches(iterator):
            yield f"{name} {what}", array


def raw_record_iters(mx, folder):
    for maker in ("ImageRecordUInt8Iter", "ImageRecordInt8Iter"):
        for name, array in record_iter(mx, folder, maker, ("plain", "gray")):
            yield f"{maker} {name}", array


DET_RECORD_OPTIONS = {
    "plain": {},
    "padded": {"label_pad_width": 14, "label_pad_value": -7},
    "mirror": {"rand_mirror_prob": 1},
    "resize": {"resize": 9},
    "shrink": {"resize_mode": "shrink", "data_shape": (3, 13, 30)},
    "fit": {"resize_mode": "fit"},
    "enlarged fit": {"resize_mode": "fit", "data_shape": (3, 20, 20)},
    "normalised": {"mean_r": 3, "mean_g": 4, "std_g": 2, "std_b": 4, "scale": 0.5},
}


def det_record_iter(mx, folder):
    paths = write_files(mx, folder, det_labels())
    for name, options in DET_RECORD_OPTIONS.items():
        options = {"data_shape": (3, 6, 8), "batch_size": 3, **options}
        iterator = mx.io.ImageDetRecordIter(
            path_imgrec=paths["rec"], preprocess_threads=2, verbose=False, **options
        )
        described = (*iterator.provide_data, *iterator.provide_label)
        yield f"{name} shapes", text([list(one.shape) for one in described])
        for what, array in batches(iterator, epochs=1):
            yield f"{name} {what}", array


GROUPS = (
    functions,
    rotations,
    augmenters,
    created,
    detection,
    image_iter,
    image_det_iter,
    record_iter,
    det_record_iter,
    raw_record_iters,
)


def answers(mx, group):
    """The arrays of a group by name."""
    with tempfile.TemporaryDirectory() as folder:
        return {
            f"{group.__name__} {name}": value.asnumpy()
            if hasattr(value, "asnumpy")
            else np.asarray(value)
            for name, value in group(mx, folder)
        }


def golden():
    """The content of image_golden.npz: arrays by name."""
    with np.load(GOLDEN) as file:
        index, content = json.loads(file["index"].tobytes()), file["content"].tobytes()
    actual, start = {}, 0
    for name, dtype, stored, shape in index:
        array = np.frombuffer(content, stored, int(np.prod(shape)), start).reshape(shape)
        actual[name], start = array.astype(dtype), start + array.nbytes
    return actual


def main():
    import mxnet

    collected = {}
    for group in GROUPS:
        collected.update(answers(mxnet, group))
    index, content = [], b""
    for name, array in collected.items():
        with np.errstate(invalid="ignore"):
            stored = array.astype(np.uint8)
        stored = stored if (stored == array).all() else array
        index.append([name, array.dtype.name, stored.dtype.name, array.shape])
        content += stored.tobytes()
    np.savez_compressed(GOLDEN, index=text(index), content=np.frombuffer(content, np.uint8))


if __name__ == "__main__":
    main()
