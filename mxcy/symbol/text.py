"""Text of symbols: files and descriptions for debugging."""

from mxcy._base import files
from mxcy.base import MXNetError
from mxcy.graph.json import input_versions
from mxcy.graph.node import output_name, topological

__all__ = ["debug", "output_name", "read", "write"]


def read(fname):
    """Read a text file.

    Raises
    ------
    MXNetError
        If it cannot be read.
    """
    try:
        with open(files.local_path(fname), encoding="utf-8") as file:
            return file.read()
    except OSError as error:
        raise MXNetError(f'Open "{fname}": {error}') from None
    except UnicodeDecodeError as error:
        message = f'Open "{fname}": a symbol must be JSON text ({error.reason})'
        raise MXNetError(message) from None


def write(fname, text):
    """Write a text file.

    Raises
    ------
    MXNetError
        If it cannot be written.
    """
    try:
        with files.replacing(files.local_path(fname)) as file:
            file.write(text.encode("utf-8"))
    except OSError as error:
        raise MXNetError(f'Open "{fname}": {error}') from None


def debug(entries):
    """Describe all nodes with their inputs and attributes, one line each.

    Parameters
    ----------
    entries : list of (SymbolNode, int)

    Returns
    -------
    str
    """
    lines = ["Symbol Outputs:"]
    lines += [f"\toutput[{i}]={n.name}({index})" for i, (n, index) in enumerate(entries)]
    order = topological(entries)
    for node, versions in zip(order, input_versions(order), strict=True):
        if node.op is None:
            lines.append(f"Variable:{node.name}")
            continue
        lines += ["--------------------", f"Op:{node.op.name}, Name={node.name}", "Inputs:"]
        for i, ((source, index), version) in enumerate(zip(node.inputs, versions, strict=True)):
            suffix = f" version={version}" if source.op is None else ""
            lines.append(f"\targ[{i}]={source.name}({index}){suffix}")
        inside = node.op.in_symbols.subgraphs
        attrs = [f"\t{key}={text}" for key, text in sorted(node.attrs.items()) if key not in inside]
        if attrs:
            lines += ["Attrs:", *attrs]
    return "\n".join(lines) + "\n"
