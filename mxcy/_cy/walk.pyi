from typing import Any

def tape_order(heads: list[Any]) -> list[Any]: ...
def walk(
    order: list[Any],
    seeds: list[tuple[Any, int, Any]],
    wanted: dict[tuple[int, int], Any] | None,
    create_graph: bool,
    keep: bool,
    rules: Any,
) -> None: ...
