"""LibSVMIter reads the lines that real MXNet 1.9.1 reads, and gives them as dense arrays."""

import numpy as np
import pytest

import mxcy as mx

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
        found = np.concatenate([batch.data[0].asnumpy() for batch in batches])
        assert found.tolist() == [ROWS[row] for row in expected]
        found = np.concatenate([batch.label[0].asnumpy() for batch in batches])
        assert found.tolist() == [LABELS[row] for row in expected]
        assert batches[-1].pad == (len(expected) > 5)
        iterator.reset()


def test_labels_of_another_file_and_parts(lines):
    options, label = lines
    iterator = mx.io.LibSVMIter(**options, label_libsvm=label, label_shape=(2,), dtype="float64")
    batch = next(iterator)
    assert batch.label[0].asnumpy().tolist() == [[1, 0], [0, 3]]
    assert batch.data[0].dtype == np.float64
    found = []
    for part in range(3):
        iterator = mx.io.LibSVMIter(**{**options, "batch_size": 1}, num_parts=3, part_index=part)
        found += [batch.data[0].asnumpy()[0].tolist() for batch in iterator]
    assert found == ROWS


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"data_shape": (3,)}, "columns from 0 to 3"),
        ({"data_libsvm": "none.t"}, "cannot read none.t"),
        ({"num_parts": 2, "part_index": 2}, "from 0 to num_parts - 1 = 1"),
        ({"label_shape": (2,)}, "needs label_libsvm"),
    ],
)
def test_refusals(lines, options, message):
    with pytest.raises(mx.MXNetError, match=message):
        mx.io.LibSVMIter(**{**lines[0], **options})


def test_other_formats_are_refused(lines, tmp_path):
    (tmp_path / "bad.t").write_text("1 0:1\n1 0=1\n")
    with pytest.raises(mx.MXNetError, match="line 2 of .*bad.t"):
        mx.io.LibSVMIter(**{**lines[0], "data_libsvm": str(tmp_path / "bad.t")})
