"""Operators created by graph passes: layers fused with what follows, in blocked layouts."""
