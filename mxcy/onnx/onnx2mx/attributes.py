"""A node's attributes by name, checked against ONNX's schema, with defaults."""

from onnx import AttributeProto, defs

from mxcy.base import MXNetError

__all__ = ["Attributes", "value_of"]

_KINDS = {
    AttributeProto.FLOAT: "f",
    AttributeProto.INT: "i",
    AttributeProto.STRING: "s",
    AttributeProto.TENSOR: "t",
    AttributeProto.GRAPH: "g",
    AttributeProto.FLOATS: "floats",
    AttributeProto.INTS: "ints",
    AttributeProto.STRINGS: "strings",
}


def _text(data, what):
    try:
        return data.decode()
    except UnicodeDecodeError:
        raise MXNetError(f"{what} is not valid UTF-8") from None


def value_of(attribute, what):
    """The Python value of an AttributeProto.

    Raises
    ------
    MXNetError
        If its type is invalid for operators; `what` names the attribute.
    """
    if attribute.type not in _KINDS:
        raise MXNetError(f"{what} has type {attribute.type}, which no operator takes")
    value = getattr(attribute, _KINDS[attribute.type])
    if attribute.type == AttributeProto.STRING:
        return _text(value, what)
    if attribute.type == AttributeProto.STRINGS:
        return [_text(data, what) for data in value]
    if attribute.type in (AttributeProto.INTS, AttributeProto.FLOATS):
        return tuple(value)
    return value


class Attributes:
    """The attributes of a node; missing ones are None.

    Parameters
    ----------
    node : NodeProto
    protos : dict of str to AttributeProto
        Attributes, with references of function bodies resolved.
    schema : OpSchema or None
    opset : int
    """

    def __init__(self, node, protos, schema, opset):
        self.op, self.opset, self.outputs = node.op_type, opset, list(node.output)
        self.values, self.protos = {}, protos
        for name, attribute in protos.items():
            if schema is not None:
                if name not in schema.attributes:
                    continue  # from older opsets, or specific to a producer
                wanted = schema.attributes[name].type.value
                if attribute.type != wanted:
                    kinds = defs.OpSchema.AttrType
                    raise MXNetError(
                        f"attribute {name}: expected {kinds(wanted).name}, "
                        f"got {AttributeProto.AttributeType.Name(attribute.type)}"
                    )
            self.values[name] = value_of(attribute, f"attribute {name}")
        for name, known in (schema.attributes if schema is not None else {}).items():
            if name not in self.values:
                if known.required:
                    raise MXNetError(f"attribute {name} is missing")
                default = known.default_value
                self.values[name] = value_of(default, name) if default.type else None

    def __getattr__(self, name):
        if name.startswith("__"):
            raise AttributeError(name)
        return self.values.get(name)

    def wants(self, place):
        """Return whether the output at an index is used."""
        return place < len(self.outputs) and self.outputs[place] != ""
