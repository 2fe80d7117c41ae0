from collections.abc import Callable
from typing import Any, TypeVar

_Plain = TypeVar("_Plain", bound=Callable[..., Any])

def shortcut(plain: _Plain, cls: type | None = None, op: Any = None) -> _Plain: ...
