"""`Rewrite`: copies of graphs with changes."""

from mxcy.graph.analysis.users import Users
from mxcy.graph.builder import Builder
from mxcy.graph.gradient import gradient
from mxcy.graph.passes import simplify
from mxcy.graph.verify import verify
from tests.graph.graphs import spec


def training_graph():
    """The square of a copy of sin(x), with its gradient."""
    builder = Builder(train=True)
    x = builder.value(builder.variable("x", spec(2, 3)))
    y = builder.values.square(builder.values.identity(builder.values.sin(x)))
    return gradient(builder.finish([y.entry]), [0])


def test_changes_keep_the_border_of_the_forward_pass():
    graph = training_graph()
    rewritten = verify(simplify.run(graph, None))
    assert rewritten.count_ops()["square"] == 1 and "_copy" not in rewritten.count_ops()
    last = rewritten.nodes[rewritten.forward - 1]
    assert graph.nodes[graph.forward - 1].name == last.name
    assert rewritten.forward == graph.forward - 1


def test_chains_end_where_others_read():
    builder = Builder()
    x = builder.value(builder.variable("x", spec(2, 3)))
    F = builder.values
    y = F.exp(F.sin(x))
    graph = builder.finish([F.tanh(y).entry, F.cos(x).entry])
    users = Users(graph)
    numbers = {node.op.name: i for i, node in enumerate(graph.nodes) if node.op is not None}
    any_node = lambda node: True  # noqa: E731
    assert users.only(0) is None
    assert users.chain(numbers["sin"], any_node, any_node) == [numbers["exp"], numbers["tanh"]]
    assert users.chain(numbers["sin"], any_node, any_node, any_node) is None
    assert users.chain(numbers["sin"], lambda node: node.op.name == "tanh") is None
