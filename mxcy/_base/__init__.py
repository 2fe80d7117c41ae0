"""What every layer shares and that knows of none: element types, files, names from elsewhere."""
