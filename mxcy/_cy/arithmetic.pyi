from collections.abc import Callable, Sequence
from typing import Any

def numpy_arithmetic(operation: int, lhs: Any, rhs: Any) -> Any: ...
def set_operators(table: Sequence[tuple[Any, Any, Any]]) -> None: ...
def use_numpy(
    cls: type,
    table: list[tuple[Any, Any, Any]],
    unusual: Callable[[int, Any, Any], Any],
    store: Callable[[Any, Any], Any],
) -> None: ...
