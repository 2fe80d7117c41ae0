from typing import Any

class Shortcut:
    def __call__(self, *args: Any, **kwargs: Any) -> Any: ...
