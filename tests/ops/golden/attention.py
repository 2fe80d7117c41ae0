"""Products of attention."""

from tests.ops.golden.case import Case, draw

__all__ = ["FAMILY"]


def interleaved():
    def case(name, *inputs):
        made = Case(f"contrib.interleaved_matmul_{name}", *inputs, wrt=tuple(range(len(inputs))))
        made.attrs["heads"] = 2  # a parameter of Case has the same name
        return made

    both, attention = draw(5, 2, 24), draw(4, 5, 5)
    for name, inputs in (
        ("selfatt_qk", (both,)),
        ("selfatt_valatt", (both, attention)),
        ("encdec_qk", (draw(3, 2, 8), draw(5, 2, 16))),
        ("encdec_valatt", (draw(5, 2, 16), draw(4, 3, 5))),
    ):
        yield name, case(name, *inputs)


FAMILY = (interleaved,)
