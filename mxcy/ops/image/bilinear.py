"""Bilinear interpolation of images."""

__all__ = ["Points"]


class Points:
    """Sampling points of an image with their four neighbours; pixels outside are zero.

    Parameters
    ----------
    xp : module
    y, x : array
        Rows and columns of the points, of equal shape.
    extents : (int, int)
        Height and width of the image.
    """

    def __init__(self, xp, y, x, extents):
        self.xp = xp
        height, width = extents
        row, column = xp.floor(y), xp.floor(x)
        self.down, self.right = y - row, x - column
        row, column = row.astype("int64"), column.astype("int64")
        self.corners = []
        for below in (False, True):
            for beside in (False, True):
                v, h = row + below, column + beside
                inside = (v >= 0) & (v < height) & (h >= 0) & (h < width)
                at = xp.clip(v, 0, height - 1) * width + xp.clip(h, 0, width - 1)
                self.corners.append((at, inside))

    def _pixels(self, planes):
        """Return the pixels around the points: four arrays (planes, *points)."""
        return [self.xp.where(inside, planes[:, at], 0) for at, inside in self.corners]

    def values(self, planes):
        """Return the values of planes (n, height * width) at the points: (n, *points)."""
        a, b, c, d = self._pixels(planes)
        upper, lower = a + self.right * (b - a), c + self.right * (d - c)
        return upper + self.down * (lower - upper)

    def slopes(self, planes):
        """Return the derivatives of the values by row and by column, each (n, *points)."""
        a, b, c, d = self._pixels(planes)
        by_row = (1 - self.right) * (c - a) + self.right * (d - b)
        by_column = (1 - self.down) * (b - a) + self.down * (d - c)
        return by_row, by_column

    def add_to(self, planes, grads):
        """Accumulate gradients of values (n, *points) into those of planes (n, height * width)."""
        down, right = self.down, self.right
        shares = (1 - down) * (1 - right), (1 - down) * right, down * (1 - right), down * right
        for (at, inside), share in zip(self.corners, shares, strict=True):
            parts = self.xp.where(inside, grads * share, 0)
            self.xp.add.at(planes, (slice(None), at), parts)
