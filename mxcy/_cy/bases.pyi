from typing import Any

class Kept:
    arrays: list
    settled: bool
    def __init__(self, arrays: list) -> None: ...
    def settle(self) -> bool: ...

class Bases:
    arena: Any
    kept: Kept
    arrays: list
    def __init__(self, arena: Any, kept: Kept, arrays: list) -> None: ...

class Watch:
    def __init__(self, arrays: list, slots: list[int], written: list[int]) -> None: ...
    def holds(self, arrays: list) -> bool: ...
