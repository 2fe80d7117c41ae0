"""Calls of `mx.np` functions: operands from anything, the general way, symbols, NumPy itself."""
