// "fc_tiles": float32 dense layers with AMX, over operands in three parts of bfloat16 each (see
// parts.h). "fc_tiles_pack" orders the weights, which are split when they are read.
#include "leaf/matrix/parts_product.h"
#include "leaf/matrix/teams.h"
#include "leaf/queries.h"
#include "leaf/simd/bf16.h"
#include "params/fused.gen.h"

#if MX_ISA_LEVEL == 4
#include "tiles.h"

MX_LEAF_BEGIN

namespace {

typedef mx_fused_dense_params P;

// Writes sums with bias, addend and activation.
struct Results {
  const P& p;
  const float *bias, *other;
  float* out;

  void operator()(const float* sums, int64_t row, int64_t rows, int64_t column) const {
    constexpr int L = kLanes<float>;
    const int64_t columns = least(kSide, p.hidden - column);
    const bool whole = columns == kSide;
    for (int64_t i = 0; i < rows; ++i, sums += kSide) {
      const int64_t at = (row + i) * p.hidden + column;
      for (int64_t j = 0; j < columns; j += L) {
        const int count = (int)(whole ? L : least(L, columns - j));
        const auto read = [&](const float* from) MX_ALWAYS {
          return count == L ? load(from) : load_first(from, count);
        };
        VF x = load(sums + j);
        if (bias) x += read(bias + column + j);
        if (other) x += read(other + at + j);
        if (p.act == kRelu) x = x < 0 ? VF{} : x;
        if (count == L) {
          store(out + at + j, x);
        } else {
          store_first(out + at + j, x, count);
        }
      }
      if (p.act != kNoAct && p.act != kRelu) {
        activate_row(out + at, (int)columns, p.act, (float)p.alpha, (float)p.beta);
      }
    }
  }
};

// The reason the kernel rejects a call, or NULL.
const char* refusal(const P& p) {
  if (!tiles_allowed() || !multiplies_bf16()) return "this CPU has no AMX-BF16";
  if (p.rows * p.hidden * p.depth < 1 << 18) return "too small to profit from packed weights";
  return nullptr;
}

int64_t query(const mx_call* call, int32_t what) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return refused("fc_tiles", reason, what);
  if (what == MX_QUERY_PACKED)
    return OrderedColumns::size(p.hidden, p.depth) * (int64_t)sizeof(float);
  return what == MX_QUERY_WORKSPACE ? 0 : 1;  // accepted; there is a single layout
}

int fc_tiles(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_tiles: %s", reason);
  const Results results = {p, p.bias ? data<float>(call->in[2]) : nullptr,
                           p.sum ? data<float>(call->in[call->nin - 1]) : nullptr,
                           data<float>(call->out[0])};
  const PlainRows rows = {{data<float>(call->in[0]), p.depth, false}, p.depth};
  const OrderedColumns weights = {data<float>(call->in[1]), p.depth};
  const bool good = for_parts<float>(
      call->threads, p.rows, kHalf, p.hidden, kSide,
      [&](int64_t i, int64_t rows_end, int64_t j, int64_t columns_end) {
        return PartsProduct(rows, weights, p.depth, results).compute(i, rows_end, j, columns_end);
      });
  return good ? 0 : -1;
}

int fc_tiles_pack(const mx_call* call) {
  const P& p = *(const P*)call->params;
  if (const char* reason = refusal(p)) return mx_fail("fc_tiles_pack: %s", reason);
  const Matrix<float> weights = {data<float>(call->in[0]), p.depth, false};
  float* ordered = data<float>(call->out[0]);
  parallel_for(call->threads, p.hidden, kSide, [&](int64_t begin, int64_t end) {
    order_columns(weights, begin, end, p.depth, ordered + OrderedColumns::size(begin, p.depth));
  });
  return 0;
}

}  // namespace

void register_dense_tiles() {
  if (!tiles_allowed() || !multiplies_bf16()) return;
  add_with_query("fc_tiles", fc_tiles, MX_BIT(F32), query);
  add_with_query("fc_tiles_pack", fc_tiles_pack, MX_BIT(F32), query);
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_dense_tiles() {}  // requires AMX
MX_LEAF_END
#endif
