"""Sphinx configuration of the site in docs/*.md; see `make docs`."""

import sys
from pathlib import Path

DOCS = Path(__file__).resolve().parent
sys.path[:0] = [str(DOCS.parent), str(DOCS / "_ext")]

import mxcy  # noqa: E402  from this source tree

project = "mxcy"
author = copyright = "The mxcy authors"
version = release = mxcy.__version__
extensions = ["myst_parser", "sphinx.ext.doctest", "console_blocks", "generated_pages"]
exclude_patterns = ["_*"]
nitpicky = True

myst_enable_extensions = ["colon_fence", "deflist", "html_image"]
myst_heading_anchors = 4
# Pages are also read in repositories, where links lead to files outside the site.
myst_all_links_external = False

html_theme = "pydata_sphinx_theme"
html_title = f"mxcy {release}"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_js_files = [(name, {"defer": "defer"}) for name in ("filter.js", "tables.js")]
html_copy_source = html_show_sourcelink = False
html_theme_options = {
    "show_nav_level": 1,
    "navigation_depth": 2,
    "navbar_align": "left",
    "header_links_before_dropdown": 6,
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
}

doctest_test_doctest_blocks = ""
# Examples write files into a temporary folder.
doctest_global_setup = """
import os, tempfile
import mxcy as _mxcy  # pages import everything they use, as a reader does
_folder = tempfile.TemporaryDirectory()
_home = os.getcwd()
os.chdir(_folder.name)
_mxcy.random.seed(7)
_mxcy.util.reset_np()
"""
doctest_global_cleanup = """
os.chdir(_home)
_folder.cleanup()
_mxcy.amp.reset()
"""
