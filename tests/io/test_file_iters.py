"""CSVIter and MNISTIter read as real MXNet 1.9.1 does."""

import gzip
import logging
import struct

import numpy as np
import pytest

import mxcy as mx


@pytest.fixture
def lines(tmp_path):
    """Files with seven lines of two numbers, and of one label."""
    data, label = tmp_path / "data.csv", tmp_path / "label.csv"
    np.savetxt(data, np.arange(14).reshape(7, 2), delimiter=",", fmt="%g")
    np.savetxt(label, np.arange(7) * 10, fmt="%g")
    return str(data), str(label)


def rows(iterator):
    return [(batch.index.tolist(), batch.pad) for batch in iterator]


def test_a_rounded_batch_shortens_the_next_epoch(lines):
    iterator = mx.io.CSVIter(data_csv=lines[0], data_shape=(2,), batch_size=3)
    assert iterator and len(iterator) == 3
    assert rows(iterator) == [([0, 1, 2], 0), ([3, 4, 5], 0), ([6, 0, 1], 2)]
    iterator.reset()
    assert len(iterator) == 2
    assert rows(iterator) == [([2, 3, 4], 0), ([5, 6, 0], 1)]


def test_without_rounding_every_epoch_begins_at_the_first_line(lines):
    iterator = mx.io.CSVIter(
        data_csv=lines[0], data_shape="(2,)", label_csv=lines[1], batch_size=3, round_batch=False
    )
    for _ in range(2):
        *_, last = iterator
        assert last.data[0].asnumpy().tolist() == [[12, 13], [8, 9], [10, 11]]
        assert last.label[0].asnumpy().tolist() == [60, 40, 50] and last.pad == 2
        iterator.reset()


def test_parts_of_lines(lines):
    def part(index, count):
        iterator = mx.io.CSVIter(
            lines[0], (2,), lines[1], batch_size=1, num_parts=count, part_index=index
        )
        return [batch.label[0].asscalar() for batch in iterator]

    assert [part(i, 3) for i in range(3)] == [[0, 10], [20, 30], [40, 50, 60]]
    with pytest.raises(mx.MXNetError, match="part_index must be from 0 to num_parts - 1 = 1"):
        part(2, 2)


def test_shapes_names_and_types(lines):
    iterator = mx.io.CSVIter(
        data_csv=lines[0],
        data_shape=(1, 2),
        label_csv=lines[1],
        label_shape=(1,),
        batch_size=3,
        dtype="int32",
        data_name="x",
        label_name="y",
    )
    assert iterator.provide_data == [("x", (3, 1, 2))]
    assert iterator.provide_label == [("y", (3,))]
    assert isinstance(iterator, mx.io.MXDataIter)
    assert iterator.iter_next()
    assert iterator.getdata().dtype == np.int32
    assert iterator.getlabel().asnumpy().tolist() == [0, 10, 20]


def test_several_files_and_no_labels(lines):
    iterator = mx.io.CSVIter(data_csv=f"{lines[0]};{lines[0]}", data_shape=(2,), batch_size=14)
    batch = next(iterator)
    assert batch.data[0].shape == (14, 2) and batch.label[0].asnumpy().tolist() == [0] * 14


def test_skipping_the_load_repeats_the_first_batch(lines):
    iterator = mx.io.CSVIter(data_csv=lines[0], data_shape=(2,), batch_size=3)
    iterator.debug_skip_load()
    first = next(iterator)
    assert all(next(iterator) is first for _ in range(5))


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data_csv": "none.csv", "data_shape": (2,), "batch_size": 1}, "cannot read none.csv"),
        ({"data_shape": (3,), "batch_size": 1}, "do not match size of shape"),
        ({"data_shape": (2,)}, "batch_size"),
        ({"data_shape": (2,), "batch_size": 1, "dtype": "int8"}, "dtype must be one of"),
    ],
)
def test_csv_refusals(lines, options, message):
    with pytest.raises(mx.MXNetError, match=message):
        mx.io.CSVIter(**{"data_csv": lines[0], **options})


