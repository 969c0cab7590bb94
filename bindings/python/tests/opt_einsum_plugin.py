"""For pytest: opt_einsum's own tests, with NumPy's arrays contracted by cutt (backend="cutt") wherever they would have
been contracted by NumPy. Their reference, contract(..., optimize=False), stays NumPy's einsum."""

import collections
import importlib
import os
import zlib

import cutt

calls = {"einsum": 0, "tensordot": 0, "transpose": 0}


def counted(name):
    function = getattr(cutt, name)

    def call(*arguments, **keys):
        calls[name] += 1
        return function(*arguments, **keys)

    return call


contract = importlib.import_module("opt_einsum.contract")
dispatch = importlib.import_module("opt_einsum.backends.dispatch")
infer = contract.infer_backend
contract.infer_backend = lambda x: "cutt" if infer(x) == "numpy" else infer(x)
for function_name in calls:
    # pylint: disable-next=protected-access
    dispatch._cached_funcs[function_name, "cutt"] = counted(function_name)


def pytest_collection_modifyitems(config, items):
    """Of a test with hundreds of cases a third, but in the long tier."""
    if float(os.environ.get("CUTT_TEST_SCALE", "0.4")) >= 1:
        return

    def test(item):
        return item.nodeid.partition("[")[0]

    cases = collections.Counter(map(test, items))
    left = {item for item in items if cases[test(item)] > 300 and zlib.crc32(item.nodeid.encode()) % 3}
    config.hook.pytest_deselected(items=list(left))
    items[:] = [item for item in items if item not in left]


def pytest_terminal_summary(terminalreporter):
    terminalreporter.write_line("calls of cutt by opt_einsum: " + ", ".join(f"{name} {n}" for name, n in calls.items()))


def pytest_sessionfinish(session):
    """Nothing may be left out but for another library that is not here."""
    reporter = session.config.pluginmanager.get_plugin("terminalreporter")
    reasons = {str(report.longrepr[2]) for report in reporter.stats.get("skipped", []) if isinstance(report.longrepr, tuple)}
    left_out = sorted(reason for reason in reasons if "No module named" not in reason and "not installed" not in reason)
    for reason in left_out:
        reporter.write_line(f"left out, and not for a library that is not here: {reason}")
    if left_out or (session.testscollected and not (calls["einsum"] and calls["tensordot"])):
        session.exitstatus = 1
