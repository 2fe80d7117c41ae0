"""Create list files of images, and RecordIO files of the images in list files.

    python -m mxcy.tools.im2rec --list --recursive data/pets images/  # writes data/pets.lst
    python -m mxcy.tools.im2rec --resize 256 data/pets images/        # data/pets.rec and .idx

A list file has one tab-separated line per image: number, labels and path.
"""

import argparse
import os
import random
import sys
from collections import deque
from concurrent.futures import ThreadPoolExecutor

import numpy as np

from mxcy import recordio
from mxcy._base.files import replacing
from mxcy._library.opencv import opencv

__all__ = ["main"]

try:
    from tqdm import tqdm
except ImportError:  # only shows progress

    def tqdm(steps, **_):
        return steps


ENDINGS = [".jpeg", ".jpg", ".png"]


def _list_images(root, recursive, exts):
    """Yield (number, relative path, label) of all images; with `recursive`, folders are labels."""
    if not recursive:
        names = [name for name in sorted(os.listdir(root)) if _is_image(root, name, exts)]
        yield from ((number, name, 0) for number, name in enumerate(names))
        return
    labels, number = {}, 0
    for folder, folders, files in os.walk(root, followlinks=True):
        folders.sort()
        for name in sorted(files):
            if _is_image(folder, name, exts):
                label = labels.setdefault(folder, len(labels))
                yield number, os.path.relpath(os.path.join(folder, name), root), label
                number += 1
    for folder, label in labels.items():
        print(os.path.relpath(folder, root), label)


def _is_image(folder, name, exts):
    ending = os.path.splitext(name)[1].lower()
    return ending in exts and os.path.isfile(os.path.join(folder, name))


def _write_list(path, images):
    """Write a list file of (number, path, label, ...)."""
    with replacing(path) as file:
        for number, name, *labels in images:
            fields = [str(number), *(f"{label:f}" for label in labels), name]
            file.write(os.fsencode("\t".join(fields) + "\n"))


