from collections.abc import Sequence
from typing import Any

def set_operators(table: Sequence[tuple[Any, Any, Any]]) -> None: ...
