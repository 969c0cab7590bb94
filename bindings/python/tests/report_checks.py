"""What the tests of cutt.report have in common: whether a page is well-formed and needs nothing else."""

from __future__ import annotations

import html.parser
import re
import unittest

try:
    from cutt.report import page
except ImportError:
    page = None  # type: ignore[assignment]

OLD = "Matplotlib 3.7 or later is not here"


class Checker(html.parser.HTMLParser):
    """Tags that are opened are closed in their order, ids are there once, and nothing comes from elsewhere."""

    void = {"meta", "br", "hr", "img", "link", "input"}

    def __init__(self) -> None:
        super().__init__()
        self.open: list[str] = []
        self.ids: list[str] = []
        self.references: list[str] = []
        self.tags: dict[str, int] = {}

    def handle_starttag(self, tag: str, attributes: list) -> None:
        self.tags[tag] = self.tags.get(tag, 0) + 1
        if tag not in self.void:
            self.open.append(tag)
        for name, value in attributes:
            if name == "id":
                self.ids.append(value)
            if name in ("src", "href", "xlink:href", "data", "action"):
                self.references.append(value)

    def handle_startendtag(self, tag: str, attributes: list) -> None:
        self.handle_starttag(tag, attributes)
        if tag not in self.void:
            self.open.pop()

    def handle_endtag(self, tag: str) -> None:
        if not self.open or self.open[-1] != tag:
            raise AssertionError(f"</{tag}> where {self.open[-3:]} are open")
        self.open.pop()


def check_page(test: unittest.TestCase, text: str) -> Checker:
    checker = Checker()
    checker.feed(text)
    checker.close()
    test.assertEqual([], checker.open)
    test.assertEqual(len(set(checker.ids)), len(checker.ids), "an id is there twice")
    for reference in checker.references:
        test.assertTrue(reference.startswith(("#", "data:")), reference)
        if reference.startswith("#"):
            test.assertIn(reference[1:], checker.ids)
    test.assertNotRegex(text, r"https?:|//[a-z]+\.|@import|<script|<link")
    for name in re.findall(r"url\(#([^)]+)\)", text):
        test.assertIn(name, checker.ids)
    return checker
