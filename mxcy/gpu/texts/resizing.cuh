// Resizing of images with their channels last, with OpenCV's results. S is the type of elements, T of
// sums and At of positions; BYTES: S is uint8.

// Both neighbours of a target position along a dimension and the second one's weight, as OpenCV
// computes them: at borders it takes one pixel in a row, but adds the weighted parts of one row.
struct Neighbours {
  At low, high;
  float part;
  __device__ Neighbours(At i, At source, At target, bool rows) {
    const double scale = (double)source / (double)target;
    const float place = (float)(((double)i + 0.5) * scale - 0.5), first = ::floor(place);
    const bool between = first >= 0 && first < (float)(source - 1);
    part = between || rows ? place - first : 0.0f;
    low = first < 0 ? 0 : (At)first < source ? (At)first : source - 1;
    high = first < 0 && rows ? 0 : low + 1 < source ? low + 1 : source - 1;
  }
};
__device__ inline At nearest(At i, At source, At target) {
  const At at = (At)((double)i * (1 / ((double)target / (double)source)));
  return at < source ? at : source - 1;
}
#if BYTES
// 11-bit weights, and the rounding of OpenCV.
__device__ inline int weight(float x) { return (int)::rint(x * 2048); }
__device__ inline S weighted(int upper, int lower, int rest, int part) {
  const int total = ((rest * (upper >> 4)) >> 16) + ((part * (lower >> 4)) >> 16);
  const int value = (total + 2) >> 2;
  return (S)(value < 0 ? 0 : value > 255 ? 255 : value);
}
__device__ inline S mean(int sum) { return (S)((sum + 2) >> 2); }
#else
__device__ inline T weight(float x) { return (T)x; }
__device__ inline S weighted(T upper, T lower, T rest, T part) {
  return upper * rest + lower * part;
}
__device__ inline S mean(T sum) { return sum * (T)0.25; }
#endif
enum Resizing { kNearest, kHalf, kBilinear };
// An element of an image resized from (height, width) to (high, wide). `image` is the element's channel
// of the image's first pixel; its rows are `pitch` elements apart.
__device__ inline S resized(const S* image, At pitch, At channels, At row, At column, At height,
                            At width, At high, At wide, Resizing how) {
  const auto at = [&](At i, At j) { return (T)image[i * pitch + j * channels]; };
  if (how == kNearest) return image[nearest(row, height, high) * pitch +
                                    nearest(column, width, wide) * channels];
  if (how == kHalf) {
    const At i = 2 * row, j = 2 * column;
    return mean(at(i, j) + at(i, j + 1) + at(i + 1, j) + at(i + 1, j + 1));
  }
  const Neighbours down(row, height, high, true), across(column, width, wide, false);
  const T rest = weight(1 - across.part), part = weight(across.part);
  const T upper = at(down.low, across.low) * rest + at(down.low, across.high) * part;
  const T lower = at(down.high, across.low) * rest + at(down.high, across.high) * part;
  return weighted(upper, lower, weight(1 - down.part), weight(down.part));
}
