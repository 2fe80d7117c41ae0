"""The report as Markdown."""

__all__ = ["markdown"]


def _cell(value):
    if isinstance(value, float):
        return f"{value:.4g}"
    return str(value).replace("|", "\\|").replace("\n", " ")


def _table(rows):
    columns = list(dict.fromkeys(column for row in rows for column in row))
    yield "| " + " | ".join(columns) + " |"
    yield "|" + " --- |" * len(columns)
    for row in rows:
        yield "| " + " | ".join(_cell(row.get(column, "")) for column in columns) + " |"


def markdown(report):
    """The report of all parts.

    Parameters
    ----------
    report : dict
        Part -> what `tests.gpu.hardware.notes.read` returns, with ``ended`` and ``seconds``.

    Returns
    -------
    str
    """
    lines = [
        "# mxcy on a GPU",
        "",
        "| part | ended | seconds | wrong |",
        "| --- | --- | --- | --- |",
    ]
    for part, found in report.items():
        count = len(found.get("wrong", ()))
        lines.append(f"| {part} | {found['ended']} | {found.get('seconds', '')} | {count} |")
    for part, found in report.items():
        lines += ["", f"## {part}", ""]
        lines += [f"* {name}: {_cell(value)}" for name, value in found.get("facts", {}).items()]
        for name, rows in found.get("tables", {}).items():
            lines += ["", f"### {name}", "", *_table(rows)]
        for text in found.get("wrong", ()):
            lines += ["", "**wrong**", "", "```text", text, "```"]
        if "printed" in found:
            lines += ["", "```text", found["printed"], "```"]
    return "\n".join(lines) + "\n"
