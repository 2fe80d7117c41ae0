// Boxes as a structure of arrays, so that one is compared with a vector of others: overlaps, order
// of scores, and non-maximum suppression.
#pragma once
#include "core/memory/scratch.h"
#include "leaf/simd/plane.h"

MX_LEAF_BEGIN

// Up to `capacity` boxes: their sides, areas and classes, and whether they are alive (1 or 0).
// `margin` is 1 if a box from pixel a to pixel b is b - a + 1 wide.
template <class T>
struct Boxes {
  T *left, *top, *right, *bottom, *area, *kind, *alive;
  T margin = 0;

  // The arrays have room for an additional vector.
  static int64_t stride(int64_t capacity) { return capacity + kLanes<T>; }
  static size_t bytes(int64_t capacity) { return (size_t)(7 * stride(capacity)) * sizeof(T); }
  Boxes(void* memory, int64_t capacity) {
    T** const arrays[] = {&left, &top, &right, &bottom, &area, &kind, &alive};
    for (int i = 0; i < 7; ++i) *arrays[i] = (T*)memory + i * stride(capacity);
    memset(memory, 0, bytes(capacity));
  }

  void set(int64_t i, T l, T t, T r, T b, T its_kind = 0) {
    left[i] = l, top[i] = t, right[i] = r, bottom[i] = b;
    const T width = r - l + margin, height = b - t + margin;
    area[i] = (width > 0 ? width : 0) * (height > 0 ? height : 0);
    kind[i] = its_kind;
    alive[i] = 1;
  }

  // Intersection over union of a box with the vector of boxes from index j on.
  Vec<T> overlap(T l, T t, T r, T b, T its_area, int64_t j) const {
    typedef Vec<T> V;
    const V width = min(splat<V>(r), load(right + j)) - max(splat<V>(l), load(left + j)) + margin;
    const V height = min(splat<V>(b), load(bottom + j)) - max(splat<V>(t), load(top + j)) + margin;
    const V shared = max(width, V{}) * max(height, V{});
    const V united = its_area + load(area + j) - shared;
    return select<V>(united > 0, shared / united, V{});
  }

  // Kill those of the first n boxes after index i that overlap it too much.
  template <bool reaching>
  void suppress(int64_t i, int64_t n, T limit, bool all_kinds) {
    typedef Vec<T> V;
    for (int64_t j = i + 1; j < n; j += kLanes<T>) {
      const V found = overlap(left[i], top[i], right[i], bottom[i], area[i], j);
      Mask<V> hit = reaching ? found >= limit : found > limit;
      if (!all_kinds) hit &= load(kind + j) == kind[i];
      store(alive + j, select<V>(hit, V{}, load(alive + j)));
    }
  }
};

// Indices in stable order of descending score. Returns the sorted array: `order` or `spare`.
template <class T>
int32_t* by_score(const T* score, int32_t* order, int32_t* spare, int64_t n) {
  for (int64_t run = 1; run < n; run *= 2) {
    for (int64_t start = 0; start < n; start += 2 * run) {
      int64_t a = start, b = least(start + run, n), to = start;
      const int64_t middle = b, end = least(start + 2 * run, n);
      while (a < middle && b < end) {
        spare[to++] = score[order[b]] > score[order[a]] ? order[b++] : order[a++];
      }
      while (a < middle) spare[to++] = order[a++];
      while (b < end) spare[to++] = order[b++];
    }
    int32_t* merged = spare;
    spare = order;
    order = merged;
  }
  return order;
}

MX_LEAF_END
