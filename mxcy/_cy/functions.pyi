from collections.abc import Callable, Sequence
from typing import Any

from mxcy._cy.variants import OpHandle

def function(
    plain: Callable[..., Any], handle: OpHandle, inputs: Sequence[str], fields: Sequence[str]
) -> Callable[..., Any]: ...
