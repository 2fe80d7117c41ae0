"""Functions that write into arrays, against NumPy's."""

import numpy as onp
import pytest

import mxcy as mx

np = mx.np


@pytest.mark.parametrize(
    "text",
    [
        "put(a, [0, -1], [7, 8])",
        "put(a, [1, 2, 3], 5)",
        "put(a, [100, -100, 5], [1, 2], mode='clip')",
        "put(a, [100, -100, 5], [1, 2, 3], mode='wrap')",
        "putmask(a, a > 4, [1, 2, 3])",
        "putmask(a, a > 400, [1, 2, 3])",
        "place(a, a > 4, [1, 2, 3])",
        "copyto(a, [1, 2, 3, 4])",
        "copyto(a, 3, where=[True, False, True, False])",
        "copyto(a, [1, 2, 3, 4], where=[[True], [False], [True]])",
        "put_along_axis(a, i, 9, 1)",
        "put_along_axis(a, i, v, 1)",
        "put_along_axis(a, i.ravel(), 9, None)",
    ],
)
def test_elements_that_are_written(text):
    sources = {
        "a": onp.arange(12, dtype="float32").reshape(3, 4),
        "i": onp.array([[0], [3], [-2]]),
        "v": onp.array([[5], [6], [7]], "float32"),
    }
    arrays = {name: np.array(x, dtype=x.dtype) for name, x in sources.items()}
    eval(f"onp.{text}", {"onp": onp, **sources})
    eval(f"np.{text}", {"np": np, **arrays})
    assert arrays["a"].tolist() == sources["a"].tolist()


@pytest.mark.parametrize(
    ("text", "error"),
    [
        ("put(a, [4], 1)", IndexError),
        ("put(a, [0], 1, mode='no')", ValueError),
        ("put(a, [0], [])", ValueError),
        ("put([1, 2], [0], 1)", TypeError),
        ("putmask(a, [True], 1)", ValueError),
        ("place(a, [True], 1)", ValueError),
        ("copyto(a, np.array([1j]))", TypeError),
        ("copyto(a, [1.0, 2.0])", ValueError),
    ],
)
def test_invalid_arguments(text, error):
    with pytest.raises((error, mx.MXNetError)):
        eval(f"np.{text}", {"np": np, "a": np.ones(4)})


def test_elements_one_after_the_other():
    a = np.array([[1, 2], [3, 4]], dtype="int32")
    a.flat[1] = 7
    assert [int(x) for x in a.flat] == [1, 7, 3, 4]
    a.flat = [5, 6]
    a.put([0], 9)
    assert a.tolist() == [[9, 6], [5, 6]]
    assert a.tobytes() == a.asnumpy().tobytes() and a.tobytes("F") == a.asnumpy().tobytes("F")
    assert a.conjugate().tolist() == a.tolist()
