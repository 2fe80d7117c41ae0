from collections.abc import Callable, Sequence
from typing import Any

from mxcy._cy.variants import OpHandle

def function(
    plain: Callable[..., Any], handle: OpHandle, inputs: Sequence[str], fields: Sequence[str]
) -> Callable[..., Any]: ...
def numpy_function(
    plain: Callable[..., Any],
    handle: OpHandle,
    names: Sequence[str],
    places: Sequence[int],
    defaults: Sequence[Any],
    absent: Sequence[Any],
    number: OpHandle | None = None,
    number_first: OpHandle | None = None,
    joins: int = 0,
    simple: bool = False,
) -> Callable[..., Any]: ...
