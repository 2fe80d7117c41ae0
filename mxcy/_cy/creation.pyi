from typing import Any

import numpy as np

from mxcy._cy.ndarray import NDArrayBase

def from_memory(
    address: int,
    owner: Any,
    shape: tuple[int, ...],
    dtype: int,
    context: Any,
    replaceable: bool = False,
) -> Any: ...
def make_sparse(array: NDArrayBase, dtype: int, context: Any) -> None: ...
def empty(shape: tuple[int, ...], dtype: int, context: Any, cls: Any = None) -> Any: ...
def from_numpy(
    source: np.ndarray, dtype: int, context: Any, copy: bool = True, cls: Any = None
) -> Any: ...
def detach_parts(
    values: Any,
    positions: list[int],
    shapes: list[tuple[int, ...]],
    codes: list[int],
    addresses: np.ndarray | None,
) -> list[Any] | None: ...
