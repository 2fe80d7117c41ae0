"""Programs beside the package: ``python -m mxcy.tools.launch`` starts jobs of several processes."""
