// Boxes, one block per image: compaction, sorting by score, overlaps, non-maximum suppression.
// T is the type of coordinates; Key, KeyOf and merge are from mxcy/gpu/indexing/ordering.py.

// Intersection over union; `margin` is 1 if boxes include their last pixel.
__device__ inline T area_of(const T* box, T margin) {
  const T width = box[2] - box[0] + margin, height = box[3] - box[1] + margin;
  return (width > 0 ? width : T(0)) * (height > 0 ? height : T(0));
}
__device__ inline T overlap_of(const T* a, T area, const T* b, T margin) {
  const T width = (a[2] < b[2] ? a[2] : b[2]) - (a[0] > b[0] ? a[0] : b[0]) + margin;
  const T height = (a[3] < b[3] ? a[3] : b[3]) - (a[1] > b[1] ? a[1] : b[1]) + margin;
  const T shared = (width > 0 ? width : T(0)) * (height > 0 ? height : T(0));
  const T united = area + area_of(b, margin) - shared;
  return united > 0 ? shared / united : T(0);
}
// Convert a box, perhaps centre and size, to left, top, right, bottom.
__device__ inline void corners(const T* box, bool center, T* edges) {
  for (int i = 0; i < 2; ++i) {
    const T half = box[2 + i] * T(0.5);
    edges[i] = center ? box[i] - half : box[i];
    edges[2 + i] = center ? box[i] + half : box[2 + i];
  }
}

#define EACH(i, n) for (Long i = threadIdx.x; i < (n); i += 256)

// Compact the indices below n that satisfy `wanted`; returns their number.
template <class Wanted>
__device__ inline Long gathered(Long n, unsigned* to, const Wanted& wanted) {
  __shared__ unsigned sums[2][256];
  Long base = 0;
  for (Long first = 0; first < n; first += 256) {
    const Long i = first + threadIdx.x;
    const unsigned mine = i < n && wanted(i) ? 1 : 0;
    int from = 0;
    sums[0][threadIdx.x] = mine;
    __syncthreads();
    for (int step = 1; step < 256; step *= 2) {
      const unsigned before = (int)threadIdx.x >= step ? sums[from][threadIdx.x - step] : 0;
      sums[1 - from][threadIdx.x] = sums[from][threadIdx.x] + before;
      from = 1 - from;
      __syncthreads();
    }
    if (mine) to[base + sums[from][threadIdx.x] - 1] = (unsigned)i;
    base += sums[from][255];
    __syncthreads();
  }
  return base;
}

// Stable sort of n indices in `one` by descending score; returns the buffer with the result.
__device__ inline unsigned* by_score(const T* score, unsigned* one, unsigned* other, Long n) {
  const auto key = [&](unsigned at) { return ~KeyOf<T>::of(score[at]); };
  __syncthreads();
  for (Long width = 1; width < n; width *= 2) {
    merge(one, other, n, width, key);
    __syncthreads();
    unsigned* last = one;
    one = other, other = last;
  }
  return one;
}

// Clear `alive` of boxes that overlap a better one beyond `limit`, until `most` boxes are kept.
// Returns where it stopped.
template <bool REACHING>
__device__ inline Long suppress(const T* box, const T* kind, unsigned* alive, Long n, T limit,
                                T margin, Long most) {
  Long i = 0, living = 0;
  __syncthreads();
  for (; i < n && living < most; ++i) {
    if (!alive[i]) continue;
    ++living;
    const T area = area_of(box + 4 * i, margin);
    for (Long j = i + 1 + threadIdx.x; j < n; j += 256) {
      if (!alive[j] || (kind && kind[j] != kind[i])) continue;
      const T found = overlap_of(box + 4 * i, area, box + 4 * j, margin);
      if (REACHING ? found >= limit : found > limit) alive[j] = 0;
    }
    __syncthreads();
  }
  return i;
}
