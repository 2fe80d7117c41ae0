"""Generated files are what their generators write."""

import pytest

from mxcy.ops import params


@pytest.mark.parametrize("path", params.generated(), ids=lambda path: path.name)
def test_parameter_structs_are_fresh(path):
    written = params.generated()[path]
    assert path.read_text() == written, "run python mxcy/ops/params.py --write"


def test_struct_packs_like_c():
    layout = params.Params("layout_of_a_test", "doc", flag="i32", extents="i64[3]", scale="f64")
    del params.STRUCTS["layout_of_a_test"]
    assert layout.offsets == {"flag": 0, "extents": 8, "scale": 32}
    assert len(layout.pack(flag=1, extents=(2, 3), scale=0.5)) == 40
    with pytest.raises(ValueError, match="extents holds 3"):
        layout.pack(flag=1, extents=(1, 2, 3, 4), scale=0)
    with pytest.raises(TypeError, match="no field colour"):
        layout.pack(flag=1, extents=(), scale=0, colour=3)
