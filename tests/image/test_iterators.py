"""`ImageIter` and `ImageDetIter`, beyond the comparison with MXNet in test_golden.py."""

import numpy as np
import pytest

import mxcy as mx
from tests.image.cases import COUNT, det_labels, write_files
from tests.image.pictures import picture

pytest.importorskip("cv2", reason="images need the extra 'image'")


@pytest.fixture
def paths(tmp_path):
    return write_files(mx, str(tmp_path))


def test_descriptions_and_batches(paths):
    iterator = mx.image.ImageIter(
        4, (3, 6, 8), path_imgrec=paths["rec"], data_name="x", label_name="y", rand_mirror=True
    )
    assert iterator.provide_data == [("x", (4, 3, 6, 8))]
    assert iterator.provide_label == [("y", (4,))]
    first, last = iterator
    assert first.data[0].dtype == np.float32 and last.pad == 1
    with pytest.raises(StopIteration):
        next(iterator)
    iterator.hard_reset()
    assert len(list(iterator)) == 2


def test_images_that_roll_over_come_first(paths):
    iterator = mx.image.ImageIter(
        4, (3, 6, 8), path_imgrec=paths["rec"], last_batch_handle="roll_over"
    )
    labels = []
    for _ in range(2):
        labels += [batch.label[0].asnumpy().tolist() for batch in iterator]
        iterator.reset()
    assert labels == [[0, 10, 20, 30], [40, 50, 60, 0], [10, 20, 30, 40]]
    iterator.hard_reset()
    assert next(iterator).label[0].asnumpy().tolist() == [0, 10, 20, 30]


def test_several_labels_and_lists(paths, tmp_path):
    images = [[1, 2, "0.png"], [3, 4, "1.png"], [np.array([5, 6]), "2.png"]]
    iterator = mx.image.ImageIter(
        3, (3, 6, 8), label_width=2, imglist=images, path_root=str(tmp_path), dtype="int32"
    )
    label = next(iterator).label[0]
    assert label.dtype == np.int32 and label.asnumpy().tolist() == [[1, 2], [3, 4], [5, 6]]
    (tmp_path / "bad.lst").write_text("0\tone\t0.png\n")
    with pytest.raises(mx.MXNetError, match="line 1 of .*bad.lst"):
        mx.image.ImageIter(3, (3, 6, 8), path_imglist=str(tmp_path / "bad.lst"))
    (tmp_path / "other.lst").write_text("0\t9\t0.png\n")
    replaced = mx.image.ImageIter(
        1,
        (3, 6, 8),
        path_imgrec=paths["rec"],
        path_imgidx=paths["idx"],
        path_imglist=str(tmp_path / "other.lst"),
    )
    assert next(replaced).label[0].asnumpy().tolist() == [9]


@pytest.mark.parametrize(
    ("options", "error", "message"),
    [
        ({"path_imgrec": None}, AssertionError, "path_imgrec, path_imglist or imglist"),
        ({"data_shape": (6, 8)}, ValueError, "should have length 3"),
        ({"data_shape": (1, 6, 8)}, ValueError, "3 channels"),
        ({"dtype": "float16"}, AssertionError, "not supported"),
        ({"last_batch_handle": "keep"}, AssertionError, "last_batch_handle"),
        ({"shuffle": True}, AssertionError, "need path_imgidx"),
    ],
)
def test_refusals(paths, options, error, message):
    keywords = {"batch_size": 2, "data_shape": (3, 6, 8), "path_imgrec": paths["rec"], **options}
    with pytest.raises(error, match=message):
        mx.image.ImageIter(**keywords)


def test_bad_images_and_labels(paths, tmp_path):
    (tmp_path / "0.png").write_bytes(b"no image")
    with pytest.raises(mx.MXNetError, match="Broken image filename: 0.png.*Decoding failed"):
        next(mx.image.ImageIter(1, (3, 6, 8), imglist=[[1, "0.png"]], path_root=str(tmp_path)))
    wide = mx.image.ImageIter(1, (3, 6, 8), label_width=2, path_imgrec=paths["rec"])
    with pytest.raises(mx.MXNetError, match="has 1 labels, but label_width is 2"):
        next(wide)
    with pytest.raises(mx.MXNetError, match="after its augmenters"):
        next(mx.image.ImageIter(1, (3, 6, 8), path_imgrec=paths["rec"], aug_list=[]))


@pytest.fixture
def det(tmp_path):
    (tmp_path / "det").mkdir()
    return write_files(mx, str(tmp_path / "det"), det_labels())


def test_labels_of_objects_take_one_shape(det, caplog):
    first = mx.image.ImageDetIter(3, (3, 6, 8), path_imgrec=det["rec"])
    assert first.label_shape == (2, 5) and first.provide_label == [("label", (3, 2, 5))]
    first.reshape((3, 9, 9), (4, 5))
    assert first.provide_data == [("data", (3, 3, 9, 9))]
    first.reshape((3, 6, 8))
    batch = next(first)
    assert batch.data[0].shape == (3, 3, 6, 8) and batch.label[0].shape == (3, 4, 5)
    assert (batch.label[0].asnumpy()[0, 1:] == -1).all()
    second = mx.image.ImageDetIter(2, (3, 6, 8), path_imgrec=det["rec"])
    with caplog.at_level("INFO"):
        assert first.sync_label_shape(second, verbose=True) is second
    assert second.label_shape == (4, 5) and "(4, 5)" in caplog.text
    for shape, message in (((4,), "length 2"), ((1, 5), "reduce"), ((4, 6), "inconsistent")):
        with pytest.raises(ValueError, match=message):
            first.reshape(label_shape=shape)


