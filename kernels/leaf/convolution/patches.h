// The second operand of a convolution's matrix product: the image seen through a sliding window,
// packed directly from the image.
//
// Rows are taps (channel, kd, kh, kw), columns are positions (d, h, w) of the window:
//   patches(tap, position) = image[channel][position * stride + offset + k * step], or 0 outside.
// The data gradient uses the same with step < 0.
#pragma once
#include "leaf/matrix/gemm.h"
#include "leaf/simd/runs.h"
#include "params/convolution.gen.h"

MX_LEAF_BEGIN

struct Window {
  int64_t source[3];  // extents of the image
  int64_t target[3];  // numbers of positions
  int64_t kernel[3], stride[3], offset[3], step[3];

  int64_t source_size() const { return source[0] * source[1] * source[2]; }
  int64_t target_size() const { return target[0] * target[1] * target[2]; }
  int64_t taps() const { return kernel[0] * kernel[1] * kernel[2]; }
  // Whether every patch is the image itself.
  bool identity() const {
    for (int i = 0; i < 3; ++i) {
      if (kernel[i] != 1 || stride[i] != 1 || offset[i] != 0) return false;
    }
    return true;
  }
};

inline Window forward_window(const mx_conv_params& p) {
  Window w;
  for (int i = 0; i < 3; ++i) {
    w.source[i] = p.source[i];
    w.target[i] = p.target[i];
    w.kernel[i] = p.kernel[i];
    w.stride[i] = p.stride[i];
    w.offset[i] = -p.pad[i];
    w.step[i] = p.dilate[i];
  }
  return w;
}

// A three-digit mixed-radix counter, last digit fastest: a tap or a position.
struct Digits {
  int64_t d, h, w;
  Digits(int64_t index, const int64_t* extent)
      : d(index / (extent[1] * extent[2])),
        h(index / extent[2] % extent[1]),
        w(index % extent[2]) {}
  // Increment; true if it wrapped around to 0 0 0.
  bool next(const int64_t* extent) {
    if (++w < extent[2]) return false;
    w = 0;
    if (++h < extent[1]) return false;
    h = 0;
    if (++d < extent[0]) return false;
    d = 0;
    return true;
  }
};

template <class T, class S>
inline void copy_run(T* dst, const S* src, int64_t n, int64_t stride) {
  int64_t x = 0;
  if (stride == 1) {
    for (; x + kLanes<T> <= n; x += kLanes<T>) store(dst + x, load_as<T>(src + x));
    if (x < n) store_first(dst + x, load_first_as<T>(src + x, (int)(n - x)), (int)(n - x));
    return;
  }
  for (; x < n; ++x) dst[x] = scalar_as<T>(src[x * stride]);
}

// Call body(image offset, target offset, count) for each row that a tap sees, without padding;
// image elements are window.stride[2] apart.
template <class Body>
inline void each_row(const Window& window, const Digits& tap, const Body& body) {
  const int64_t offset = window.offset[2] + tap.w * window.step[2];
  const Span span(offset, window.stride[2], window.source[2], window.target[2]);
  if (span.low == span.high) return;
  for (int64_t d = 0; d < window.target[0]; ++d) {
    const int64_t z = d * window.stride[0] + window.offset[0] + tap.d * window.step[0];
    if (z < 0 || z >= window.source[0]) continue;
    for (int64_t h = 0; h < window.target[1]; ++h) {
      const int64_t y = h * window.stride[1] + window.offset[1] + tap.h * window.step[1];
      if (y < 0 || y >= window.source[1]) continue;
      body((z * window.source[1] + y) * window.source[2] + offset + span.low * window.stride[2],
           (d * window.target[1] + h) * window.target[2] + span.low, span.high - span.low);
    }
  }
}

// dst[x * stride] += scale * src[x].
template <class T>
inline void add_run(T* dst, const T* src, int64_t n, int64_t stride, T scale = 1) {
  if (stride == 1) {
    map_run(n, dst, [scale](auto sum, auto x) { return sum + scale * x; }, dst, src);
  } else {
    for (int64_t x = 0; x < n; ++x) dst[x * stride] += scale * src[x];
  }
}

// image += columns, for channels [begin, end): the transpose of extracting patches.
template <class T>
void add_patches(T* image, const T* columns, const Window& window, int64_t begin, int64_t end) {
  const int64_t positions = window.target_size(), taps = window.taps();
  const T* column = columns + begin * taps * positions;
  for (int64_t c = begin; c < end; ++c) {
    T* channel = image + c * window.source_size();
    for (int64_t t = 0; t < taps; ++t, column += positions) {
      each_row(window, Digits(t, window.kernel), [&](int64_t in, int64_t out, int64_t n) {
        add_run(channel + in, column + out, n, window.stride[2]);
      });
    }
  }
}

