from collections.abc import Callable, Sequence
from typing import Any

def set_arithmetic(
    table: Sequence[tuple[Any, Any, Any]], fallback: Callable[[int, Any, Any], Any]
) -> None: ...
