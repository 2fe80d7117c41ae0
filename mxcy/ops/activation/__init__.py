"""Nonlinearities of networks: rectifiers, softmax and its relatives."""
