// Concatenation along one dimension (concat, stack), and its inverse (split).
#include "leaf/shape/copy.h"
#include "leaf/simd/cast.h"
#include "leaf/simd/stream.h"
#include "params/shape.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int64_t kGrain = 4096;  // bytes below which another thread does not pay off

// One array as `rows` blocks with stride `bytes`.
struct Side {
  char* data;
  int64_t bytes;
};

void copy_blocks(Side dst, Side src, int64_t rows, int64_t block, int threads) {
  if (block == 0 || rows == 0) return;
  if (rows < 4 * threads) {
    for (int64_t r = 0; r < rows; ++r) {
      parallel_for(threads, block, kGrain, [&](int64_t begin, int64_t end) {
        copy_bytes(dst.data + r * dst.bytes + begin, src.data + r * src.bytes + begin, end - begin);
      });
    }
    return;
  }
  parallel_for(threads, rows, kGrain / block + 1, [&](int64_t begin, int64_t end) {
    for (int64_t r = begin; r < end; ++r)
      copy_bytes(dst.data + r * dst.bytes, src.data + r * src.bytes, block);
  });
}

// Blocks of one element: a copy with one stride on either side.
void copy_elements(Side dst, Side src, int64_t rows, int32_t size, const mx_call* call) {
  const int64_t to_step = dst.bytes / size, from_step = src.bytes / size;
  const mx_tensor from = {src.data, &rows, &from_step, 1, 0};
  mx_tensor to = {dst.data, &rows, &to_step, 1, 0};
  mx_call part = *call;
  part.in = &from;
  part.out = &to;
  strided_copy(size)(&part);
}

void move_part(Side dst, Side src, int64_t rows, int64_t block, int32_t size, const mx_call* call) {
  if (block == size)
    copy_elements(dst, src, rows, size, call);
  else
    copy_blocks(dst, src, rows, block, call->threads);
}

int concat(const mx_call* call) {
  const int64_t rows = static_cast<const mx_blocks_params*>(call->params)->rows;
  if (rows == 0) return 0;
  const int32_t size = element_size(call->out[0].dtype);
  Side whole = {data<char>(call->out[0]), count(call->out[0]) * size / rows};
  for (int i = 0; i < call->nin; ++i) {
    const int64_t block = count(call->in[i]) * size / rows;
    move_part(whole, {data<char>(call->in[i]), block}, rows, block, size, call);
    whole.data += block;
  }
  return 0;
}

int split(const mx_call* call) {
  const int64_t rows = static_cast<const mx_blocks_params*>(call->params)->rows;
  if (rows == 0) return 0;
  const int32_t size = element_size(call->in[0].dtype);
  Side whole = {data<char>(call->in[0]), count(call->in[0]) * size / rows};
  for (int i = 0; i < call->nout; ++i) {
    const int64_t block = count(call->out[i]) * size / rows;
    if (call->req[i] != MX_NULL)
      move_part({data<char>(call->out[i]), block}, whole, rows, block, size, call);
    whole.data += block;
  }
  return 0;
}

}  // namespace

void register_concat() {
  const uint32_t all = MX_REAL_DTYPES;
  mx_kernel_add("concat", concat, all, 0);
  mx_kernel_add("split", split, all, 0);
}
MX_LEAF_END
