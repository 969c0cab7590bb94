"""No file of the package imports another one that imports it, directly or through others."""

import ast
import unittest
from pathlib import Path

import cutt

ROOT = Path(cutt.__file__).parent


def imported(path):
    """The package's files that a file imports, wherever in it."""
    folder = path.relative_to(ROOT).parts[:-1]
    found = set()
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if not isinstance(node, ast.ImportFrom) or not node.level:
            continue
        start = folder[: len(folder) - node.level + 1] + tuple(node.module.split(".") if node.module else ())
        for alias in node.names:
            for place in (start + (alias.name,), start):
                if place and ROOT.joinpath(*place).with_suffix(".py").exists():
                    found.add(ROOT.joinpath(*place).with_suffix(".py"))
                    break
    return found - {path}


class Imports(unittest.TestCase):
    def test_no_circles(self):
        left = {path: imported(path) for path in ROOT.rglob("*.py")}
        self.assertTrue(any(left.values()))
        while True:  # a file is settled once all that it imports is
            settled = {path for path, others in left.items() if not others & left.keys()}
            if not settled:
                break
            for path in settled:
                del left[path]
        self.assertEqual(sorted(str(path.relative_to(ROOT)) for path in left), [])


if __name__ == "__main__":
    unittest.main()
