from typing import Any

class Node:
    call: Any
    context: Any
    parents: tuple[Node | None, ...] | None
    positions: tuple[int, ...] | None
    saved_inputs: Any
    custom: Any
    grad: Any
    grad_req: Any
    fresh: int
    released: bool
    @property
    def numbers(self) -> tuple[float, ...]: ...
    @property
    def saved_outputs(self) -> list[Any] | None: ...
    def release(self) -> None: ...

def history(array: Any) -> Node | None: ...
def take_over(target: Any, source: Any) -> bool: ...
