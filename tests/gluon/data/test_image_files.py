"""Data sets of images in the user's own files."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.gluon.data import DataLoader, RecordFileDataset
from mxcy.gluon.data.vision import ImageFolderDataset, ImageListDataset, ImageRecordDataset
from tests.image.cases import COUNT, write_files
from tests.image.pictures import picture, png

pytest.importorskip("cv2", reason="images need the extra 'image'")


@pytest.fixture
def paths(tmp_path):
    return write_files(mx, str(tmp_path))


def first():
    return picture(12, 15, 0)


def double(image, label):
    return image.astype("float32") * 2, label + 1


def test_records(paths):
    plain = RecordFileDataset(paths["rec"])
    assert len(plain) == COUNT and plain[0][24:32] == png(first())[:8]
    data = ImageRecordDataset(paths["rec"])
    image, label = data[0]
    assert image.dtype == np.uint8 and label == 0.0
    np.testing.assert_array_equal(image.asnumpy(), first())
    assert data[3][1] == 30.0 and data[1][0].shape == (13, 14, 3)
    assert ImageRecordDataset(paths["rec"], flag=0)[0][0].shape == (12, 15, 1)
    image, label = ImageRecordDataset(paths["rec"], transform=double)[3]
    assert image.dtype == np.float32 and label == 31.0


@pytest.mark.parametrize("workers", [0, 2])
def test_records_go_through_a_loader(paths, workers):
    data = ImageRecordDataset(paths["rec"]).transform_first(lambda image: image[:6, :8])
    actual = [label for _, labels in DataLoader(data, 3, num_workers=workers) for label in labels]
    assert [float(label.asscalar()) for label in actual] == [10.0 * n for n in range(COUNT)]


def test_folders(tmp_path):
    for name in ("b/0.png", "a/1.PNG", "a/0.png"):
        (tmp_path / name).parent.mkdir(exist_ok=True)
        (tmp_path / name).write_bytes(png(first()))
    data = ImageFolderDataset(str(tmp_path))
    assert data.synsets == ["a", "b"] and len(data) == 3
    assert [label for _, label in data.items] == [0, 0, 1]
    image, label = data[2]
    assert label == 1
    np.testing.assert_array_equal(image.asnumpy(), first())
    assert ImageFolderDataset(str(tmp_path), flag=0, transform=double)[0][0].shape == (12, 15, 1)
    (tmp_path / "a/notes.txt").write_text("x")
    (tmp_path / "readme").write_text("x")
    with pytest.warns(UserWarning, match=r"notes\.txt of type \.txt"):
        with pytest.warns(UserWarning, match="readme, which is not a directory"):
            ImageFolderDataset(str(tmp_path))


def test_lists(paths, tmp_path):
    data = ImageListDataset(str(tmp_path), "pictures.lst")
    image, label = data[2]
    assert len(data) == COUNT and label == 20.0
    np.testing.assert_array_equal(image.asnumpy(), picture(14, 15, 2))
    data = ImageListDataset(str(tmp_path), [[1, "0.png"], [[2, 3], "1.png"], [4, 5, "2.png"]])
    assert data[0][1] == 1
    assert data[1][1].tolist() == [2, 3] and data[2][1].tolist() == [4, 5]
    with pytest.raises(ValueError, match="imglist must be"):
        ImageListDataset(str(tmp_path))
    (tmp_path / "bad.lst").write_text("one\ttwo\tthree.png\n")
    with pytest.raises(mx.MXNetError, match="line 1 of .*bad.lst"):
        ImageListDataset(str(tmp_path), "bad.lst")
    with pytest.raises(mx.MXNetError, match="cannot read"):
        ImageListDataset(str(tmp_path), [[1, "none.png"]])[0]
