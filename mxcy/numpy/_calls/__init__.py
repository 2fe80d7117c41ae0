"""Call paths of `mx.np` functions: operand conversion, general calls, symbols, NumPy fallback."""
