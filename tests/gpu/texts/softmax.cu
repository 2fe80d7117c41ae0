// A row per block: maximum and sum by shuffles within warps and shared memory between them.
enum Reduction { kMaximum, kSum };

__device__ float combine(Reduction reduction, float a, float b) {
  return reduction == kMaximum ? fmaxf(a, b) : a + b;
}

__device__ float combine_block(Reduction reduction, float value) {
  __shared__ float of_warp[32];
  const int lane = threadIdx.x % 32, warp = threadIdx.x / 32, warps = blockDim.x / 32;
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(reduction, value, __shfl_xor_sync(0xffffffffu, value, distance));
  if (lane == 0) of_warp[warp] = value;
  __syncthreads();
  value = lane < warps ? of_warp[lane] : reduction == kMaximum ? -3.4e38f : 0;
  for (int distance = 16; distance > 0; distance /= 2)
    value = combine(reduction, value, __shfl_xor_sync(0xffffffffu, value, distance));
#ifndef WITHOUT_SECOND_BARRIER
  __syncthreads();  // before of_warp is written again
#endif
  return value;
}

extern "C" __global__ void softmax(const float* x, float* y, int columns) {
  const float* row = x + (long long)blockIdx.x * columns;
  float* out = y + (long long)blockIdx.x * columns;
  float largest = -3.4e38f, sum = 0;
  for (int i = threadIdx.x; i < columns; i += blockDim.x) largest = fmaxf(largest, row[i]);
  largest = combine_block(kMaximum, largest);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) sum += expf(row[i] - largest);
  sum = combine_block(kSum, sum);
  for (int i = threadIdx.x; i < columns; i += blockDim.x) out[i] = expf(row[i] - largest) / sum;
}
