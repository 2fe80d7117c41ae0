"""Check the site of `make docs` with Chromium: links, width, accessibility, search.

    python tools/walk_site.py build/docs/html

opens every page in light and dark mode, 390 and 1280 pixels wide. It needs the packages in
tools/walk.txt and Chromium on the path. Pages are opened as files, without network access.
Screenshots go to build/docs/screenshots.
"""

import argparse
import shutil
import sys
from pathlib import Path
from urllib.parse import unquote, urldefrag, urlsplit

import axe_core_python
from playwright.sync_api import sync_playwright

AXE = Path(axe_core_python.__file__).with_name("axe.min.js").read_text(encoding="utf-8")
PATIENCE = 300_000  # milliseconds per page, generous for busy machines
WIDTHS = {"phone": (390, 844), "desktop": (1280, 900)}
_LINKS = "[...document.querySelectorAll('a[href]')].map(a => a.href)"
_WIDER = """
() => {
  const most = document.documentElement.clientWidth;
  if (document.documentElement.scrollWidth <= most) return [];
  return [...document.querySelectorAll("article *")]
    .filter(e => e.getBoundingClientRect().right > most + 1)
    .slice(0, 3).map(e => e.tagName + ": " + e.textContent.slice(0, 60));
}
"""
# WCAG rules, and axe-core's own rules on keyboard navigation.
_RULES = """
() => axe.run(document, {
  runOnly: ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa"],
  rules: Object.fromEntries(
    ["tabindex", "skip-link", "focus-order-semantics"].map(name => [name, {enabled: true}])
  ),
})
"""


class Walk:
    """A check of the pages in a folder.

    Parameters
    ----------
    folder : Path
        The site.
    pictures : Path
        Folder for screenshots.
    names : str
        Glob pattern of the pages' relative paths.
    """

    def __init__(self, folder, pictures, names):
        self.folder, self.pictures = folder, pictures
        pages = (path for path in folder.glob(names) if "_static" not in path.parts)
        self.pages = sorted(pages)
        self.problems = []
        self.anchors = {}  # page -> its ids
        self.links = {}  # page -> its links

    def say(self, page, text):
        """Record a problem of a page."""
        self.problems.append(f"{page.relative_to(self.folder)}: {text}")

    def look(self, tab, page, scheme, size):
        """Check a page in one colour scheme and size."""
        tab.goto(page.as_uri())
        ids = tab.evaluate("[...document.querySelectorAll('[id]')].map(e => e.id)")
        self.anchors[page] = set(ids)
        self.links[page] = tab.evaluate(_LINKS)
        wider = tab.evaluate(_WIDER)
        if wider:
            self.say(page, f"wider than {size}: {wider}")
        tab.evaluate(AXE)
        for violation in tab.evaluate(_RULES)["violations"]:
            where = [node["html"][:120] for node in violation["nodes"][:2]]
            self.say(page, f"{scheme}, {size}: {violation['id']} in {where}")
        name = "-".join([*page.relative_to(self.folder).with_suffix("").parts, scheme, size])
        tab.screenshot(path=self.pictures / f"{name}.png")

    def check_links(self):
        """Check that the targets of internal links exist."""
        for page, addresses in self.links.items():
            for address in sorted(set(addresses)):
                parts = urlsplit(address)
                if parts.scheme != "file":
                    continue
                target = Path(unquote(parts.path))
                target = target / "index.html" if target.is_dir() else target
                anchor = unquote(urldefrag(address).fragment)
                if not target.is_file():
                    self.say(page, f"a link leads nowhere: {address}")
                elif anchor and anchor not in self.anchors.get(target, {anchor}):
                    self.say(page, f"no anchor {anchor} in {target.relative_to(self.folder)}")

    def check_search(self, tab, word, wanted):
        """Test the search, and the filter of the table of variables."""
        tab.goto((self.folder / "search.html").as_uri() + f"?q={word}")
        tab.wait_for_selector("ul.search a", timeout=PATIENCE)
        results = tab.evaluate("[...document.querySelectorAll('ul.search a')].map(a => a.href)")
        if not any(wanted in address for address in results):
            self.say(
                self.folder / "search.html", f"{word} does not lead to {wanted}: {results[:3]}"
            )
        page = self.folder / "reference" / "environment.html"
        tab.goto(page.as_uri())
        tab.fill(".table-filter", "MXNET_HOME")
        shown = tab.evaluate(
            "[...document.querySelectorAll('#environment tbody tr')].filter(r => !r.hidden).length"
        )
        everything = tab.evaluate("document.querySelectorAll('#environment tbody tr').length")
        if not 0 < shown < everything / 4:
            self.say(page, f"the filter leaves {shown} of {everything} rows")


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("folder", type=Path)
    parser.add_argument("--pictures", type=Path, default=Path("build/docs/screenshots"))
    parser.add_argument("--pages", default="**/*.html", help="a pattern of the pages to look at")
    asked = parser.parse_args()
    browser = shutil.which("chromium") or shutil.which("google-chrome")
    if browser is None:
        raise SystemExit("there is no Chromium on the path: apt-get install chromium")
    asked.pictures.mkdir(parents=True, exist_ok=True)
    walk = Walk(asked.folder.resolve(), asked.pictures.resolve(), asked.pages)
    if not walk.pages:
        raise SystemExit(f"{asked.folder} holds no pages: make docs")
    with sync_playwright() as play:
        chromium = play.chromium.launch(executable_path=browser, args=["--no-sandbox"])
        for scheme in ("light", "dark"):
            for size, (width, height) in WIDTHS.items():
                tab = chromium.new_page(
                    viewport={"width": width, "height": height}, color_scheme=scheme
                )
                tab.set_default_timeout(PATIENCE)
                for number, page in enumerate(walk.pages, 1):
                    walk.look(tab, page, scheme, size)
                    if sys.stderr.isatty():
                        here = f"\r{scheme}, {size}: page {number} of {len(walk.pages)} "
                        print(here, end="", file=sys.stderr, flush=True)
                print(f"== {scheme}, {size}: {len(walk.problems)} problems so far", flush=True)
                tab.close()
        walk.check_links()
        walk.check_search(chromium.new_page(), "softmax", "operators")
        chromium.close()
    count = sum(len(set(addresses)) for addresses in walk.links.values())
    print(*walk.problems, sep="\n")
    print(f"{len(walk.pages)} pages, {count} links, {len(walk.problems)} problems")
    return int(bool(walk.problems))


if __name__ == "__main__":
    sys.exit(main())
