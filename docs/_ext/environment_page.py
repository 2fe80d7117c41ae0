"""The searchable table of environment variables, from mxcy/env/table."""

from html import escape

from mxcy.env.table import TOPICS

_WHEN = {"I": "import", "F": "first use", "C": "each use"}
_HEAD = """\
# Table of environment variables

Type words into the field to filter rows. `python -m mxcy.env` prints the current values on your
machine. [The complete list](../environment.md) also names the test that proves each variable.
"""


def page():
    """The page as Markdown with one table in HTML, which `filter.js` searches."""
    rows = [_row(row, topic) for topic, table in TOPICS.items() for row in table]
    return "\n".join(
        [
            _HEAD,
            "```{raw} html",
            '<input class="table-filter" type="search" aria-label="Search the table"',
            '  placeholder="threads, oneDNN, MXNET_HOME, ..." data-table="environment">',
            f'<p class="table-count" aria-live="polite">{len(rows)} variables</p>',
            '<div class="wide-table" tabindex="0" role="region" aria-label="The variables">',
            '<table id="environment" class="table"><thead><tr><th scope="col">Variable</th>'
            '<th scope="col">What it does</th><th scope="col">Accepts</th>'
            '<th scope="col">Default</th><th scope="col">Read at</th></tr></thead><tbody>',
            *rows,
            "</tbody></table></div>",
            "```",
            "",
        ]
    )


def _row(row, topic):
    default = "see description" if row.computed else row.default
    default = "not set" if default in (None, "") else default
    default = int(default) if isinstance(default, bool) else default
    if isinstance(default, frozenset | tuple):
        default = ",".join(sorted(map(str, default))) or "not set"
    does = f"No effect: {row.inert}." if row.always_inert else row.doc
    anchor, breaks = row.name.lower(), row.name.replace("_", "_<wbr>")
    name = f'<a href="../environment.html#{anchor.replace("_", "-")}"><code>{breaks}</code></a>'
    tail = f'<span class="topic">{escape(topic)}</span>'
    cells = [f"{escape(does)} {tail}"]
    cells += [escape(str(cell)) for cell in (row.kind.accepts, default, _WHEN[row.when])]
    return (
        f'<tr><th scope="row">{name}</th>' + "".join(f"<td>{cell}</td>" for cell in cells) + "</tr>"
    )
