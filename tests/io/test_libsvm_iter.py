"""LibSVMIter yields the csr batches of real MXNet 1.9.1."""

import numpy as np
import pytest

import mxcy as mx
from mxcy.io import libsvm_lines

ROWS = [[1, 0, 2.5, 0], [0, 3, 0, 0], [0, 0, 0, 0], [5, 0, 0, 4], [0, 0, 7, 0]]
LABELS = [1, 0, 2, 3, -1]


@pytest.fixture
def lines(tmp_path):
    data, label = tmp_path / "data.t", tmp_path / "label.t"
    data.write_text("1 0:1 2:2.5\n0 1:3\n2 \n3 3:4 0:5\n\n-1 2:7\n")
    label.write_text("0 0:1\n0 1:3\n0 \n0 1:4 0:5\n0 0:7\n")
    return {"data_libsvm": str(data), "data_shape": (4,), "batch_size": 2}, str(label)


def test_batches(lines):
    iterator = mx.io.LibSVMIter(**lines[0])
    assert iterator.provide_data == [("data", (2, 4))]
    assert iterator.provide_label == [("softmax_label", (2,))]
    for expected in ([0, 1, 2, 3, 4, 0], [1, 2, 3, 4]):
        batches = list(iterator)
        assert np.concatenate([batch.index for batch in batches]).tolist() == expected
        for batch in batches:
            assert batch.data[0].stype == "csr" and batch.label[0].stype == "default"
            batch.data[0].check_format()  # a line of the file is not sorted
        actual = np.concatenate([batch.data[0].asnumpy() for batch in batches])
        assert actual.tolist() == [ROWS[row] for row in expected]
        actual = np.concatenate([batch.label[0].asnumpy() for batch in batches])
        assert actual.tolist() == [LABELS[row] for row in expected]
        assert batches[-1].pad == (len(expected) > 5)
        iterator.reset()


def test_labels_of_another_file_and_parts(lines):
    options, label = lines
    iterator = mx.io.LibSVMIter(**options, label_libsvm=label, label_shape=(2,), dtype="float64")
    batch = next(iterator)
    assert batch.label[0].stype == "csr"
    assert batch.label[0].asnumpy().tolist() == [[1, 0], [0, 3]]
    assert batch.data[0].dtype == np.float64
    collected = []
    for part in range(3):
        iterator = mx.io.LibSVMIter(**{**options, "batch_size": 1}, num_parts=3, part_index=part)
        collected += [batch.data[0].asnumpy()[0].tolist() for batch in iterator]
    assert collected == ROWS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data_shape": (3,)}, "line 4 of .*data.t has column 3, expected an integer from 0 to 2"),
        ({"data_shape": (2, 2)}, "data_shape must be"),
        ({"round_batch": False}, "round_batch=False is not supported"),
        ({"data_libsvm": "none.t"}, "cannot read none.t"),
        ({"num_parts": 2, "part_index": 2}, "from 0 to num_parts - 1 = 1"),
        ({"label_shape": (2,)}, "needs label_libsvm"),
    ],
)
def test_refusals(lines, options, message):
    with pytest.raises(mx.MXNetError, match=message):
        mx.io.LibSVMIter(**{**lines[0], **options})


@pytest.mark.parametrize(
    "line",
    ["1 0=1", "1 0:1:2", "1 0:", "1 :2", "0:1", "1 0:1 2", "x 0:1", "1 0:x", "1 0: 1", "1,2 0:1"],
)
def test_other_formats_are_refused(lines, tmp_path, line):
    (tmp_path / "bad.t").write_text(f"1 0:1\n{line}\n1 1:1\n")
    with pytest.raises(mx.MXNetError, match="line 2 of .*bad.t is not a label"):
        mx.io.LibSVMIter(**{**lines[0], "data_libsvm": str(tmp_path / "bad.t")})


@pytest.mark.parametrize("pair", ["4:1", "-1:1", "1.5:1", "nan:1"])
def test_columns_out_of_bounds_are_refused(lines, tmp_path, pair):
    (tmp_path / "bad.t").write_text(f"1 0:1\n\n1 0:2 {pair}\n")
    with pytest.raises(mx.MXNetError, match="line 3 of .*bad.t has column"):
        mx.io.LibSVMIter(**{**lines[0], "data_libsvm": str(tmp_path / "bad.t")})


def test_columns_that_come_twice_are_refused(lines, tmp_path):
    (tmp_path / "bad.t").write_text("1 0:1\n1 3:1 0:2 3:4\n")
    with pytest.raises(mx.MXNetError, match="line 2 of .*bad.t has a column twice"):
        mx.io.LibSVMIter(**{**lines[0], "data_libsvm": str(tmp_path / "bad.t")})


def test_comments_and_spaces(lines, tmp_path):
    (tmp_path / "odd.t").write_bytes(b"# all\n  1\t0:1e1  3:-.5 # one\r\n\r\n-2 1:+inf")
    iterator = mx.io.LibSVMIter(**{**lines[0], "data_libsvm": str(tmp_path / "odd.t")})
    (batch,) = iterator
    assert batch.data[0].asnumpy().tolist() == [[10, 0, 0, -0.5], [0, np.inf, 0, 0]]
    assert batch.label[0].asnumpy().tolist() == [1, -2]


@pytest.mark.parametrize("piece", [7, 64, 1000, 1 << 20])
def test_pieces_and_parts_of_several_files(tmp_path, monkeypatch, piece):
    monkeypatch.setattr(libsvm_lines, "_PIECE", piece)
    rng, want, names = np.random.default_rng(0), [], []
    for number in range(3):
        names.append(str(tmp_path / f"{number}.t"))
        with open(names[-1], "w") as file:
            for row in rng.integers(0, 3, (20 * number + 5, 6)):
                want.append(row)
                pairs = " ".join(f"{i}:{v}" for i, v in enumerate(row) if v)
                file.write(f"{len(want)} {pairs}\n")
    files = {"data_libsvm": ";".join(names), "data_shape": (6,), "batch_size": 1}
    for parts in (1, 2, 7):
        actual, labels = [], []
        for part in range(parts):
            for batch in mx.io.LibSVMIter(**files, num_parts=parts, part_index=part):
                actual.append(batch.data[0].asnumpy()[0])
                labels.append(batch.label[0].asnumpy()[0])
        np.testing.assert_array_equal(actual, want)
        np.testing.assert_array_equal(labels, np.arange(len(want)) + 1)
    # Labels of another file go with the lines of a part.
    for part in range(3):
        options = {**files, "label_libsvm": files["data_libsvm"], "label_shape": (6,)}
        for batch in mx.io.LibSVMIter(**options, num_parts=3, part_index=part):
            np.testing.assert_array_equal(batch.data[0].asnumpy(), batch.label[0].asnumpy())
