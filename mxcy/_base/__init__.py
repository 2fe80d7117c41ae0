"""Foundations that every layer imports: errors, element types, file writing, CPU topology."""
