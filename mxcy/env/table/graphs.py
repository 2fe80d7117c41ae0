"""Passes over graphs."""

from mxcy.env.kinds import flag, one_of
from mxcy.env.variable import Variable

_NO_INT8 = "layers of 8 bits have no such switch"

ROWS = (
    Variable("MXNET_ELIMINATE_COMMON_EXPR", flag, True, "C", "mxcy.graph.passes.cse",
             "Compute once what several nodes of a graph compute alike.",
             test="env/test_graphs.py::test_eliminate_common_expr"),
    Variable("MXNET_USE_FUSION", flag, True, "C", "mxcy.graph.passes.fuse",
             "Run connected elementwise operators of a graph as one program.",
             test="env/test_graphs.py::test_use_fusion"),
    Variable("MXNET_SUBGRAPH_BACKEND", one_of("ONEDNN", "MKLDNN", "NONE"), "ONEDNN", "C",
             "mxcy.graph.optimize",
             "NONE: graphs are not rewritten for fused layers and blocked arrays.",
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
             "1: attention is not one operator, nor do its products take in splits, reshapes and "
             "transposes.",
             aliases=("MXNET_DISABLE_MKLDNN_TRANSFORMER_OPT",),
             test="env/test_graphs.py::test_products_have_switches"),
    Variable("MXNET_DISABLE_ONEDNN_BATCH_DOT_FUSE", flag, False, "C", "mxcy.graph.passes.products",
             "1: other products of batches do not take in transposes and factors.",
             aliases=("MXNET_DISABLE_MKLDNN_BATCH_DOT_FUSE",),
             test="env/test_graphs.py::test_products_have_switches"),
    Variable("MXNET_DISABLE_ONEDNN_POW_MUL_SCALAR_OPT", flag, False, "C", "mxcy.graph.passes.fuse",
             "1: without MXNET_USE_FUSION, a power and a product with numbers stay two operators.",
             test="env/test_graphs.py::test_scaled_power"),
    Variable("MXNET_DISABLE_REMOVE_CASTS_PROPERTY", flag, False, "C", "mxcy.graph.passes.casts",
             "1: casts around expand_dims stay although the second undoes the first.",
             test="env/test_graphs.py::test_undone_casts"),
    *(Variable(f"MXNET_ONEDNN_FUSE_{name}", flag, True, "C", "mxcy.graph.fused.ranges",
               f"0: in quantized symbols rewritten for a backend, {what} stays a node of its own.",
               aliases=(f"MXNET_MKLDNN_FUSE_{name}",),
               test="env/test_graphs.py::test_quantized_layers_take_in_what_follows")
      for name, what in (
          ("REQUANTIZE", "what gives a layer's result its calibrated range"),
          ("DEQUANTIZE", "what makes floats of a dense layer's or a product's result"),
      )),
    *(Variable(name, flag, default, "C", "mxcy.graph.passes.layers", doc, aliases=aliases,
               inert=why)
      for name, default, doc, aliases, why in (
          ("MXNET_ONEDNN_QFC_DYNAMIC_PARAMS", False,
           "Weights of quantized dense layers may change.", (), _NO_INT8),
          ("MXNET_ONEDNN_DISABLE_FC_CACHE", False,
           "Quantized dense layers keep no weights in their own layout.", (), _NO_INT8),
          ("MXNET_NODE_ELIMINATION", False, "Remove nodes without effect.", (),
           "such nodes are always removed; see MXNET_ELIMINATE_COMMON_EXPR"),
          ("NNVM_AUTO_SEARCH_MATCH_RANGE", False, "Search for the best NNVM_EXEC_MATCH_RANGE.", (),
           "it is always searched for"),
      )),
)
