"""Runs the tests of the package: run.py [NAME...], by default all test_*.py beside it. What was skipped is listed, with
the reason, and counted."""

import collections
import sys
import unittest
from pathlib import Path

HERE = Path(__file__).resolve().parent


def main():
    sys.path.insert(0, str(HERE))
    names = sys.argv[1:] or sorted(path.stem for path in HERE.glob("test_*.py"))
    suite = unittest.TestSuite(unittest.defaultTestLoader.loadTestsFromName(name) for name in names)
    result = unittest.TextTestRunner(verbosity=2, warnings="ignore").run(suite)
    reasons = collections.Counter(reason for _, reason in result.skipped)
    for reason, count in reasons.items():
        print(f"skipped {count}: {reason}")
    bad = len(result.failures) + len(result.errors)
    print(
        f"python: {result.testsRun - bad} tests passed, {bad} failed, {len(result.skipped)} skipped (tests or classes)"
    )
    return 1 if bad or not result.testsRun else 0


if __name__ == "__main__":
    sys.exit(main())
