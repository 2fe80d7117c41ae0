// "rnn_unit_panels": parameters of recurrent layers with their weights in panels of units.
#include "leaf/recurrent/unit_panels.h"

MX_LEAF_BEGIN
namespace {

// Arrange the weights of one direction, whose rows have `depth` elements, into panels from
// element `begin` of `total` on.
template <class T>
void arrange_units(int threads, int64_t hidden, int64_t gates, int64_t begin, int64_t depth,
                   int64_t total, const T* weights, T* panels) {
  parallel_for(threads, hidden, kUnits, [&](int64_t first, int64_t last) {
    for (int64_t j = first; j < last; j += kUnits) {
      const int64_t width = least(kUnits, hidden - j);
      T* to = panels + j * gates * total + begin * gates * width;
      for (int64_t gate = 0; gate < gates; ++gate) {
        for (int64_t unit = 0; unit < width; ++unit) {
          const T* from = weights + (gate * hidden + j + unit) * depth;
          for (int64_t p = 0; p < depth; ++p) to[(p * gates + gate) * width + unit] = from[p];
        }
      }
    }
  });
}

template <class T>
int rnn_unit_panels(const mx_call* call) {
  const RnnShape s(*(const mx_rnn_params*)call->params);
  const int64_t gates = s.rows / s.hidden;
  const T* from = data<T>(call->in[0]);
  T* to = data<T>(call->out[0]);
  for (int64_t layer = 0; layer < s.layers; ++layer) {
    for (int64_t direction = 0; direction < s.directions; ++direction) {
      const int64_t at = s.weights_at(layer, direction), source = s.source(layer);
      const int64_t total = source + s.out;
      arrange_units(call->threads, s.hidden, gates, 0, source, total, from + at, to + at);
      arrange_units(call->threads, s.hidden, gates, source, s.out, total,
                    from + at + s.rows * source, to + at);
    }
  }
  const int64_t biases = s.bias_at(0, 0);
  memcpy(to + biases, from + biases, (s.bias_at(s.layers, 0) - biases) * sizeof(T));
  return 0;
}

}  // namespace

void register_unit_panels() {
  mx_kernel_add("rnn_unit_panels", rnn_unit_panels<float>, MX_BIT(F32), 0);
  mx_kernel_add("rnn_unit_panels", rnn_unit_panels<double>, MX_BIT(F64), 0);
}
MX_LEAF_END
