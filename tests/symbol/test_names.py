"""Name managers, attribute scopes and registries."""

import threading

import pytest

import mxcy as mx
from mxcy import registry
from mxcy.attribute import AttrScope
from mxcy.name import NameManager, Prefix


def test_names_are_counted_by_hint():
    with NameManager() as names:
        assert NameManager.current is mx.name.current() is names
        assert [names.get(None, "a"), names.get("", "a"), names.get(None, "b")] == [
            "a0",
            "a1",
            "b0",
        ]
        assert names.get("mine", "a") == "mine"
        with NameManager():
            assert NameManager.current.get(None, "a") == "a0"
        assert NameManager.current.get(None, "a") == "a2"


def test_prefix():
    with Prefix("p_"):
        assert NameManager.current.get(None, "a") == "p_a0"
        assert NameManager.current.get("x", "a") == "p_x"


def test_managers_belong_to_threads():
    collected = []
    with Prefix("p_"):
        thread = threading.Thread(
            target=lambda: collected.append(NameManager.current.get(None, "a"))
        )
        thread.start()
        thread.join()
    assert collected == ["a0"]


def test_attribute_scopes_nest():
    outer = AttrScope(x="1")
    assert outer.get(None) == {"x": "1"}
    with outer:
        with AttrScope(y="2") as inner:
            assert AttrScope.current is inner
            assert inner.get({"x": "3"}) == {"x": "3", "y": "2"}
        assert outer.get(None) == {"x": "1"}
    assert mx.attribute.current().get(None) == {}
    with pytest.raises(ValueError, match="need to be string"):
        AttrScope(x=1)


class Thing:
    """Something that can be registered."""

    def __init__(self, a=1):
        self.a = a


def test_registry():
    register = registry.get_register_func(Thing, "thing")
    alias = registry.get_alias_func(Thing, "thing")
    create = registry.get_create_func(Thing, "thing")

    @alias("short", "other")
    @register
    class LongName(Thing):
        pass

    assert registry.get_registry(Thing) == dict.fromkeys(["longname", "short", "other"], LongName)
    made = (
        create("Short", a=2),
        create('["short", {"a": 2}]'),
        create('{"thing": "short", "a": 2}'),
        create(thing="short", a=2),
        create({"thing": "short", "a": 2}),
    )
    assert all(type(one) is LongName and one.a == 2 for one in made)
    assert create(made[0]) is made[0]
    with pytest.raises(AssertionError, match="already an instance"):
        create(made[0], 3)
    with pytest.raises(AssertionError, match="nothing is not registered"):
        create("nothing")
    with pytest.raises(AssertionError, match="Only|only"):
        register(int)
    with pytest.warns(UserWarning, match="overriding existing thing"):
        register(type("LongName", (Thing,), {}))