// n values of row (channel, tap) from position `at` on.
template <class T, class S>
inline void fill_patches(T* dst, const Window& window, const S* channel, const Digits& tap,
                         Digits at, int64_t n) {
  const int64_t *source = window.source, stride = window.stride[2];
  const int64_t column = window.offset[2] + tap.w * window.step[2];
  while (n > 0) {
    const int64_t run = least(n, window.target[2] - at.w);
    const int64_t d = at.d * window.stride[0] + window.offset[0] + tap.d * window.step[0];
    const int64_t h = at.h * window.stride[1] + window.offset[1] + tap.h * window.step[1];
    const int64_t w = at.w * stride + column;
    const bool inside = d >= 0 && d < source[0] && h >= 0 && h < source[1];
    const Span span(w, stride, inside ? source[2] : 0, run);
    for (int64_t x = 0; x < span.low; ++x) dst[x] = 0;
    if (span.low < span.high) {
      const S* row = channel + (d * source[1] + h) * source[2];
      copy_run(dst + span.low, row + w + span.low * stride, span.high - span.low, stride);
    }
    for (int64_t x = span.high; x < run; ++x) dst[x] = 0;
    n -= run;
    dst += run;
    at.w = window.target[2] - 1;
    at.next(window.target);
  }
}

// The patches of one image as B of a product: i is a position, p a tap.
template <class T, class S>
struct PatchColumns {
  const S* image;
  const Window* window;
  int64_t first;  // position of column 0

  void pack(T* dst, int width, int64_t i0, int count, int64_t p0, int64_t depth) const {
    const Digits at(first + i0, window->target);
    const int64_t taps = window->taps(), size = window->source_size();
    Digits tap(p0 % taps, window->kernel);
    const S* channel = image + p0 / taps * size;
    for (int64_t p = 0; p < depth; ++p, dst += width) {
      fill_patches(dst, *window, channel, tap, at, count);
      for (int i = count; i < width; ++i) dst[i] = 0;
      if (tap.next(window->kernel)) channel += size;
    }
  }
  const T* in_place(int64_t, int64_t) const { return nullptr; }
};

// The patches of all images, transposed, as B of a product: i is a tap, p a position.
template <class T, class S>
struct PatchRows {
  const S* images;
  int64_t image_step;
  const Window* window;
  int64_t first;  // tap of column 0

  void pack(T* dst, int width, int64_t i0, int count, int64_t p0, int64_t depth) const {
    T rows[2 * kLanes<T> * kDepth];
    const int64_t taps = window->taps(), positions = window->target_size();
    const int64_t tap0 = first + i0;
    int64_t image = p0 / positions, position = p0 % positions;
    for (int64_t p = 0; p < depth;) {
      const int64_t n = least(depth - p, positions - position);
      const Digits at(position, window->target);
      Digits tap(tap0 % taps, window->kernel);
      const S* channel = images + image * image_step + tap0 / taps * window->source_size();
      for (int i = 0; i < count; ++i) {
        fill_patches(rows + i * depth + p, *window, channel, tap, at, n);
        if (tap.next(window->kernel)) channel += window->source_size();
      }
      p += n;
      position = 0;
      ++image;
    }
    pack_transposed<T>(dst, width, rows, depth, count, depth);
  }
  PatchRows from(int64_t i) const { return {images, image_step, window, first + i}; }
  const T* in_place(int64_t, int64_t) const { return nullptr; }
};

// The rows (channels or filters) of all images as A of a product: i is a channel, p a position.
template <class T, class S>
struct ImageRows {
  const S* images;
  int64_t image_step, positions;

  void pack(T* dst, int width, int64_t i0, int count, int64_t p0, int64_t depth) const {
    int64_t image = p0 / positions, position = p0 % positions;
    for (int64_t p = 0; p < depth;) {
      const int64_t n = least(depth - p, positions - position);
      const S* from = images + image * image_step + i0 * positions + position;
      pack_transposed<T>(dst + p * width, width, from, positions, count, n);
      p += n;
      position = 0;
      ++image;
    }
  }
  ImageRows from(int64_t i) const { return {images + i * positions, image_step, positions}; }
  const T* in_place(int64_t, int64_t) const { return nullptr; }
};

MX_LEAF_END
