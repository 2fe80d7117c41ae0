// Attention: softmax(scale * queries keys' + mask) values, and its gradients. A block computes a
// tile of 64 x 64 elements. Scores of 64 queries and 64 keys at a time stay in registers; their
// exponentials go through shared memory into the next product. 16 x 16 threads hold 4 x 4 elements
// each, so the 16 threads of a row are half a warp.
//
// The types T (of elements) and M (of masks), and SLICE, MASKING and BY are defined before.
// Two blocks share a multiprocessor if 128 registers per thread suffice; with added masks, compilers
// differ on that.
#if defined(__CUDA_ARCH__) && (MASKING == 1 || __CUDA_ARCH__ < 800)
#define BOUNDS 256, 1
#else
#define BOUNDS 256
#endif

enum { kNone, kAdd, kKeep, kLength };

// Strides of matrices in their arrays; columns are contiguous.
struct Places {
  Long offset[4], outer[4], inner[4], row[4], mask[4];
};
struct Sizes {
  Long inner, queries, keys, depth, width;
};
// Both as a kernel argument: integers stored as doubles.
struct Plan {
  double offset[4], outer[4], inner[4], row[4], mask[4], sizes[5];
};
__device__ inline Places places_of(const Plan& plan) {
  Places places;
#pragma unroll
  for (int i = 0; i < 4; ++i) {
    places.offset[i] = (Long)plan.offset[i], places.outer[i] = (Long)plan.outer[i];
    places.inner[i] = (Long)plan.inner[i], places.row[i] = (Long)plan.row[i];
    places.mask[i] = (Long)plan.mask[i];
  }
  return places;
}
__device__ inline Sizes sizes_of(const Plan& plan) {
  return {(Long)plan.sizes[0], (Long)plan.sizes[1], (Long)plan.sizes[2], (Long)plan.sizes[3],
          (Long)plan.sizes[4]};
}

__device__ inline Long start_of(const Places& places, const Sizes& sizes, int operand, Long matrix) {
  return places.offset[operand] + matrix / sizes.inner * places.outer[operand] +
         matrix % sizes.inner * places.inner[operand];
}

struct Shared {
  T a[SLICE][68], b[SLICE][68], p[64][68];
};

// sums += left right over `depth`; operands are contiguous along it (kLeftAlong...) or across it.
template <bool kLeftAlong, bool kRightAlong, class Left, class Right>
__device__ inline void add_products(Shared* shared, Long depth, T (&sums)[4][4], Left left,
                                    Right right) {
  const int across = threadIdx.x % 16 * 4, down = threadIdx.x / 16 * 4;
  for (Long k0 = 0; k0 < depth; k0 += SLICE) {
    for (int i = threadIdx.x; i < 64 * SLICE; i += 256) {
      const int ka = kLeftAlong ? i % SLICE : i / 64, m = kLeftAlong ? i / SLICE : i % 64;
      shared->a[ka][m] = k0 + ka < depth ? left(m, k0 + ka) : T(0);
      const int kb = kRightAlong ? i % SLICE : i / 64, n = kRightAlong ? i / SLICE : i % 64;
      shared->b[kb][n] = k0 + kb < depth ? right(k0 + kb, n) : T(0);
    }
    __syncthreads();
#pragma unroll
    for (int k = 0; k < SLICE; ++k) {
      T x[4], y[4];
#pragma unroll
      for (int i = 0; i < 4; ++i) x[i] = shared->a[k][down + i], y[i] = shared->b[k][across + i];
#pragma unroll
      for (int i = 0; i < 4; ++i)
#pragma unroll
        for (int j = 0; j < 4; ++j) sums[i][j] += x[i] * y[j];
    }
    __syncthreads();
  }
}

// The mask of one matrix of scores.
__device__ inline const M* mask_of(const M* masks, const Places& places, const Sizes& sizes,
                                   Long matrix) {
#if MASKING
  masks += matrix / sizes.inner * places.mask[0] + matrix % sizes.inner * places.mask[1];
#endif
  return masks;
}

// Scaled and masked score, minus infinity where masked out.
__device__ inline T exponent(T score, T scale, const M* mask, const Places& places,
                             const Sizes& sizes, Long query, Long key) {
  const T none = (T)-kInfinity;
  if (query >= sizes.queries || key >= sizes.keys) return none;
  const T scaled = score * scale;
#if MASKING
  const Long at = query * places.mask[2] + key * places.mask[3];
  if (MASKING == kAdd) return scaled + cast<T>(mask[at]);
  if (MASKING == kKeep) return cast<T>(mask[at]) != 0 ? scaled : none;
  return key < cast<Long>(mask[at]) ? scaled : none;
#else
  return scaled;
#endif
}

template <class Join>
__device__ inline T joined_of_row(T x, Join join) {
#pragma unroll
  for (int step = 8; step; step /= 2) x = join(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
