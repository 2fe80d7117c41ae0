from collections.abc import Callable, Sequence
from typing import Any

class OpHandle:
    op: Any
    def __init__(self, op: Any) -> None: ...

def plug(
    prepare: Callable[..., Any],
    spec: type,
    reference: Callable[..., None],
    streams: Callable[[Any], int],
    context: Callable[[Any], Any],
    fallback: Callable[[int, Any, Any], Any],
) -> None: ...
def initialise(isa: int, threads: int, parallel_size: int) -> None: ...
def has_kernel(name: str, dtype: int) -> bool: ...
def bind(op: Any) -> OpHandle: ...
def call(handle: OpHandle, inputs: tuple[Any, ...], raw: tuple[Any, ...], out: Any, extra: dict[str, Any]) -> Any: ...
def record_view(handle: OpHandle, source: Any, attrs: dict[str, Any], view: Any) -> None: ...
def execute(
    op: Any,
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
    outputs: list[Any] | None = None,
    reqs: list[int] | None = None,
    kernel: str | None = None,
    train: bool = False,
) -> tuple[list[Any], str]: ...
def set_arithmetic(table: Sequence[tuple[Any, Any, Any]]) -> None: ...
