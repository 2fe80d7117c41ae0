// "int8_conv_tiles" and "int8_dense_tiles": convolutions of channels-last int8 or uint8 data and
// dense layers with AMX; "…_pack" packs the weights: the initial value of each filter's sum, which
// accounts for the zero point, then tiles of weights. Bytes past the end of a run are multiplied by
// zero weights.
#include "leaf/quantization/tile_work.h"

#if MX_ISA_LEVEL == 4
#include "tiles.h"

MX_LEAF_BEGIN
namespace {

struct Signed {
  template <int sums, int data, int weights>
  static void add() {
    __asm__ volatile("tdpbssd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(data), "i"(weights));
  }
};
struct Unsigned {
  template <int sums, int data, int weights>
  static void add() {
    __asm__ volatile("tdpbusd %%tmm%c2, %%tmm%c1, %%tmm%c0" ::"i"(sums), "i"(data), "i"(weights));
  }
};

struct Bytes {
  ByteSink sink;
  bool is_signed;

  void multiply(bool two_rows, bool two_columns, const TileBlock& block) const {
    is_signed ? multiply_tiles<Signed>(two_rows, two_columns, block)
              : multiply_tiles<Unsigned>(two_rows, two_columns, block);
  }
  void finish(const int32_t* sums, int64_t pixels, int vectors, int64_t pixel,
              int64_t filter) const {
    finish_rows(sums, kBlock, pixels, vectors, sink, pixel, filter);
  }
  static void fill(const TileLayer& l, const uint8_t* in, int64_t image, uint8_t* band,
                   int64_t first, int64_t rows) {
    fill_band(l, in + image * l.height * l.width * l.channels, band, first, rows);
  }
};

// The layer without conversion of its bytes, and runs split into about equal parts.
template <class P>
TileLayer layer_of(const P& p) {
  TileLayer layer(p);
  layer.depth = round_up(ceil_div(layer.run(), ceil_div(layer.run(), kTileBytes)), (int64_t)4);
  layer.is_signed = false, layer.middle = (uint8_t)p.zero;
  return layer;
}

struct LayerWork : TileWork<Bytes> {
  template <class P>
  LayerWork(const mx_call* call, const P& p, int threads)
      : LayerWork(call, p, layer_of(p), data<int8_t>(call->in[1]), threads) {}

 private:
  template <class P>
  LayerWork(const mx_call* call, const P& p, const TileLayer& l, const int8_t* blob, int threads)
      : TileWork<Bytes>(l, Bytes{sink_of(call, p, l.filters), p.source_type == MX_I8},
                        call->in[0].data, p.zero ? (const int32_t*)blob : nullptr,
                        blob + l.start_bytes(), threads) {}
};

void pack_weights(const TileLayer& l, int32_t zero, const int8_t* plain, int8_t* blob,
                  int threads) {
  const int64_t size = l.channels * l.taps_y * l.taps_x;
  const auto weight = [&](int64_t filter, int64_t run, int64_t at) {
    return filter < l.filters ? weight_at(l, plain + filter * size, run, at) : (int8_t)0;
  };
  pack_tiles(l, blob + l.start_bytes(), threads, weight, [&](int64_t filter) {
    int32_t total = 0;
    for (int64_t i = 0; filter < l.filters && i < size; ++i) total += plain[filter * size + i];
    ((int32_t*)blob)[filter] = -zero * total;
  });
}

template <class P>
struct Tiled {
  typedef LayerWork Work;
  static int64_t workspace(const P& p, int threads) {
    const TileLayer layer = layer_of(p);
    return threads * TileCut(layer, threads).workspace(layer);
  }
  static int64_t packed(const P& p) {
    const TileLayer layer = layer_of(p);
    return layer.start_bytes() + layer.packed_bytes();
  }
  static void pack(const P& p, const int8_t* plain, int8_t* blob, int threads) {
    pack_weights(layer_of(p), p.zero, plain, blob, threads);
  }
};

}  // namespace

void register_conv_tiles() {
  if (!tiles_allowed()) return;
  add_layer<Tiled, mx_int8_conv_params>("int8_conv_tiles", "int8_conv_tiles_pack");
  add_layer<Tiled, mx_int8_dense_params>("int8_dense_tiles", "int8_dense_tiles_pack");
}
MX_LEAF_END
#else
MX_LEAF_BEGIN
void register_conv_tiles() {}  // requires AMX
MX_LEAF_END
#endif
