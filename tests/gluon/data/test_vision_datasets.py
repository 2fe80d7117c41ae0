"""Published data sets, read from files created here."""

import gzip
import hashlib
import io
import struct
import tarfile

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import DataLoader
from mxcy.gluon.data.vision import CIFAR10, CIFAR100, MNIST, FashionMNIST

DIGITS = np.random.RandomState(0).randint(0, 256, (6, 28, 28), "uint8")
LABELS = np.array([3, 1, 4, 1, 5, 9], "uint8")
PICTURES = np.random.RandomState(1).randint(0, 256, (4, 32, 32, 3), "uint8")


def idx(array):
    return struct.pack(f">HBB{array.ndim}I", 0, 8, array.ndim, *array.shape) + array.tobytes()


def records(*labels):
    planes = PICTURES.transpose(0, 3, 1, 2).reshape(4, -1)
    return np.hstack([*(np.array(column, "uint8")[:, None] for column in labels), planes]).tobytes()


def archive(files, folder=""):
    memory = io.BytesIO()
    with tarfile.open(fileobj=memory, mode="w:gz") as tar:
        for name, content in files.items():
            member = tarfile.TarInfo(folder + name)
            member.size = len(content)
            tar.addfile(member, io.BytesIO(content))
    return memory.getvalue()


def sha1(content):
    return hashlib.sha1(content).hexdigest()


@pytest.fixture
def mirror(tmp_path, monkeypatch):
    """A function that puts files into a mirror; MXNET_HOME is empty."""
    monkeypatch.setenv("MXNET_HOME", str(tmp_path / "home"))
    monkeypatch.setenv("MXNET_GLUON_REPO", str(tmp_path / "mirror"))

    def put(collection, **files):
        folder = tmp_path / "mirror" / "gluon" / "dataset" / collection
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            (folder / name).write_bytes(content)

    return put


@pytest.mark.parametrize("cls", [MNIST, FashionMNIST])
@pytest.mark.parametrize("train", [True, False])
def test_digits_are_fetched_once(mirror, monkeypatch, cls, train):
    names = [name for name, _ in cls._published[train]]
    contents = [gzip.compress(idx(DIGITS)), gzip.compress(idx(LABELS))]
    table = {train: tuple((n, sha1(c)) for n, c in zip(names, contents, strict=True))}
    monkeypatch.setattr(cls, "_published", table)
    mirror(cls._name, **dict(zip(names, contents, strict=True)))
    data = cls(train=train)
    assert len(data) == 6
    image, label = data[4]
    assert isinstance(image, mx.nd.NDArray) and image.dtype == np.uint8
    assert (image.asnumpy()[..., 0] == DIGITS[4]).all() and image.shape == (28, 28, 1)
    assert label == 5 and label.dtype == np.int32
    mirror(cls._name, **dict.fromkeys(names, b""))
    again = cls(train=train, transform=lambda image, label: (image.astype("float32") / 255, -label))
    image, label = again[0]
    assert image.dtype == np.float32 and label == -3


def test_user_supplied_files(mirror, tmp_path):
    for name, content in (("images-idx3", DIGITS), ("labels-idx1", LABELS)):
        (tmp_path / f"train-{name}-ubyte").write_bytes(idx(content))
    with pytest.warns(UserWarning, match="is not the published file"):
        data = MNIST(str(tmp_path))
    assert (data[1][0].asnumpy()[..., 0] == DIGITS[1]).all()
    for images, labels in DataLoader(data, 3, num_workers=1):
        assert images.shape == (3, 28, 28, 1) and labels.dtype == np.int32


def test_missing_files_are_named(mirror, tmp_path):
    with pytest.raises(mx.MXNetError, match=r"train-images.*\(SHA-1 6c95f4b0.*MXNET_GLUON_REPO"):
        MNIST()
    with pytest.raises(mx.MXNetError, match="cifar-10-binary.tar.gz.*cannot be fetched"):
        CIFAR10()
    (tmp_path / "train-images-idx3-ubyte").write_bytes(idx(DIGITS)[:-1])
    with (
        pytest.warns(UserWarning, match="not the published"),
        pytest.raises(mx.MXNetError, match="ends before the last"),
    ):
        MNIST(str(tmp_path))


@pytest.mark.parametrize("folder", ["", "cifar-10-batches-bin/"])
def test_cifar_10(mirror, monkeypatch, folder):
    parts = {f"data_batch_{i}.bin": records([i, i, i, i]) for i in range(1, 6)}
    packed = archive({**parts, "test_batch.bin": records([7, 8, 9, 0])}, folder)
    table = {
        True: tuple((name, sha1(content)) for name, content in parts.items()),
        False: (("test_batch.bin", sha1(records([7, 8, 9, 0]))),),
    }
    monkeypatch.setattr(CIFAR10, "_published", table)
    monkeypatch.setattr(CIFAR10, "_archive", ("cifar-10-binary.tar.gz", sha1(packed)))
    mirror("cifar10", **{"cifar-10-binary.tar.gz": packed})
    train = CIFAR10()
    assert len(train) == 20
    assert [int(label) for _, label in train] == [i for i in range(1, 6) for _ in range(4)]
    assert (train[6][0].asnumpy() == PICTURES[2]).all() and train[6][0].shape == (32, 32, 3)
    assert [int(label) for _, label in CIFAR10(train=False)] == [7, 8, 9, 0]


def test_cifar_100(mirror, tmp_path):
    coarse, fine = [1, 2, 3, 4], [10, 20, 30, 40]
    (tmp_path / "test.bin").write_bytes(records(coarse, fine))
    for fine_label, labels in ((False, coarse), (True, fine)):
        with pytest.warns(UserWarning, match="differ from the published ones"):
            data = CIFAR100(str(tmp_path), fine_label=fine_label, train=False)
        assert [int(label) for _, label in data] == labels
        assert (data[3][0].asnumpy() == PICTURES[3]).all()
    (tmp_path / "test.bin").write_bytes(b"123")
    with (
        pytest.warns(UserWarning, match="published"),
        pytest.raises(mx.MXNetError, match="records of 3074 bytes"),
    ):
        CIFAR100(str(tmp_path), train=False)


def test_damaged_archives(mirror, monkeypatch):
    packed = archive({"other.bin": b"1"})
    monkeypatch.setattr(CIFAR100, "_archive", ("cifar-100-binary.tar.gz", sha1(packed)))
    mirror("cifar100", **{"cifar-100-binary.tar.gz": packed})
    with pytest.raises(mx.MXNetError, match=r"does not contain .*train\.bin"):
        CIFAR100()