def test_csv_refuses_text(tmp_path):
    (tmp_path / "words.csv").write_text("one,two\n")
    with pytest.raises(mx.MXNetError, match="is not a table of float32"):
        mx.io.CSVIter(data_csv=str(tmp_path / "words.csv"), data_shape=(2,), batch_size=1)


def write_idx(path, array):
    header = struct.pack(f">4B{array.ndim}I", 0, 0, 8, array.ndim, *array.shape)
    path.write_bytes(header + array.astype(np.uint8).tobytes())


@pytest.fixture
def digits(tmp_path):
    """Ten images of 2 x 2 points with the labels 0 to 9."""
    image, label = tmp_path / "image", tmp_path / "label"
    write_idx(image, np.arange(10)[:, None, None] * 10 + np.arange(4).reshape(2, 2))
    write_idx(label, np.arange(10))
    return {"image": str(image), "label": str(label)}


def labels(iterator):
    return [int(v) for batch in iterator for v in batch.label[0].asnumpy()]


# Orders of real MXNet 1.9.1.
@pytest.mark.parametrize(
    ("seed", "batch_size", "order"),
    [(0, 3, [0, 2, 3, 5, 9, 1, 6, 8, 4]), (7, 4, [2, 4, 5, 3, 8, 7, 6, 1])],
)
def test_shuffled_digits_come_in_the_order_of_real_mxnet(digits, seed, batch_size, order):
    iterator = mx.io.MNISTIter(**digits, batch_size=batch_size, seed=seed)
    assert len(iterator) == len(list(iterator))
    iterator.reset()
    for _ in range(2):
        assert labels(iterator) == order
        iterator.reset()


def test_images_are_between_0_and_1(digits):
    batch = next(mx.io.MNISTIter(**digits, batch_size=2, shuffle=False))
    expected = (np.array([[0, 1, 2, 3], [10, 11, 12, 13]]) / 256).reshape(2, 1, 2, 2)
    np.testing.assert_array_equal(batch.data[0].asnumpy(), expected)
    flat = next(mx.io.MNISTIter(**digits, batch_size=2, shuffle=False, flat=True))
    np.testing.assert_array_equal(flat.data[0].asnumpy(), expected.reshape(2, 4))


def test_parts(digits):
    parts = [
        labels(mx.io.MNISTIter(**digits, batch_size=1, shuffle=False, num_parts=3, part_index=i))
        for i in range(3)
    ]
    assert parts == [[0, 1, 2], [3, 4, 5], [6, 7, 8, 9]]


def test_compressed_files(digits, tmp_path):
    for name, path in digits.items():
        with open(path, "rb") as file, gzip.open(tmp_path / f"{name}.gz", "wb") as target:
            target.write(file.read())
    iterator = mx.io.MNISTIter(
        image=str(tmp_path / "image.gz"),
        label=str(tmp_path / "label.gz"),
        batch_size=5,
        shuffle=False,
    )
    assert labels(iterator) == list(range(10))


def test_verbose_reports_files_read(digits, caplog):
    with caplog.at_level(logging.INFO):
        mx.io.MNISTIter(**digits, batch_size=5)
        mx.io.MNISTIter(**digits, batch_size=5, silent=True)
    assert caplog.messages == ["MNISTIter: load 10 images, shuffle=1, shape=(5, 1, 2, 2)"]


def test_mnist_refusals(digits, tmp_path):
    with pytest.raises(mx.MXNetError, match="part_index must be from 0"):
        mx.io.MNISTIter(**digits, num_parts=2, part_index=2)
    with pytest.raises(mx.MXNetError, match="cannot read"):
        mx.io.MNISTIter(image="none", label=digits["label"])
    with pytest.raises(mx.MXNetError, match="not a file of bytes in 3 dimensions"):
        mx.io.MNISTIter(image=digits["label"], label=digits["label"])
    write_idx(tmp_path / "few", np.arange(3))
    with pytest.raises(mx.MXNetError, match="10 images, but 3 labels"):
        mx.io.MNISTIter(image=digits["image"], label=str(tmp_path / "few"))
    short = tmp_path / "short"
    short.write_bytes((tmp_path / "image").read_bytes()[:-1])
    with pytest.raises(mx.MXNetError, match="ends before the last"):
        mx.io.MNISTIter(image=str(short), label=digits["label"])
