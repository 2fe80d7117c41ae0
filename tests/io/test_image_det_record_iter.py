"""`ImageDetRecordIter`: boxes follow the image content; tests/image compares with MXNet."""

import numpy as np
import pytest

import mxcy as mx
from tests.image.pictures import png

pytest.importorskip("cv2", reason="images need the extra 'image'")

HEIGHT, WIDTH, COUNT = 60, 80, 12


@pytest.fixture
def make(tmp_path):
    """A function that creates an iterator over images with one bright rectangle each."""
    path = str(tmp_path / "drawn.rec")
    writer = mx.recordio.MXRecordIO(path, "w")
    for number in range(COUNT):
        left, top = 5 + 4 * number % 30, 4 + 3 * number % 20
        right, bottom = left + 20 + number, top + 25
        pixels = np.zeros((HEIGHT, WIDTH, 3), np.uint8)
        pixels[top:bottom, left:right] = 255
        box = [left / WIDTH, top / HEIGHT, right / WIDTH, bottom / HEIGHT]
        writer.write(mx.recordio.pack((0, [3, 6, 9, number, *box, 0.5], number, 0), png(pixels)))
    writer.close()

    def made(**options):
        keywords = {"path_imgrec": path, "data_shape": (3, HEIGHT, WIDTH), "batch_size": COUNT}
        return mx.io.ImageDetRecordIter(
            **{**keywords, "verbose": False, "fill_value": 0, **options}
        )

    return made


def drawn_box(image):
    """The bounding box of the bright pixels, as fractions of width and height."""
    rows, columns = np.nonzero(image.max(axis=0) > 127)
    height, width = image.shape[1:]
    return np.array(
        [
            columns.min() / width,
            rows.min() / height,
            (columns.max() + 1) / width,
            (rows.max() + 1) / height,
        ]
    )


@pytest.mark.parametrize(
    "options",
    [
        {},
        {"rand_mirror_prob": 0.5},
        {"rand_pad_prob": 0.9, "max_pad_scale": 2.5},
        {
            "rand_crop_prob": 0.9,
            "min_crop_scales": 0.4,
            "max_crop_scales": 0.9,
            "min_crop_aspect_ratios": 0.7,
            "max_crop_aspect_ratios": 1.6,
        },
        {
            "rand_crop_prob": 1,
            "min_crop_scales": (0.3, 0.5),
            "min_crop_object_coverages": (0.8, 0),
            "min_crop_overlaps": (0, 0.3),
            "num_crop_sampler": 2,
            "max_crop_trials": (50, 5),
            "crop_emit_mode": "overlap",
            "rand_mirror_prob": 0.5,
            "rand_pad_prob": 0.5,
            "max_pad_scale": 1.5,
        },
    ],
)
def test_boxes_follow_what_is_drawn(make, options):
    changed = 0
    for seed in range(3):
        batch = next(make(seed=seed, **options))
        data, labels = batch.data[0].asnumpy(), batch.label[0].asnumpy()
        assert labels.shape == (COUNT, 4 + 9)
        for number, (image, label) in enumerate(zip(data, labels, strict=True)):
            assert label[:7].tolist() == [3, HEIGHT, WIDTH, 9, 3, 6, 9]
            assert (label[7], label[12]) == (number, 0.5)
            np.testing.assert_allclose(label[8:12], drawn_box(image), atol=0.04)
            changed += not np.allclose(label[8], (5 + 4 * number % 30) / WIDTH, atol=1e-6)
    assert (changed > COUNT) == bool(options)


def test_crops_meet_their_limits(make):
    limits = {"min_crop_scales": 0.1, "max_crop_scales": 0.5, "min_crop_sample_coverages": 0.5}
    iterator = make(rand_crop_prob=1, max_crop_trials=2000, **limits)
    for image in next(iterator).data[0].asnumpy():
        assert (image.max(axis=0) > 127).mean() > 0.4


def test_colours_change_boxes_do_not(make):
    plain, other = (
        next(make()),
        next(
            make(
                max_random_illumination=60,
                random_illumination_prob=1,
                max_random_contrast=0.5,
                random_contrast_prob=1,
                max_random_hue=20,
                random_hue_prob=1,
                max_random_saturation=20,
                random_saturation_prob=1,
            )
        ),
    )
    assert (plain.label[0].asnumpy() == other.label[0].asnumpy()).all()
    assert (plain.data[0].asnumpy() != other.data[0].asnumpy()).any()


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_pad_width": 5}, "5 is less than the longest label, 9"),
        ({"num_crop_sampler": 2, "min_crop_scales": (0.1, 0.2, 0.3)}, "min_crop_scales has 3"),
        ({"aug_seq": "mine"}, "only 'det_aug_default'"),
        ({"label_width": 7}, "has 9 labels, but label_width is 7"),
        ({"resize_mode": "stretch"}, "resize_mode"),
    ],
)
def test_refusals(make, options, message):
    with pytest.raises(mx.MXNetError, match=message):
        make(**options)


def test_labels_that_are_none_are_refused(make, tmp_path):
    path = str(tmp_path / "bad.rec")
    writer = mx.recordio.MXRecordIO(path, "w")
    writer.write(mx.recordio.pack((0, [2, 5, 1, 2, 3, 4], 0, 0), png(np.zeros((5, 5, 3), "u1"))))
    writer.close()
    with pytest.raises(mx.MXNetError, match="a label of 6 values"):
        next(make(path_imgrec=path, batch_size=1))


def test_parts(make):
    """All parts together contain each image once."""
    seen = []
    for part in range(3):
        iterator = make(num_parts=3, part_index=part, batch_size=1, shuffle=True)
        own = [int(batch.label[0].asnumpy()[0, 7]) for batch in iterator]
        assert own
        seen += own
    assert sorted(seen) == list(range(COUNT))
