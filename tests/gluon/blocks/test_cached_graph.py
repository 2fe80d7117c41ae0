"""The inputs that a hybridized block accepts, and the private attributes that hold its graph."""

import numpy as np
import pytest

import mxcy as mx
from mxcy import gluon
from mxcy.gluon import nn


class Total(gluon.HybridBlock):
    """Adds up what is not None."""

    def hybrid_forward(self, F, first, second=None, *more):
        terms = [term for term in (first, second, *more) if term is not None]
        total = terms[0]
        for term in terms[1:]:
            total = total + term
        return total


class Nest(gluon.HybridBlock):
    """Accepts and returns nested lists, one of them from an operator with several outputs."""

    def hybrid_forward(self, F, x, pair):
        return [x + pair[0], [F.split(pair[1], num_outputs=2, axis=0), None]]


def ones(*shape, ctx=None):
    return mx.nd.ones(shape or (4,), ctx=ctx)


def hybridized(block):
    block.hybridize()
    return block


@pytest.mark.parametrize("active", [False, True])
@pytest.mark.parametrize("inputs", [(ones(), "symbol"), ("symbol", ones()), ([ones(), "symbol"],)])
def test_arrays_and_symbols_do_not_mix(active, inputs):
    def value(item):
        if isinstance(item, list):
            return [value(part) for part in item]
        return mx.sym.var("a") if isinstance(item, str) else item

    net = Total()
    net.hybridize(active)
    with pytest.raises(ValueError, match="all arrays or all symbols"):
        net(*map(value, inputs))


@pytest.mark.parametrize("active", [False, True])
def test_at_least_one_input_is_an_array(active):
    net = Total()
    net.hybridize(active)
    with pytest.raises(ValueError, match="one NDArray"):
        net(None, None)


def test_a_graph_takes_no_numbers():
    assert Total()(ones(), 2).asnumpy().tolist() == [3] * 4
    with pytest.raises(ValueError, match="other values"):
        hybridized(Total())(ones(), 2)
    with pytest.raises(ValueError, match="other values"):
        hybridized(Total())(ones(), [ones(), "text"])


def test_a_graph_takes_inputs_of_one_context():
    net = hybridized(Total())
    with pytest.raises(ValueError, match=r"cpu\(1\) and cpu\(2\)"):
        net(ones(ctx=mx.cpu(1)), ones(ctx=mx.cpu(2)))
    shared = mx.nd.ones((4,), ctx=mx.Context("cpu_shared", 0))
    assert net(ones(), shared).asnumpy().tolist() == [2] * 4


def test_none_may_be_left_out_at_the_end():
    for first, second in (((ones(),), (ones(), None)), ((ones(), None), (ones(),))):
        net = hybridized(Total())
        for inputs in (first, second, first):
            assert net(*inputs).asnumpy().tolist() == [1] * 4
        with pytest.raises(ValueError, match="structured differently"):
            net(ones(), ones())


def test_all_calls_have_the_structure_of_the_first():
    net = hybridized(Total())
    for _ in range(2):
        assert net(None, ones()).asnumpy().tolist() == [1] * 4
    for inputs in ((ones(), ones()), (ones(),), ([None], ones())):
        with pytest.raises(ValueError, match="structured differently"):
            net(*inputs)
    net.hybridize()  # drops the graph
    assert net(ones(), ones()).asnumpy().tolist() == [2] * 4


def test_nested_results_of_operators_with_several_outputs():
    eager, graph = Nest(), hybridized(Nest())
    inputs = ones(2), [ones(2), mx.nd.array([3, 4])]
    for net in (eager, graph):
        total, (halves, nothing) = net(*inputs)
        assert total.asnumpy().tolist() == [2, 2] and nothing is None
        assert [half.asnumpy().tolist() for half in halves] == [[3], [4]]
    assert graph._in_format == [0, [0, 0]]
    assert graph._out_format == [0, [2, -1]]


def test_the_graph_is_there_after_a_call_and_can_be_cleared():
    net = hybridized(nn.Dense(3, prefix="d_"))
    net.initialize()
    assert not net._cached_graph and net._cached_op is None and net._cached_op_args == []
    net(ones(2, 4))
    (data,), symbol = net._cached_graph
    assert data.name == "data" and symbol.list_arguments() == ["data", "d_weight", "d_bias"]
    assert net._cached_op_args == [(True, 0), (False, net.weight), (False, net.bias)]
    assert net._cached_op.get_optimized_symbol().list_arguments() == symbol.list_arguments()
    net._clear_cached_op()
    assert not net._cached_graph
    assert net._get_graph(ones(2, 4))[1].list_arguments() == symbol.list_arguments()


