"""Damaged RecordIO files and indices, read in every way."""

import tempfile
from pathlib import Path

import numpy as np

import mxcy as mx
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 300
_made = {}


def prepare():
    """Write records of images with one label and with several."""
    folder = Path(tempfile.mkdtemp(prefix="fuzz"))
    rng = np.random.RandomState(0)
    writer = mx.recordio.MXIndexedRecordIO(str(folder / "a.idx"), str(folder / "a.rec"), "w")
    for i in range(6):
        label = float(i) if i % 2 else [4, 5, 1, 0.1, 0.2, 0.7, 0.8][: 2 + i]
        pixels = rng.randint(0, 255, (12, 10, 3)).astype(np.uint8)
        header = mx.recordio.IRHeader(0, label, i, 0)
        writer.write_idx(i, mx.recordio.pack_img(header, pixels, img_fmt=".png"))
    writer.close()
    _made.update(
        folder=folder, rec=(folder / "a.rec").read_bytes(), idx=(folder / "a.idx").read_bytes()
    )


def case(seed):
    """Read damaged files in one of several ways."""
    rng = generator(seed)
    rec, idx = _made["rec"], _made["idx"]
    if rng.random() < 0.75:
        rec = damaged(rec, rng)
    if rng.random() < 0.4:
        idx = damaged(idx, rng)
    paths = [_made["folder"] / name for name in ("b.rec", "b.idx")]
    paths[0].write_bytes(rec)
    paths[1].write_bytes(idx)
    with expected():
        rng.choice(_WAYS)(*map(str, paths))


def _sequential(rec, idx):
    reader = mx.recordio.MXRecordIO(rec, "r")
    while (record := reader.read()) is not None:
        with expected():
            mx.recordio.unpack(record)
        with expected():
            mx.recordio.unpack_img(record)


def _indexed(rec, idx):
    reader = mx.recordio.MXIndexedRecordIO(idx, rec, "r")
    for key in reader.keys[:50]:
        with expected():
            mx.recordio.unpack(reader.read_idx(key))


def _dataset(rec, idx):
    data = mx.gluon.data.vision.ImageRecordDataset(rec)
    for i in range(min(len(data), 10)):
        with expected():
            data[i]


def _iterator(rec, idx):
    batches = mx.io.ImageRecordIter(
        path_imgrec=rec,
        path_imgidx=idx,
        data_shape=(3, 8, 8),
        batch_size=2,
        label_width=-1,
        preprocess_threads=1,
        prefetch_buffer=1,
    )
    for batch in batches:
        batch.data[0].wait_to_read()


def _boxes(rec, idx):
    batches = mx.io.ImageDetRecordIter(
        path_imgrec=rec, data_shape=(3, 8, 8), batch_size=2, preprocess_threads=1, prefetch_buffer=1
    )
    for batch in batches:
        batch.data[0].wait_to_read()


def _image_iter(rec, idx):
    for batch in mx.image.ImageIter(2, (3, 8, 8), path_imgrec=rec, path_imgidx=idx):
        batch.data[0].wait_to_read()


_WAYS = (_sequential, _sequential, _indexed, _dataset, _iterator, _boxes, _image_iter)
