"""Boxes and regions of detectors, on devices."""
