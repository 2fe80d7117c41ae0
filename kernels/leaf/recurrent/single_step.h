// A single step of one direction for few sequences. Each member of a team takes some of the units
// through both products and the cell, so it waits for no other member and reads its weights once.
#pragma once
#include "leaf/recurrent/cells.h"
#include "leaf/recurrent/unit_panels.h"

MX_LEAF_BEGIN

template <class T>
struct SingleStep {
  int64_t source;                 // elements of each sequence's data
  const T *data, *weight, *bias;  // followed by the weights and the bias of the hidden state
  const T *state, *cell;
  T *gates, *own, *extra, *out;
};

// Whether a direction has one; `source` is the number of elements of each sequence's data.
inline bool is_single_step(const RnnShape& s, int64_t source) {
  const bool plain = !s.projected && !s.lengths;
  return s.panels || (s.steps == 1 && plain && has_few_rows(s.batch, least(source, s.out)));
}

template <class T>
void run_single_step(const RnnShape& s, int threads, const SingleStep<T>& p) {
  const T *own_weight = p.weight + s.rows * p.source, *own_bias = p.bias + s.rows;
  const bool gru = s.mode == kGru;
  T* own = gru ? p.own : p.gates;
  const CellBounds<T> bounds(s);
  parallel_for(threads, s.hidden, s.panels ? kUnits : kLanes<T>, [&](int64_t first, int64_t last) {
    for (int64_t gate = 0; gate < s.rows; gate += s.hidden) {
      const int64_t begin = gate + first, end = gate + last;
      for (int64_t n = 0; n < s.batch; ++n) {
        for (int64_t j = begin; j < end; ++j) {
          p.gates[n * s.rows + j] = p.bias[j] + (gru ? 0 : own_bias[j]);
          if (gru) own[n * s.rows + j] = own_bias[j];
        }
      }
      if (s.panels) continue;
      add_few_rows(s.batch, begin, end, p.source, p.data, p.weight, p.gates, s.rows);
      add_few_rows(s.batch, begin, end, s.out, p.state, own_weight, own, s.rows);
    }
    for (int64_t j = first; s.panels && j < last; j += kUnits) {
      const UnitPanel<T> panel(p.weight, s.hidden, s.rows / s.hidden, p.source + s.out, j);
      panel.add_products(0, p.source, p.data, p.gates);
      panel.add_products(p.source, s.out, p.state, own);
    }
    for (int64_t n = 0; n < s.batch; ++n) {
      const Forward<T> row = {p.gates + n * s.rows, p.extra ? p.extra + n * s.hidden : nullptr,
                              p.out + n * s.wide,   gru ? own + n * s.rows : nullptr,
                              p.state + n * s.out,  p.cell ? p.cell + n * s.hidden : nullptr};
      cell_step(s.mode, s.hidden, bounds, row, first, last);
    }
  });
}

MX_LEAF_END
