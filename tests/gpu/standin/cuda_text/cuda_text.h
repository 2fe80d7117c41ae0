// Prelude of a CUDA source for g++; compiler.py adds the kernels' entries.
#pragma once
#include <stddef.h>
#include <stdint.h>

#define __global__ __attribute__((visibility("default"), used))
#define __device__
#define __host__
#define __constant__
#define __managed__
#define __forceinline__ inline __attribute__((always_inline))
#define __noinline__ __attribute__((noinline))
#define __launch_bounds__(...)
#define __align__(bytes) __attribute__((aligned(bytes)))

#include "atomics.h"
#include "block.h"
#include "intrinsics.h"
#include "launch.h"
#include "vectors.h"
#include "warp.h"

#define __shared__ static __attribute__((section("cuda_shared")))
#define CUDA_TEXT_DYNAMIC_SHARED(T, name) T* name = (T*)cuda_text::block.shared
#define threadIdx (cuda_text::running->index)
#define blockIdx (cuda_text::block.index)
#define blockDim (cuda_text::block.size)
#define gridDim (cuda_text::block.grid)
#define warpSize 32
