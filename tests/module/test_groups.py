"""Parts of a network on different devices: `AttrScope(ctx_group=...)` and `group2ctx`."""

import pytest

import mxcy as mx

S = mx.sym


def two_stages():
    with mx.AttrScope(ctx_group="first"):
        hidden = S.FullyConnected(S.var("data"), num_hidden=4, name="fc1")
    with mx.AttrScope(ctx_group="second"):
        return S.BatchNorm(S.FullyConnected(hidden, num_hidden=2, name="fc2"), name="bn")


def test_new_arrays_lie_where_their_group_is():
    groups = {"first": mx.cpu(1), "second": mx.cpu(2)}
    executor = two_stages().simple_bind(mx.cpu(0), group2ctx=groups, data=(3, 5))
    for arrays in (executor.arg_dict, executor.grad_dict, executor.aux_dict):
        for name, array in arrays.items():
            assert array.context == (mx.cpu(1) if name in ("data", *FIRST) else mx.cpu(2)), name
    executor.forward(is_train=True, data=mx.nd.ones((3, 5)))
    executor.backward(mx.nd.ones((3, 2)))
    assert executor.outputs[0].shape == (3, 2)


FIRST = ("fc1_weight", "fc1_bias")


def test_operators_without_a_group_follow_their_inputs():
    out = S.FullyConnected(two_stages(), num_hidden=2, name="last") + S.var("alone")
    groups = {"first": mx.cpu(1), "second": mx.cpu(2)}
    executor = out.simple_bind(mx.cpu(0), group2ctx=groups, data=(3, 5), alone=(3, 2))
    assert executor.arg_dict["last_weight"].context == mx.cpu(2)
    assert executor.arg_dict["alone"].context == mx.cpu(2)
    plain = out.simple_bind(mx.cpu(0), data=(3, 5), alone=(3, 2))
    assert {array.context for array in plain.arg_arrays} == {mx.cpu(0)}


@pytest.mark.parametrize(
    ("devices", "groups"),
    [
        (1, {"first": mx.cpu(1), "second": mx.cpu(2)}),
        (2, {"first": mx.cpu(1), "second": mx.cpu(2)}),
        (2, {"first": [mx.cpu(1)], "second": mx.cpu(2)}),
        (2, {"first": [mx.cpu(1), mx.cpu(3)], "second": [mx.cpu(2)]}),
        (2, [{"first": mx.cpu(1), "second": mx.cpu(2)}, {"first": mx.cpu(3)}]),
    ],
)
def test_groups_of_each_device(devices, groups):
    with mx.AttrScope(ctx_group="first"):
        doubled = S.var("a") * 2
    with mx.AttrScope(ctx_group="second"):
        total = doubled + S.var("b")
    module = mx.mod.Module(
        total, ["a", "b"], None, context=[mx.cpu(i) for i in range(devices)], group2ctxs=groups
    )
    module.bind([("a", (2, 5)), ("b", (2, 5))], inputs_need_grad=True)
    module.init_params()
    module.forward(mx.io.DataBatch([mx.nd.ones((2, 5)), mx.nd.ones((2, 5))]), is_train=True)
    module.backward([mx.nd.ones((2, 5))])
    gradients = module.get_input_grads()
    assert [set(g.asnumpy().ravel()) for g in gradients] == [{2}, {1}]
    if devices == 1:
        assert [g.context for g in gradients] == [mx.cpu(1), mx.cpu(2)]


def test_groups_that_do_not_fit_the_devices():
    for groups in ({"first": [mx.cpu(1)] * 3}, [{}] * 3):
        module = mx.mod.Module(
            two_stages(), ["data"], None, [mx.cpu(0), mx.cpu(1)], group2ctxs=groups
        )
        with pytest.raises(AssertionError, match="group2ctxs"):
            module.bind([("data", (4, 5))])


def test_outputs_lie_where_their_operators_are():
    groups = {"first": mx.cpu(1), "second": mx.cpu(2)}
    executor = two_stages().simple_bind(mx.cpu(0), group2ctx=groups, data=(3, 5))
    executor.forward(is_train=True, data=mx.nd.ones((3, 5)))
    executor.backward(mx.nd.ones((3, 2)))
    assert executor.outputs[0].context == mx.cpu(2)
    doubled, x = S.var("x") * 2, mx.nd.ones(2, ctx=mx.cpu(1))
    executor = doubled.bind(mx.cpu(0), [x], group2ctx={"none": mx.cpu(2)})
    (output,) = executor.forward()
    assert output.context == mx.cpu(1) and output.asnumpy().tolist() == [2, 2]


@pytest.mark.parametrize("place", [mx.cpu(1), mx.cpu_pinned()])
def test_arrays_of_other_contexts_are_refused(place):
    doubled, here, there = S.var("x") * 2, mx.nd.ones(2), mx.nd.ones(2, ctx=place)
    with pytest.raises(mx.MXNetError, match=r"bind: args: expected arrays on cpu.* got one on cpu"):
        doubled.bind(mx.cpu(0), {"x": there}, group2ctx={})
    with pytest.raises(mx.MXNetError, match="bind: args_grad: expected arrays on"):
        doubled.bind(mx.cpu(0), [here], [there])
    assert doubled._bind(mx.cpu(0), [there]).forward()[0].asnumpy().tolist() == [2, 2]
