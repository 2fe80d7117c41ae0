"""Calls of CTCLoss."""

from .case import Case, array, normal

X = normal(6, 3, 5)
LABEL = array([1, 2, 0, 0], [3, 3, 0, 0], [1, 2, 3, 4])
TIMES, LENGTHS = array(6, 5, 4), array(2, 2, 3)


def ctc():
    def case(*inputs, **attrs):
        return Case("CTCLoss", X, *inputs, wrt=(0,), tol=4, **attrs)

    yield "first", case(LABEL)
    yield ("last", case(array([0, 1, -1, -1], [3, 3, -1, -1], [1, 2, 3, 0]), blank_label="last"))
    yield "times", case(LABEL, TIMES, use_data_lengths=True)
    yield "lengths", case(LABEL, LENGTHS, use_label_lengths=True)
    yield "both", case(LABEL, TIMES, LENGTHS, use_data_lengths=True, use_label_lengths=True)
    yield "empty", case(array([0, 0], [1, 0], [0, 2]))
    yield "integers", case(LABEL.astype("int32"))


FAMILY = (ctc,)
