"""`mx.np.utils`: constants and dtypes of `mx.np`, under MXNet's module name."""

import builtins
from itertools import product

from mxcy._base import dtypes
from mxcy.numpy._types.types import (  # noqa: F401  MXNet's names
    NAN,
    NINF,
    NZERO,
    PINF,
    PZERO,
    NaN,
    bool,
    bool_,
    boolean_dtypes,
    e,
    float16,
    float32,
    float64,
    floating_dtypes,
    inf,
    int8,
    int16,
    int32,
    int64,
    integer_dtypes,
    nan,
    newaxis,
    numeric_dtypes,
    pi,
    uint8,
    uint16,
    uint32,
    uint64,
)
from mxcy.ops.core.result_types import promote

_STR_2_DTYPE_ = {
    **{str(kind): kind for kind in (*numeric_dtypes, bool_)},
    "float": float64,
    "int": int64,
    "bool_": bool_,
    "None": None,
}
_DTYPE_2_STR_ = {
    **{kind: str(kind) for kind in numeric_dtypes},
    bool_: "bool_",
    float: "float64",
    int: "int64",
    builtins.bool: "bool",
    None: "None",
}
#: promotion of two dtypes under MXNet's policy
_type_promotion_table = {
    pair: dtypes.dtype_of(promote(False, *map(dtypes.code_of, pair)))
    for pair in product((*integer_dtypes, *floating_dtypes, bool_), repeat=2)
}
