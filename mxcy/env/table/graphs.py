"""Passes over graphs."""

from mxcy.env.kinds import flag, one_of
from mxcy.env.variable import Variable

ROWS = (
    Variable("MXNET_ELIMINATE_COMMON_EXPR", flag, True, "C", "mxcy.graph.passes.cse",
             "Compute once what several nodes of a graph compute alike."),
    Variable("MXNET_USE_FUSION", flag, True, "C", "mxcy.graph.passes.fuse",
             "Run connected elementwise operators of a graph as one program."),
    Variable("MXNET_SUBGRAPH_BACKEND", one_of("ONEDNN", "MKLDNN", "NONE"), "ONEDNN", "C",
             "mxcy.graph.optimize",
             "NONE: graphs are not rewritten for fused layers and blocked arrays."),
    *(Variable(f"MXNET_DISABLE_ONEDNN_{name}", flag, False, "C", "mxcy.graph.passes.layers",
               f"1: do not fuse {what}.", aliases=(f"MXNET_DISABLE_MKLDNN_{name}",))
      for name, what in (
          ("CONV_OPT", "anything with convolutions"),
          ("FUSE_CONV_BN", "batch normalisation into convolutions"),
          ("FUSE_CONV_SUM", "additions into convolutions"),
          ("FUSE_CONV_RELU", "activations into convolutions"),
          ("FC_OPT", "anything with dense layers"),
          ("FC_SUM", "additions into dense layers"),
          ("FUSE_FC_ELTWISE", "activations into dense layers"),
      )),
    Variable("MXNET_DISABLE_ONEDNN_FUSE_BN_RELU", flag, False, "C", "mxcy.graph.passes.layout",
             "1: do not fuse ReLU into batch normalisation.",
             aliases=("MXNET_DISABLE_MKLDNN_FUSE_BN_RELU",)),
)  # fmt: skip
