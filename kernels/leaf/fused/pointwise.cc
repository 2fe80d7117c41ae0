// "fused_pointwise": a program of elementwise instructions, run on one tile of elements after the
// other, so that intermediate results stay in the L1 cache. Instructions are the lines of
// elemwise.def; the program comes from mxcy/ops/fused/pointwise.py.
#include "leaf/elementwise/functor.h"
#include "leaf/simd/plane.h"
#include "params/fused.gen.h"

MX_LEAF_BEGIN
namespace {

constexpr int kSteps = 64, kPlaces = 64;
constexpr int64_t kTileBytes = 24 << 10;  // size of all registers: most of the L1 cache

// Operand numbers: registers, then inputs, then outputs.
constexpr int kFirstInput = 100, kFirstOutput = 200;

// Additional instructions: dst = number; dst = a; dst = the broadcast input a.
constexpr uint32_t kFill = name_code("fill"), kCopy = name_code("copy"),
                   kExpand = name_code("expand");

// A program with its instructions looked up.
struct Resolved {
  struct {
    Row row;  // NULL: an expansion of a broadcast input
    Operands operands;
  } step[kSteps];
};

template <class T>
void copy_row(void* dst, const void* a, const void*, int64_t n) {
  if (dst != a) memmove(dst, a, (size_t)n * sizeof(T));
}
template <class T>
void fill_row(void* dst, const void*, const void* b, int64_t n) {
  apply_row<T, false, false>((T*)dst, (const T*)b, (const T*)b, n,
                             [](Vec<T> x, Vec<T>) MX_ALWAYS { return x; });
}

bool is_one(const mx_program_params& p, int place) {
  const int input = place - kFirstInput;
  return input >= 0 && place < kFirstOutput && p.extent[input] == 1;
}

template <class T>
int resolve(const mx_call* call, Resolved* resolved) {
  const auto& p = *(const mx_program_params*)call->params;
  for (int i = 0; i < p.steps; ++i) {
    const uint32_t code = (uint32_t)p.code[i];
    auto& step = resolved->step[i];
    if (code == kFill) {
      step = {fill_row<T>, kNumbers};
    } else if (code == kCopy || code == kExpand) {
      step = {code == kCopy ? copy_row<T> : nullptr, kUnary};
    } else {
      const Instruction* one = unary_instruction(code, dtype_of<T>);
      if (!one) one = binary_instruction(code, dtype_of<T>);
      if (!one) return mx_fail("fused_pointwise: step %d has an unknown instruction", i);
      step = {one->row, one->operands};
      if (one->operands == kPair && is_one(p, p.b[i])) step.row = one->vs;
      if (one->operands == kPair && is_one(p, p.a[i])) step.row = one->sv;
    }
  }
  return 0;
}

// Location of an operand for the tile at position i: base + i * step.
struct Place {
  char* base;
  int64_t step;
  char* at(int64_t i) const { return base + i * step; }
};

// Expand n elements of a broadcast input, from position i on.
template <class T>
void expand(T* dst, const T* src, int64_t i, int64_t n, int64_t extent, int64_t inner) {
  int64_t index = i / inner % extent, rest = inner - i % inner;
  while (n > 0) {
    int64_t m;
    if (inner == 1) {  // a contiguous run of distinct elements
      m = least(n, extent - index);
      memcpy(dst, src + index, (size_t)m * sizeof(T));
      index = 0;
    } else {
      m = least(n, rest);
      fill_row<T>(dst, nullptr, src + index, m);
      if (++index == extent) index = 0;
      rest = inner;
    }
    dst += m;
    n -= m;
  }
}

template <class T>
void run(const mx_call* call, const mx_program_params& p, const Resolved& resolved) {
  const int64_t total = count(call->out[0]);
  const bool streams = beyond_caches(call->out[0]);
  // Outputs that are not wanted, or that are written past the caches, are computed into a tile.
  int tiles = p.registers;
  for (int o = 0; o < call->nout; ++o) tiles += streams || !call->out[o].data;
  const int64_t line = 64 / sizeof(T);
  int64_t tile = kTileBytes / (int64_t)sizeof(T) / (tiles > 0 ? tiles : 1) / line * line;
  tile = least(tile, 2048);
  T numbers[2 * kSteps];
  for (int i = 0; i < 2 * p.steps; ++i) numbers[i] = (T)p.numbers[i];
  parallel_for(call->threads, total, tile, [&](int64_t begin, int64_t end) {
    alignas(64) char memory[kTileBytes];
    int used = 0;
    const auto next_tile = [&] { return Place{memory + tile * sizeof(T) * used++, 0}; };
    Place places[kPlaces], outputs[16];
    for (int r = 0; r < p.registers; ++r) places[r] = next_tile();
    for (int o = 0; o < call->nout; ++o) {
      char* to = data<char>(call->out[o]);
      outputs[o] = to && !streams ? Place{to, sizeof(T)} : next_tile();
    }
    const auto place = [&](int number) {
      if (number < kFirstInput) return places[number];
      if (number >= kFirstOutput) return outputs[number - kFirstOutput];
      const int input = number - kFirstInput;
      return Place{data<char>(call->in[input]), p.extent[input] ? 0 : (int64_t)sizeof(T)};
    };
    struct Bound {
      Place dst, a, b;
    } bound[kSteps];
    for (int i = 0; i < p.steps; ++i) {
      Bound& step = bound[i];
      const Place pair = {(char*)(numbers + 2 * i), 0};
      step.dst = place(p.dst[i]);
      step.a = resolved.step[i].operands == kNumberFirst || p.a[i] < 0 ? pair : place(p.a[i]);
      step.b = pair;
      if (resolved.step[i].operands == kNumberFirst) step.b = place(p.a[i]);
      if (resolved.step[i].operands == kPair) step.b = place(p.b[i]);
    }
    for (int64_t at = begin; at < end; at += tile) {
      const int64_t n = least(tile, end - at);
      for (int i = 0; i < p.steps; ++i) {
        const Bound& step = bound[i];
        if (const Row row = resolved.step[i].row) {
          row(step.dst.at(at), step.a.at(at), step.b.at(at), n);
        } else {
          const int input = p.a[i] - kFirstInput;
          expand((T*)step.dst.at(at), data<T>(call->in[input]), at, n, p.extent[input],
                 p.inner[input]);
        }
      }
      for (int o = 0; streams && o < call->nout; ++o) {
        char* to = data<char>(call->out[o]);
        if (to) stream_bytes(to + at * sizeof(T), outputs[o].base, n * sizeof(T));
      }
    }
    if (streams) end_streams();
  });
}

template <class T>
int fused_pointwise(const mx_call* call) {
  const auto& p = *(const mx_program_params*)call->params;
  if (call->state) {
    run<T>(call, p, *(const Resolved*)call->state);
    return 0;
  }
  Resolved resolved;
  if (resolve<T>(call, &resolved) != 0) return -1;
  run<T>(call, p, resolved);
  return 0;
}

int resolve_any(const mx_call* call, Resolved* resolved) {
  return call->in[0].dtype == MX_F32 ? resolve<float>(call, resolved)
                                     : resolve<double>(call, resolved);
}

int make(const mx_call* call, void** state) {
  Resolved* resolved = (Resolved*)mx_system_alloc(sizeof(Resolved));
  if (!resolved) return -1;
  *state = resolved;
  if (resolve_any(call, resolved) == 0) return 0;
  mx_system_free(resolved);
  *state = nullptr;
  return -1;
}

void drop(void* state) { mx_system_free(state); }

int64_t query(const mx_call* call, int32_t what) {
  Resolved resolved;
  if (what == MX_QUERY_ACCEPTS) return resolve_any(call, &resolved) == 0;
  return 0;
}

}  // namespace

void register_pointwise() {
  static const mx_kernel_extra extra = {make, drop, query};
  mx_kernel_add("fused_pointwise", fused_pointwise<float>, MX_BIT(F32), 0);
  mx_kernel_add("fused_pointwise", fused_pointwise<double>, MX_BIT(F64), 0);
  mx_kernel_extend("fused_pointwise", &extra);
}
MX_LEAF_END
