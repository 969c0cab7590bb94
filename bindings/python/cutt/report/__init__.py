"""The figures of the cuTT paper, for the machine at hand and beside the libraries that people use.

    python -m cutt.report                       measures for some minutes, writes report.html
    python -m cutt.report --json A.json B.json  draws what was measured before, here or elsewhere

`python -m cutt.report --help` has the options; docs/report.md explains how to read the page.
"""
