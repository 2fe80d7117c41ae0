"""Detection: boxes, anchors, regions of interest."""
