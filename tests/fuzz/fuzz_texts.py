"""Damaged files of numbers, lists, words and digits."""

import gzip
import json
import logging
import struct
import tempfile
from pathlib import Path

import numpy as np

import mxcy as mx
from mxcy._base import cache_files
from mxcy._execute import trials
from mxcy._machine.tuning.table import Table
from tests.fuzz.damage import damaged, generator
from tests.fuzz.harness import expected

COUNT = 500
_folder = None


def prepare():
    """Make a folder for the files."""
    global _folder
    logging.disable()
    _folder = Path(tempfile.mkdtemp(prefix="fuzz"))


def case(seed):
    """Read one kind of file, or several that belong together."""
    rng = generator(seed)
    rng.choice(_KINDS)(rng)


def _file(name, content, rng, whole=False):
    path = _folder / name
    path.write_bytes(content if whole else damaged(content, rng))
    return str(path)


def _read(batches):
    for batch in batches:
        for array in (*batch.data, *(batch.label or ())):
            array.asnumpy()


def _csv(rng):
    data = _file("a.csv", b"1,2,3\n4,5,6\n7,8,9.5\n-1e3,0,+2\n", rng)
    labels = _file("b.csv", b"1\n0\n1\n2\n", rng, rng.random() < 0.6)
    with expected():
        _read(
            mx.io.CSVIter(
                data, (3,), labels, (1,), 2, dtype=rng.choice((None, "int32", "int64", "float32"))
            )
        )


def _libsvm(rng):
    data = _file("a.svm", b"1 0:1 2:2.5\n0 1:3\n2 0:-1 1:2 2:3\n1\n", rng)
    labels = _file("b.svm", b"0:1 1:2\n1:1\n0:3\n0:1\n", rng, rng.random() < 0.6)
    with expected():
        _read(
            mx.io.LibSVMIter(
                data_libsvm=data,
                data_shape=(3,),
                label_libsvm=labels,
                label_shape=(2,),
                batch_size=2,
            )
        )


def _mnist(rng):
    images = struct.pack(">4I", 0x803, 5, 4, 4) + bytes(range(80))
    labels = struct.pack(">2I", 0x801, 5) + bytes(range(5))
    if rng.random() < 0.3:
        images = gzip.compress(images)
    paths = [
        _file("images", images, rng, rng.random() < 0.3),
        _file("labels", labels, rng, rng.random() < 0.6),
    ]
    with expected():
        _read(mx.io.MNISTIter(image=paths[0], label=paths[1], batch_size=2, silent=True))


def _cifar(rng):
    folder = _folder / "cifar"
    folder.mkdir(exist_ok=True)
    content = damaged(bytes(3073 * 2), rng)
    for name in (
        "data_batch_1.bin",
        "data_batch_2.bin",
        "data_batch_3.bin",
        "data_batch_4.bin",
        "data_batch_5.bin",
        "test_batch.bin",
    ):
        (folder / name).write_bytes(content)
    with expected():
        data = mx.gluon.data.vision.CIFAR10(str(folder), train=rng.random() < 0.5)
        for i in range(min(len(data), 3)):
            data[i]


def _embedding(rng):
    path = _file("a.vec", b"the 1 2 3\nof 4 5 6\n<unk> 0 0 1\nand -1 1e2 .5\n", rng)
    with expected():
        mx.contrib.text.embedding.CustomEmbedding(path)


def _lists(rng):
    image = np.zeros((4, 4, 3), np.uint8)
    import cv2

    (_folder / "x.png").write_bytes(cv2.imencode(".png", image)[1].tobytes())
    path = _file("a.lst", b"0\t1\tx.png\n1\t2\tx.png\n2\t0.5\tx.png\n", rng)
    with expected(OSError):  # missing images
        if rng.random() < 0.5:
            data = mx.gluon.data.vision.ImageListDataset(str(_folder), path)
            for i in range(min(len(data), 3)):
                data[i]
        else:
            _read(mx.image.ImageIter(1, (3, 4, 4), path_imglist=path, path_root=str(_folder)))


def _network(rng):
    net = mx.gluon.nn.HybridSequential()
    net.add(*(mx.gluon.nn.Dense(2, in_units=2) for _ in range(3)))
    net.initialize()
    net.hybridize()
    net(mx.nd.ones((1, 2)))
    prefix = str(_folder / "net")
    net.save(prefix)
    path = Path(f"{prefix}-model.json")
    path.write_bytes(damaged(path.read_bytes(), rng))
    with expected(ValueError):  # the graph may be one for other inputs
        net.load(prefix)
        net(mx.nd.ones((1, 2))).asnumpy()


def _buckets(rng):
    x = mx.sym.FullyConnected(mx.sym.var("data"), num_hidden=2, name="fc")
    text = json.loads(x.tojson())
    path = _file("net-symbol.json", json.dumps(text).encode(), rng)
    mx.nd.save(str(_folder / "net-0001.params"), {"arg:fc_weight": mx.nd.ones((2, 3))})
    prefix = path.removesuffix("-symbol.json")
    with expected():
        mx.model.load_checkpoint(prefix, 1)
    with expected(AssertionError):  # MXNet's error for other parameters
        mx.gluon.SymbolBlock.imports(path, ["data"], f"{prefix}-0001.params", allow_missing=True)


def _caches(rng):
    algorithms = {"4/8/2": {"conv [1, 2]": ["conv_blocked", 0], "other": ["conv_winograd", 96]}}
    path = _file("algorithms.json", json.dumps(algorithms).encode(), rng)
    contents, usable = cache_files.read(path, trials._well_formed)
    assert usable or not contents
    table = Table(2, persistent=False)
    table.regions, table.rates = {2: 900.5}, {"exp float32": {"in": [0.5, 0.25, 3]}}
    table.path = _file("table.json", table.text().encode(), rng)
    table._add(table._read())
    assert all(table.region(None) >= 0 for _ in table.regions if 2 in table.regions)
    json.dumps(table.contents())


def _library(rng):
    path = _file("operators.so", b"#!/bin/sh\necho no library\n", rng)
    with expected():
        mx.library.load(path, verbose=False)


_KINDS = (
    _csv,
    _csv,
    _libsvm,
    _mnist,
    _cifar,
    _embedding,
    _lists,
    _network,
    _buckets,
    _caches,
    _library,
)