def _make_lists(args):
    """Write the list files requested by the command line."""
    images = list(_list_images(args.root, args.recursive, args.exts))
    if args.shuffle:
        random.seed(100)
        random.shuffle(images)
    size = -(-len(images) // args.chunks)
    for part in range(args.chunks):
        chunk = images[part * size : (part + 1) * size]
        prefix = args.prefix + (f"_{part}" if args.chunks > 1 else "")
        if args.train_ratio == 1.0:
            _write_list(prefix + ".lst", chunk)
            continue
        test = int(size * args.test_ratio)
        train = test + int(size * args.train_ratio)
        if args.test_ratio:
            _write_list(prefix + "_test.lst", chunk[:test])
        if args.train_ratio + args.test_ratio < 1.0:
            _write_list(prefix + "_val.lst", chunk[train:])
        _write_list(prefix + "_train.lst", chunk[test:train])


def _read_list(path):
    """Yield (number, path, labels) of a list file; malformed lines are reported."""
    with open(path, encoding=sys.getfilesystemencoding(), errors="surrogateescape") as file:
        for line in file:
            fields = [field.strip() for field in line.strip().split("\t")]
            try:
                number, *labels, name = fields
                number, labels = int(number), [float(label) for label in labels]
            except ValueError as error:
                print(
                    f"{path}: {line!r} is not a number, labels and path: {error}", file=sys.stderr
                )
                continue
            if labels:
                yield number, name, labels
            else:
                print(f"{path}: {line!r} has no label", file=sys.stderr)


def _record_of(args, number, name, labels):
    """Create the record of an image; report it and return None if it cannot be read."""
    path = os.path.join(args.root, name)
    label = labels if args.pack_label and len(labels) > 1 else labels[0]
    header = recordio.IRHeader(0, label, number, 0)
    try:
        with open(path, "rb") as file:
            content = file.read()
    except OSError as error:
        print(f"{path}: {error.strerror}", file=sys.stderr)
        return None
    if args.pass_through:
        return recordio.pack(header, content)
    pixels = None
    if content:  # decoded from memory, because paths may not be valid text
        pixels = opencv("im2rec").imdecode(np.frombuffer(content, np.uint8), args.color)
    if pixels is None:
        print(f"{path} is not an image that OpenCV can read", file=sys.stderr)
        return None
    pixels = _fitted(pixels, args.center_crop, args.resize)
    return recordio.pack_img(header, pixels, quality=args.quality, img_fmt=args.encoding)


def _fitted(pixels, center_crop, resize):
    """Crop the central square and resize the shorter side, if requested."""
    height, width = pixels.shape[:2]
    if center_crop:
        size = min(height, width)
        top, left = (height - size) // 2, (width - size) // 2
        pixels = pixels[top : top + size, left : left + size]
        height, width = size, size
    if not resize:
        return pixels
    if height > width:
        return opencv("im2rec").resize(pixels, (resize, height * resize // width))
    return opencv("im2rec").resize(pixels, (width * resize // height, resize))


def _ahead(function, items, threads):
    """Yield ``function(item)`` in order, computed ahead by threads."""
    with ThreadPoolExecutor(threads) as pool:
        waiting = deque()
        for item in items:
            waiting.append(pool.submit(function, item))
            if len(waiting) > 4 * threads:
                yield waiting.popleft().result()
        while waiting:
            yield waiting.popleft().result()


def _make_records(args, path):
    """Write the RecordIO file and the index of a list file."""
    base = os.path.splitext(path)[0]
    images = list(_read_list(path))
    records = _ahead(lambda image: (image[0], _record_of(args, *image)), images, args.num_thread)
    output = recordio.MXIndexedRecordIO(base + ".idx", base + ".rec", "w")
    written = 0
    for number, record in tqdm(records, total=len(images), unit="img", disable=None):
        if record is not None:
            output.write_idx(number, record)
            written += 1
    output.close()
    print(f"{base}.rec: {written} of {len(images)} images")


def _arguments(argv=None):
    """Parse the command line."""
    parser = argparse.ArgumentParser(
        formatter_class=argparse.ArgumentDefaultsHelpFormatter,
        description="Make a list of images, or a RecordIO file of the images in a list",
    )
    add = parser.add_argument
    add("prefix", help="prefix of the list and record files")
    add("root", help="the folder of the images")
    lists = parser.add_argument_group("lists").add_argument
    lists("--list", action="store_true", help="create list files instead of record files")
    lists("--exts", nargs="+", default=ENDINGS, help="file extensions of images")
    lists("--chunks", type=int, default=1, help="number of list files")
    lists("--train-ratio", type=float, default=1.0, help="fraction of the images for training")
    lists("--test-ratio", type=float, default=0, help="fraction of the images for testing")
    lists(
        "--recursive",
        action="store_true",
        help="include all folders below root; each folder is a label",
    )
    lists("--no-shuffle", dest="shuffle", action="store_false", help="keep the images in order")
    records = parser.add_argument_group("records").add_argument
    records("--pass-through", action="store_true", help="store files unchanged")
    records("--resize", type=int, default=0, help="resize the shorter side to this")
    records("--center-crop", action="store_true", help="crop the central square")
    records(
        "--quality", type=int, default=95, help="JPEG quality, 1 to 100; PNG compression, 0 to 9"
    )
    records("--num-thread", type=int, default=1, help="number of threads")
    records(
        "--color", type=int, default=1, choices=[-1, 0, 1], help="1 color, 0 gray, -1 unchanged"
    )
    records("--encoding", default=".jpg", choices=[".jpg", ".png"], help="of the images")
    records("--pack-label", action="store_true", help="store all labels instead of the first")
    args = parser.parse_args(argv)
    args.prefix, args.root = os.path.abspath(args.prefix), os.path.abspath(args.root)
    return args


def main(argv=None):
    """Run the program.

    Parameters
    ----------
    argv : list of str, optional
        Command line; by default that of this process.
    """
    args = _arguments(argv)
    if args.list:
        if not os.path.isdir(args.root):
            sys.exit(f"there is no folder {args.root}")
        _make_lists(args)
        return
    folder = args.prefix if os.path.isdir(args.prefix) else os.path.dirname(args.prefix)
    paths = (os.path.join(folder, name) for name in sorted(os.listdir(folder)))
    lists = [path for path in paths if path.startswith(args.prefix) and path.endswith(".lst")]
    if not lists:
        sys.exit(f"there is no list file {args.prefix}*.lst: make one with --list")
    for path in lists:
        _make_records(args, path)


if __name__ == "__main__":
    main()
