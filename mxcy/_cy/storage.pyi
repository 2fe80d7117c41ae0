from typing import Any

class Storage:
    context: Any
