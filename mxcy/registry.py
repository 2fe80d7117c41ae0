"""Class registries: functions that register, alias and create subclasses of a base class."""

import json
from typing import TypeVar

from mxcy._base.listing import listing
from mxcy._base.suggestions import did_you_mean
from mxcy._base.warning import warn

__all__ = ["get_registry", "get_register_func", "get_alias_func", "get_create_func"]

__dir__ = listing(__name__)

_CLASSES: dict[type, dict[str, type]] = {}
_Class = TypeVar("_Class", bound=type)


def get_registry(base_class):
    """Return a copy of the name to class mapping registered under `base_class`.

    Parameters
    ----------
    base_class : type
        The class whose subclasses were registered.

    Returns
    -------
    dict of str to type
    """
    return dict(_CLASSES.get(base_class, {}))


def get_register_func(base_class, nickname):
    """Make a function that registers subclasses of `base_class`.

    Parameters
    ----------
    base_class : type
        Only its subclasses may be registered.
    nickname : str
        Name for such classes in messages.

    Returns
    -------
    callable
        ``register(klass, name=None)``; returns `klass`, so it works as a decorator. Names are
        stored in lower case.
    """
    classes = _CLASSES.setdefault(base_class, {})

    def register(klass: _Class, name: str | None = None) -> _Class:
        assert isinstance(klass, type) and issubclass(klass, base_class), (
            f"Can only register subclass of {base_class.__name__}"
        )
        name = (klass.__name__ if name is None else name).lower()
        known = classes.get(name)
        if known is not None and known is not klass:
            warn(
                f"New {nickname} {klass.__module__}.{klass.__name__} registered with name {name} "
                f"is overriding existing {nickname} {known.__module__}.{known.__name__}"
            )
        classes[name] = klass
        return klass

    register.__doc__ = f"Register a {nickname} class under its lower-case name (or `name`)."
    return register


def get_alias_func(base_class, nickname):
    """Make a decorator that registers a subclass of `base_class` under additional names.

    Parameters
    ----------
    base_class : type
        Only its subclasses may be registered.
    nickname : str
        Name for such classes in messages.

    Returns
    -------
    callable
        ``alias(*names)``, a class decorator.
    """
    register = get_register_func(base_class, nickname)

    def alias(*names):
        def decorate(klass: _Class) -> _Class:
            for name in names:
                register(klass, name)
            return klass

        return decorate

    alias.__doc__ = f"Register a {nickname} class under all of `names`."
    return alias


def get_create_func(base_class, nickname):
    """Make a function that creates an instance of a registered class from a description.

    Parameters
    ----------
    base_class : type
        The class whose subclasses were registered.
    nickname : str
        Name for such classes in messages, and key of the class name in a mapping.

    Returns
    -------
    callable
        ``create(description, *args, **kwargs)`` where the description is an instance (returned
        unchanged), a registered name, a mapping such as ``{nickname: 'name', 'arg': 1}``, or the
        JSON
        text of such a mapping or of a ``[name, kwargs]`` list.
    """
    classes = _CLASSES.setdefault(base_class, {})

    def create(*args, **kwargs):
        if args:
            name, args = args[0], args[1:]
        else:
            name = kwargs.pop(nickname)
        if isinstance(name, base_class):
            assert not args and not kwargs, (
                f"{nickname} is already an instance. Additional arguments are invalid"
            )
            return name
        if isinstance(name, dict):
            return create(**name)
        assert isinstance(name, str), f"{nickname} must be of string type, got {type(name)}"
        if name.startswith(("[", "{")):
            assert not args and not kwargs, (
                f"{nickname} is given as JSON. Additional arguments are invalid"
            )
            described = json.loads(name)
            if isinstance(described, dict):
                return create(**described)
            name, kwargs = described
            return create(name, **kwargs)
        name = name.lower()
        assert name in classes, (
            f"{name} is not registered. Please register with {nickname}.register first"
            f"{did_you_mean(name, classes)}"
        )
        return classes[name](*args, **kwargs)

    create.__doc__ = f"Create a {nickname} from an instance, a name, a mapping or JSON text."
    return create
