// AMX tile registers, which hold 16 rows of 64 bytes.
#pragma once
#include "leaf/leaf.h"

#if MX_ISA_LEVEL == 4

MX_LEAF_BEGIN

constexpr int64_t kTileRegisterRows = 16, kTileRegisterBytes = 64;

// In assembly, because the build's ISA level does not include AMX.
#define MX_CLEAR_TILE(number) __asm__ volatile("tilezero %tmm" #number)
#define MX_LOAD_TILE(number, from, step) \
  __asm__ volatile("tileloadd (%0,%1,1), %%tmm" #number ::"r"(from), "r"(step) : "memory")
#define MX_STORE_TILE(number, to, step) \
  __asm__ volatile("tilestored %%tmm" #number ", (%0,%1,1)" ::"r"(to), "r"(step) : "memory")

// The sums in a tile += products of pairs of bfloat16: of rows of windows, and of four bytes for
// each of 16 filters.
template <int sums, int windows, int filters>
MX_INLINE void add_tile_products() {
  __asm__ volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(windows),
                   "i"(filters));
}

// The tile configuration of a thread, which other libraries (oneDNN) use as well: set during this
// object's lifetime and then restored. Tiles 4 and 5 have rows of `depth` bytes of windows, 6 and 7
// rows of four bytes for each of 16 filters, the others hold sums.
class Tiles {
 public:
  explicit Tiles(int64_t depth) {
    Shapes ours = {};
    ours.palette = 1;
    for (int i = 0; i < 8; ++i)
      ours.bytes[i] = kTileRegisterBytes, ours.rows[i] = kTileRegisterRows;
    ours.bytes[4] = ours.bytes[5] = (uint16_t)depth;
    ours.rows[6] = ours.rows[7] = (uint8_t)(depth / 4);
    __asm__ volatile("sttilecfg %0" : "=m"(before_));
    __asm__ volatile("ldtilecfg %0" ::"m"(ours));
  }
  ~Tiles() { __asm__ volatile("ldtilecfg %0" ::"m"(before_)); }
  Tiles(const Tiles&) = delete;

 private:
  struct alignas(64) Shapes {
    uint8_t palette, start_row, reserved[14];
    uint16_t bytes[16];
    uint8_t rows[16];
  };
  Shapes before_;
};

MX_LEAF_END
#endif