def test_new_children_clear_the_graph_by_the_method_that_classes_override():
    class Counts(nn.HybridSequential):
        cleared = 0

        def _clear_cached_op(self):
            self.cleared += 1
            super()._clear_cached_op()

    net = Counts()
    before = net.cleared
    net.add(nn.Dense(2))
    assert net.cleared > before


def test_variables_that_are_no_parameters_are_refused():
    class Invents(gluon.HybridBlock):
        def hybrid_forward(self, F, x):
            return x + F.var("other") if F is mx.sym else x

    with pytest.raises(AssertionError, match="other"):
        hybridized(Invents())(ones())


def test_hooks_get_names_that_can_be_decoded():
    net = nn.HybridSequential(prefix="net_")
    with net.name_scope():
        net.add(nn.Dense(2), nn.Activation("relu"))
    net.initialize()
    net.hybridize()
    seen = []
    net.register_op_hook(lambda name, operator, array: seen.append((name, operator)), True)
    net(ones(2, 3))
    assert ("net_dense0_fwd_weight", "FullyConnected") in seen
    for name, operator in seen:
        assert mx.base.py_str(name) == name and operator.decode("utf-8") == operator
        assert type(name.decode()) is str


# -- blocks made from symbols ----------------------------------------------------------------------


def test_structural_names_do_not_depend_on_the_prefix_of_the_symbol(tmp_path):
    class Wrapped(gluon.HybridBlock):
        def __init__(self, **kwargs):
            super().__init__(**kwargs)
            with self.name_scope():
                inner = nn.HybridSequential()
                with inner.name_scope():
                    inner.add(nn.Dense(3, in_units=2), nn.BatchNorm(in_channels=3))
                data = mx.sym.var("data")
                self.inner = gluon.SymbolBlock(inner(data), data, params=inner.collect_params())

        def hybrid_forward(self, F, x):
            return self.inner(x)

    first, second = Wrapped(), Wrapped()
    assert first.prefix != second.prefix
    first.initialize(mx.init.Xavier())
    first.save_parameters(str(tmp_path / "inner.params"))
    second.load_parameters(str(tmp_path / "inner.params"))
    x = mx.nd.random.uniform(shape=(4, 2))
    np.testing.assert_array_equal(second(x).asnumpy(), first(x).asnumpy())


def test_formats_of_symbol_blocks_can_be_set():
    a, b = mx.sym.var("a"), mx.sym.var("b")
    net = gluon.SymbolBlock([a + b, a - b], [a, b])
    assert net._in_format == [0, 0] and net._out_format == [0, 0]
    assert net._cached_graph[1].list_arguments() == ["a", "b"]
    with pytest.raises(ValueError, match="structure"):
        net([ones(), ones()])
    net._in_format, net._out_format = [[0, 0]], [0, [0]]
    total, (difference,) = net([ones(), ones()])
    assert total.asnumpy().tolist() == [2] * 4 and difference.asnumpy().tolist() == [0] * 4


def test_nested_inputs_and_a_group_of_outputs():
    a, b, c = (mx.sym.var(name) for name in "abc")
    net = gluon.SymbolBlock(mx.sym.split(a + b + c, num_outputs=2, axis=0), [a, [b, c]])
    assert net._in_format == [0, [0, 0]] and net._out_format == 2
    halves = net(ones(2), [ones(2), ones(2)])
    assert [half.asnumpy().tolist() for half in halves] == [[3], [3]]


def test_symbol_blocks_are_counted_and_refuse_sparse_parameters():
    data = mx.sym.var("data")
    numbers = [int(gluon.SymbolBlock(data * 2, data).name[len("symbolblock") :]) for _ in range(2)]
    assert numbers[1] == numbers[0] + 1
    weight = mx.sym.var("weight", stype="row_sparse")
    with pytest.raises(AssertionError, match="weight is row_sparse"):
        gluon.SymbolBlock(mx.sym.dot(data, weight), data)
