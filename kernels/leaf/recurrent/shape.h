// Stacked recurrent layers: extents, and offsets of weights and of saved values.
#pragma once
#include "leaf/leaf.h"
#include "params/recurrent.gen.h"

MX_LEAF_BEGIN

enum RnnMode { kRnnRelu, kRnnTanh, kLstm, kGru };

struct RnnShape {
  int64_t steps, batch, inputs, hidden, layers, directions;
  int64_t out;   // size of a hidden state: of the projection, if there is one
  int64_t rows;  // of a direction's weights: all gates
  int64_t wide;  // outputs of a layer per step: all directions
  int mode;
  bool projected, extra, drops, saves, lengths, panels;
  bool clips, clips_nan;  // whether cell states have bounds; whether NaN becomes the lower one
  double low, high;

  explicit RnnShape(const mx_rnn_params& p)
      : steps(p.steps),
        batch(p.batch),
        inputs(p.inputs),
        hidden(p.hidden),
        layers(p.layers),
        directions(p.directions),
        out(p.projection ? p.projection : p.hidden),
        rows(p.gates * p.hidden),
        wide(p.directions * out),
        mode(p.mode),
        projected(p.projection != 0),
        extra(p.extra != 0),
        drops(p.drop > 0),
        saves(p.saves != 0),
        lengths(p.lengths != 0),
        panels(p.panels != 0),
        clips(p.clips != 0),
        clips_nan(p.clips == 2),
        low(p.low),
        high(p.high) {}

  int64_t points() const { return steps * batch; }
  int64_t source(int64_t layer) const { return layer ? wide : inputs; }

  // Offset of a direction's input weights; the hidden state's and the projection's follow.
  int64_t weights_at(int64_t layer, int64_t direction) const {
    const int64_t own = rows * out + (projected ? out * hidden : 0);
    const int64_t first = rows * inputs + own, other = rows * wide + own;
    if (layer == 0) return direction * first;
    return directions * first + ((layer - 1) * directions + direction) * other;
  }
  // Offset of the input bias; the hidden state's follows.
  int64_t bias_at(int64_t layer, int64_t direction) const {
    return weights_at(layers, 0) + (layer * directions + direction) * 2 * rows;
  }

  // Size of what is saved for the gradient.
  int64_t part_size() const { return points() * (rows + (extra ? hidden : 0)); }
  int64_t part_at(int64_t layer, int64_t direction) const {
    const int64_t between = points() * wide * (drops ? 2 : 1);
    return layer * (directions * part_size() + between) + direction * part_size();
  }
  int64_t out_at(int64_t layer) const { return part_at(layer, directions); }
  int64_t mask_at(int64_t layer) const { return out_at(layer) + points() * wide; }
  int64_t saved_size() const { return out_at(layers - 1); }

  // The i-th step of a direction, and the step before it in time.
  int64_t step(int64_t direction, int64_t i) const { return direction ? steps - 1 - i : i; }
};

MX_LEAF_END
