from typing import Any

def execute(
    op: Any,
    inputs: tuple[Any, ...],
    attrs: dict[str, Any],
    outputs: list[Any] | None = None,
    reqs: list[int] | None = None,
    kernel: str | None = None,
    train: bool = False,
) -> tuple[list[Any], str]: ...
