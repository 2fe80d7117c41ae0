from typing import Any

from mxcy._cy.variants import OpHandle

def call(
    handle: OpHandle,
    inputs: tuple[Any, ...],
    raw: tuple[Any, ...],
    out: Any,
    extra: dict[str, Any],
    cls: Any = None,
) -> Any: ...
def record_view(handle: OpHandle, source: Any, attrs: dict[str, Any], view: Any) -> None: ...
