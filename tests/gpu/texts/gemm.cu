// C = relu(A B + bias) by tiles of 32 x 32 in shared memory; a thread has a column of four outputs.
#define TILE 32

extern "C" __global__ void __launch_bounds__(256)
    gemm_bias_relu(const float* a, const float* b, const float* bias, float* c, int m, int n, int k) {
  __shared__ float a_tile[TILE][TILE + 1], b_tile[TILE][TILE + 1];
  const int column = blockIdx.x * TILE + threadIdx.x, first_row = blockIdx.y * TILE;
  float sum[4] = {0, 0, 0, 0};
  for (int start = 0; start < k; start += TILE) {
    for (int i = threadIdx.y; i < TILE; i += blockDim.y) {
      const int row = first_row + i, ka = start + threadIdx.x, kb = start + i;
      a_tile[i][threadIdx.x] = row < m && ka < k ? a[(long long)row * k + ka] : 0;
      b_tile[i][threadIdx.x] = kb < k && column < n ? b[(long long)kb * n + column] : 0;
    }
    __syncthreads();
    for (int i = 0; i < TILE; ++i)
      for (int j = 0; j < 4; ++j)
        sum[j] += a_tile[threadIdx.y + 8 * j][i] * b_tile[i][threadIdx.x];
    __syncthreads();
  }
  for (int j = 0; j < 4; ++j) {
    const int row = first_row + threadIdx.y + 8 * j;
    if (row < m && column < n) c[(long long)row * n + column] = fmaxf(sum[j] + bias[column], 0.f);
  }
}
