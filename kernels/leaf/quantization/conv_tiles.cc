// "int8_conv_tiles" and "int8_dense_tiles": convolutions of channels-last int8 or uint8 data and
// dense layers with AMX; "…_pack" packs the weights: the initial value of each filter's sum, which
// accounts for the zero point, then tiles of weights. Bytes past the end of a run are multiplied by
// zero weights.
#include "leaf/quantization/tile_weave.h"
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
  ByteLayer plain;
  ByteSink sink;
  bool is_signed;

  template <class Meanwhile>
  void multiply(bool two_rows, bool two_columns, const TileBlock& block,
                const Meanwhile& meanwhile) const {
    is_signed ? multiply_tiles<Signed>(two_rows, two_columns, block, meanwhile)
              : multiply_tiles<Unsigned>(two_rows, two_columns, block, meanwhile);
  }
  void finish(const int32_t* sums, int64_t pixels, int vectors, int64_t pixel,
              int64_t filter) const {
    finish_rows(sums, kBlock, pixels, vectors, sink, pixel, filter);
  }
  void fill(const TileLayer& l, const uint8_t* in, int64_t image, uint8_t* band, int64_t first,
            int64_t rows) const {
    in += image * plain.height * plain.width * plain.channels;
    if (l.in_phases)
      fill_phases(l, in, band, first, rows);
    else if (is_woven(plain))
      fill_woven(plain, l, in, band, first, rows);
    else
      fill_band(l, in, band, first, rows);
  }
};

// The layer without conversion of its bytes.
template <class P>
ByteLayer plain_layer(const P& p) {
  ByteLayer layer(p);
  layer.is_signed = false, layer.middle = (uint8_t)p.zero;
  return layer;
}

// The layer as tiles compute it, with runs split into about equal parts.
TileLayer tiled(const ByteLayer& plain) {
  TileLayer layer(is_woven(plain) ? woven(plain) : plain);
  layer.in_phases = layer.better_in_phases();
  layer.depth = round_up(ceil_div(layer.run(), ceil_div(layer.run(), kTileBytes)), (int64_t)4);
  return layer;
}

struct LayerWork : TileWork<Bytes> {
  template <class P>
  LayerWork(const mx_call* call, const P& p, int threads)
      : LayerWork(call, p, plain_layer(p), data<int8_t>(call->in[1]), threads) {}

 private:
  template <class P>
  LayerWork(const mx_call* call, const P& p, const ByteLayer& plain, const int8_t* blob,
            int threads)
      : TileWork<Bytes>(tiled(plain),
                        Bytes{plain, sink_of(call, p, plain.filters), p.source_type == MX_I8},
                        call->in[0].data, p.zero ? (const int32_t*)blob : nullptr,
                        blob + plain.start_bytes(), threads) {}
};

void pack_weights(const ByteLayer& plain, int32_t zero, const int8_t* from, int8_t* blob,
                  int threads) {
  const TileLayer l = tiled(plain);
  const int64_t size = plain.channels * plain.taps_y * plain.taps_x;
  const auto weight = [&](int64_t filter, int64_t run, int64_t at) {
    if (filter >= l.filters) return (int8_t)0;
    const int8_t* own = from + filter * size;
    return is_woven(plain) ? woven_weight(plain, own, run, at) : weight_at(l, own, run, at);
  };
  pack_tiles(l, blob + l.start_bytes(), threads, weight, [&](int64_t filter) {
    int32_t total = 0;
    for (int64_t i = 0; filter < l.filters && i < size; ++i) total += from[filter * size + i];
    ((int32_t*)blob)[filter] = -zero * total;
  });
}

template <class P>
struct Tiled {
  typedef LayerWork Work;
  static int64_t workspace(const P& p, int threads) {
    const TileLayer layer = tiled(plain_layer(p));
    return threads * TileCut(layer, threads).workspace(layer);
  }
  static int64_t packed(const P& p) {
    const TileLayer layer = tiled(plain_layer(p));
    return layer.start_bytes() + layer.packed_bytes();
  }
  static void pack(const P& p, const int8_t* plain, int8_t* blob, int threads) {
    pack_weights(plain_layer(p), p.zero, plain, blob, threads);
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