def test_parts_of_labelled_images(det):
    def images(**options):
        files = {"path_imgrec": det["rec"], "path_imgidx": det["idx"]}
        iterator = mx.image.ImageDetIter(1, (3, 6, 8), **files, **options)
        return [batch.data[0].asnumpy().tolist() for batch in iterator]

    parts = [images(num_parts=2, part_index=part) for part in range(2)]
    assert all(parts) and parts[0] + parts[1] == images()[: len(parts[0] + parts[1])]


def test_objects_without_extent_are_left_out(tmp_path):
    labels = det_labels()
    labels[0] = np.array([2, 5, 0, 0.5, 0.5, 0.5, 0.6])
    paths = write_files(mx, str(tmp_path), labels)
    with pytest.raises(RuntimeError, match="no valid label"):
        mx.image.ImageDetIter(3, (3, 6, 8), path_imgrec=paths["rec"])


def test_boxes_are_drawn(det):
    iterator = mx.image.ImageDetIter(1, (3, 24, 30), path_imgrec=det["rec"], mean=True, std=True)
    images = list(iterator.draw_next((255, 0, 0), 1, mean=True, std=True, id2labels={0: "cat"}))
    assert len(images) == COUNT and images[0].shape == (24, 30, 3)
    left, top = int(0.09 * 30), int(0.18 * 24)
    assert images[0][top, left + 3].tolist() == [255, 0, 0]


def test_augmenters_describe_themselves():
    class Own(mx.image.Augmenter):
        def __init__(self, table):
            super().__init__(table=table)

    assert Own(mx.nd.array([1, 2])).dumps() == '["own", {"table": [1.0, 2.0]}]'
    with pytest.raises(NotImplementedError, match="Own does not define"):
        Own([1])(mx.nd.array(picture(4, 4)))
    with pytest.raises(TypeError, match="invalid Augmenter"):
        mx.image.DetBorrowAug(3)
    with pytest.raises(ValueError, match="DetAugmenter in list only"):
        mx.image.DetRandomSelectAug([mx.image.CastAug()])
    with pytest.warns(UserWarning, match="invalid area_range"):
        assert not mx.image.DetRandomCropAug(area_range=(0.9, 0.5)).enabled


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (lambda x: mx.image.imdecode("text"), ValueError, "bytes, bytearray"),
        (lambda x: mx.image.imdecode(b""), mx.MXNetError, "empty"),
        (lambda x: mx.image.imdecode(b"text"), mx.MXNetError, "Decoding failed"),
        (lambda x: mx.image.imread("none.png"), mx.MXNetError, "cannot read none.png"),
        (lambda x: mx.image.imresize(x, 0, 3), mx.MXNetError, "positive size"),
        (lambda x: mx.image.imresize(x[0], 3, 3), mx.MXNetError, "height, width, channel"),
        (lambda x: mx.image.resize_short(x, 3, 11), ValueError, "Unknown interp method 11"),
        (lambda x: mx.image.imrotate(x, 3), TypeError, "Only `float32`"),
        (lambda x: mx.image.imrotate(x.astype("float32"), mx.nd.ones(1)), TypeError, "a number"),
        (lambda x: mx.image.imrotate(x.astype("float32"), 3, True, True), ValueError, "both True"),
        (lambda x: mx.image.imrotate(x[0].astype("float32"), 3), ValueError, "3D and 4D"),
    ],
)
def test_refusals_of_functions(call, error, message):
    with pytest.raises(error, match=message):
        call(mx.nd.array(picture(4, 5), dtype="uint8"))


def test_out_takes_the_result():
    source = mx.nd.array(picture(6, 8), dtype="uint8")
    out = mx.nd.zeros((3, 4, 3), dtype="float32")
    assert mx.image.imresize(source, 4, 3, out=out) is out
    np.testing.assert_array_equal(out.asnumpy(), mx.image.imresize(source, 4, 3).asnumpy())
    with pytest.raises(mx.MXNetError, match=r"expected shape \(3, 4, 3\)"):
        mx.image.imresize(source, 4, 3, out=mx.nd.zeros((2, 2, 3)))


def test_without_opencv_there_is_a_message(run_python):
    code = """
import sys
sys.modules["cv2"] = None
import mxcy as mx
for call in (lambda: mx.image.imdecode(b"x"), lambda: mx.recordio.unpack_img(bytes(24)),
             lambda: mx.io.ImageRecordIter(path_imgrec="x", data_shape=(3, 2, 2), batch_size=1)):
    try:
        call()
    except mx.MXNetError as error:
        print("mxcy[image]" in str(error))
"""
    assert run_python(code).split() == ["True"] * 3
