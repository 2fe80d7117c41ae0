"""Activation functions: rectifiers, softmax and variants."""
