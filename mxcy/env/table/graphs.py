"""Graph passes."""

from mxcy.env.kinds import flag, one_of
from mxcy.env.variable import Variable

_NO_INT8 = "int8 layers have no such option"

ROWS = (
    Variable("MXNET_ELIMINATE_COMMON_EXPR", flag, True, "C", "mxcy.graph.passes.cse",
             "Eliminate common subexpressions in graphs.",
             test="env/test_graphs.py::test_eliminate_common_expr"),
    Variable("MXNET_USE_FUSION", flag, True, "C", "mxcy.graph.passes.fuse",
             "Fuse connected elementwise operators in graphs.",
             test="env/test_graphs.py::test_use_fusion"),
    Variable("MXNET_SUBGRAPH_BACKEND",
             one_of("ONEDNN", "MKLDNN", "default", "default_v2", "NONE"), "ONEDNN", "C",
             "mxcy.graph.optimize",
             "NONE: do not fuse layers and use blocked layouts in graphs. default, default_v2: "
             "executors also enclose the operators selected by name in subgraphs.",
             test="env/test_graphs.py::test_subgraph_backend"),
    *(Variable(f"MXNET_DISABLE_ONEDNN_{name}", flag, False, "C", "mxcy.graph.passes.layers",
               f"1: do not fuse {what}.", aliases=(f"MXNET_DISABLE_MKLDNN_{name}",),
               test="env/test_graphs.py::test_each_fusion_has_a_switch")
      for name, what in (
          ("CONV_OPT", "anything with convolutions and deconvolutions"),
          ("FUSE_CONV_BN", "batch normalisation into convolutions and deconvolutions"),
          ("FUSE_CONV_SUM", "additions into convolutions and deconvolutions"),
          ("FUSE_CONV_RELU", "activations into convolutions and deconvolutions"),
          ("FC_OPT", "anything with dense layers"),
          ("FC_SUM", "additions into dense layers"),
          ("FUSE_FC_ELTWISE", "activations into dense layers"),
      )),
    Variable("MXNET_DISABLE_ONEDNN_FUSE_BN_RELU", flag, False, "C", "mxcy.graph.passes.layout",
             "1: do not fuse ReLU into batch normalisation.",
             aliases=("MXNET_DISABLE_MKLDNN_FUSE_BN_RELU",),
             test="env/test_graphs.py::test_normalisation_with_relu"),
    Variable("MXNET_DISABLE_ONEDNN_BN_RELU_OPT", flag, False, "C", "mxcy.graph.passes.layout",
             "1: the same.", aliases=("MXNET_DISABLE_MKLDNN_BN_RELU_OPT",),
             test="env/test_graphs.py::test_normalisation_with_relu"),
    Variable("MXNET_DISABLE_ONEDNN_TRANSFORMER_OPT", flag, False, "C",
             "mxcy.graph.passes.products",
             "1: do not fuse attention, nor fold splits, reshapes and "
             "transposes.",
             aliases=("MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT",),
             test="env/test_graphs.py::test_products_have_switches"),
    Variable("MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE", flag, False, "C", "mxcy.graph.passes.products",
             "1: do not fold transposes and factors into other batched products.",
             aliases=("MXNET_DISABLE_MKLDNN_BATCH_DOT_FUSE",),
             test="env/test_graphs.py::test_products_have_switches"),
    Variable("MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT", flag, False, "C", "mxcy.graph.passes.fuse",
             "1: without MXNET_USE_FUSION, do not fuse a scalar power with a scalar product.",
             test="env/test_graphs.py::test_scaled_power"),
    Variable("MXNET_DISABLE_REMOVE_CASTS_PROPERTY", flag, False, "C", "mxcy.graph.passes.casts",
             "1: do not remove casts around expand_dims that cancel.",
             test="env/test_graphs.py::test_undone_casts"),
    *(Variable(f"MXNET_ONEDNN_FUSE_{name}", flag, True, "C", "mxcy.graph.fused.ranges",
               f"0: in quantized symbols optimized for a backend, do not fuse {what}.",
               aliases=(f"MXNET_MKLDNN_FUSE_{name}",),
               test="env/test_graphs.py::test_quantized_layers_fuse_epilogues")
      for name, what in (
          ("REQUANTIZE", "requantization to a calibrated range into layers"),
          ("DEQUANTIZE", "dequantization into dense layers and products"),
      )),
    *(Variable(name, flag, default, "C", "mxcy.graph.passes.layers", doc, aliases=aliases,
               inert=why)
      for name, default, doc, aliases, why in (
          ("MXNET_ONEDNN_QFC_DYNAMIC_PARAMS", False,
           "Weights of quantized dense layers may change.", (), _NO_INT8),
          ("MXNET_ONEDNN_DISABLE_FC_CACHE", False,
           "Quantized dense layers do not cache weights in their own layout.", (), _NO_INT8),
          ("MXNET_NODE_ELIMINATION", False, "Remove nodes without effect.", (),
           "such nodes are always removed; see MXNET_ELIMINATE_COMMON_EXPR"),
          ("NNVM_AUTO_SEARCH_MATCH_RANGE", False, "Search for the best NNVM_EXEC_MATCH_RANGE.", (),
           "it is always searched for"),
      )),
)
