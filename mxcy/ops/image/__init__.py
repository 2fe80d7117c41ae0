"""Images: transforms, resizing, sampling."""
