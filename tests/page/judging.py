"""What axe says of a page, and whether it fits the screen."""

from __future__ import annotations

from importlib.resources import files

from playwright.sync_api import Page

AXE = files("axe_playwright_python").joinpath("axe.min.js").read_text("utf-8")
RUN = """async rules => {
    const chosen = rules && {runOnly: {type: 'rule', values: rules}};
    return (await axe.run({resultTypes: ['violations'], ...chosen})).violations;
}"""
COLOURS = ["color-contrast", "link-in-text-block"]
TOO_WIDE = "document.scrollingElement.scrollWidth > document.scrollingElement.clientWidth"


def find_complaints(page: Page, *, only_of_colours: bool = False) -> list[str]:
    """Return all that is wrong with what is shown, or only with its colours."""
    if page.evaluate("typeof axe === 'undefined'"):
        page.evaluate(AXE)
    found = [
        f"{rule['id']}: {node['target']} {node['failureSummary']}"
        for rule in page.evaluate(RUN, COLOURS if only_of_colours else None)
        for node in rule["nodes"]
    ]
    return [*found, "one has to scroll sideways"] if is_too_wide(page) else found


def is_too_wide(page: Page) -> bool:
    """Whether the page has to be scrolled sideways."""
    return bool(page.evaluate(TOO_WIDE))
