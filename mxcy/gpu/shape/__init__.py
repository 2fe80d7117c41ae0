"""Copies that move elements, on devices."""
