"""Tests of what `cutt bench` says of choices: candidates timed, the model judged, the figures of the paper as data.

The program is named by the environment variable CUTT_PROGRAM. On tiny volumes and the processor: what is tested is that
the figures are consistent, not what they are. Needs nothing but Python; run it directly, with unittest's arguments if
any. The last line is "N passed, N failed, N skipped".
"""

import json
import math
import os
import shutil
import signal
import statistics
import subprocess
import sys
import tempfile
import time
import unittest

PROGRAM = os.environ.get("CUTT_PROGRAM", "")
os.environ["CUTT_CUDA"] = "0"
TIMEOUT = 240  # seconds for any one run of the program
GAINS = ["1", "2", "4", "8", "12"]


def cutt(*arguments):
    """Runs the program; stdout and stderr are text."""
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, timeout=TIMEOUT, stdout=subprocess.PIPE,
                          stderr=subprocess.PIPE)


def geometric_mean(values):
    return math.exp(statistics.fmean(math.log(value) for value in values))


def spearman(first, second):
    """Rank correlation, equal values sharing the mean of their ranks."""
    def ranks(values):
        return [sum(other < value for other in values) + (values.count(value) + 1) / 2 for value in values]
    first, second = ranks(first), ranks(second)
    mean = (len(first) + 1) / 2
    product = sum((a - mean) * (b - mean) for a, b in zip(first, second))
    return product / math.sqrt(sum((a - mean)**2 for a in first) * sum((b - mean)**2 for b in second))


class Choices(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cutt-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.path = os.path.join(self.folder, "result.json")

    def run_bench(self, *arguments):
        """The report, and what was printed."""
        result = cutt("bench", *arguments, "--threads", "1", "--seconds", "0.02", "--json", self.path, "--force", "--quiet")
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertNotIn("FAILED", result.stdout)
        with open(self.path, encoding="ascii") as file:
            return json.load(file), result.stdout

    def near(self, value, expected, what=""):
        """JSON has six digits."""
        self.assertAlmostEqual(value, expected, delta=2e-5 * max(1, abs(expected)), msg=what)

    def check_case(self, row, most):
        """One case's `choice` beside its candidates. most: candidates that may be timed; None: all."""
        choice, candidates = row["choice"], row["candidates"]
        timed = [candidate for candidate in candidates if "seconds" in candidate]
        self.assertEqual(choice["listed"], len(candidates))
        self.assertEqual(choice["timed"], len(timed))
        if not any("paper_seconds" in candidate for candidate in candidates):
            self.assertEqual(len(timed), len(candidates) if most is None else min(most, len(candidates)))
            self.assertNotIn("paper", choice)
        self.assertGreater(choice["copy_seconds"], 0)
        predicted, measured = choice["predicted"], choice["measured"]
        self.assertEqual(predicted["candidate"], 1)
        self.assertIn("seconds", candidates[measured["candidate"] - 1])
        for pick in [predicted, choice.get("paper", predicted)]:
            self.assertGreater(pick["quality"], 0)
            self.assertLessEqual(pick["quality"], 1)
            self.near(pick["quality"], measured["seconds"] / pick["seconds"])
            if pick["hit"]:
                self.assertEqual(pick["quality"], 1)
            else:  # may be 1 all the same, rounded
                self.assertNotEqual(pick["candidate"], measured["candidate"])
            self.near(pick["percent"] / measured["percent"], pick["quality"])
        self.near(measured["percent"], 100 * choice["copy_seconds"] / measured["seconds"])
        gains = [choice["gain_of_k"][k] for k in GAINS]
        self.assertEqual(gains, sorted(gains))
        self.near(gains[0], predicted["quality"])
        self.assertLessEqual(gains[-1], 1)
        if len(timed) > 2:
            pairs = [(candidate["predicted_seconds"], candidate["seconds"]) for candidate in timed]
            if min(len(set(side)) for side in zip(*pairs)) > 1 and "rank_correlation" in predicted:
                self.assertLessEqual(abs(predicted["rank_correlation"]), 1.000001)
                self.assertAlmostEqual(predicted["rank_correlation"], spearman(*zip(*pairs)), delta=0.05)

    def check_part(self, part, rows):
        """A group's sums beside its cases."""
        self.assertEqual(part["cases"], len(rows))
        compared = [row for row in rows if not row["trivial"] and row["choice"]["listed"] > 1]
        self.assertEqual(part["compared"], len(compared))
        for name in ["predicted", "measured"]:
            percents = [row["choice"][name]["percent"] for row in rows]
            for key, value in [("worst", min(percents)), ("median", statistics.median(percents)),
                               ("best", max(percents))]:
                self.near(part["percent"][name][key], value, key)
            bins = part["histogram"][name]
            self.assertEqual(sum(bins), len(rows))
            width = part["histogram"]["bin_percent"]
            expected = [0] * len(bins)
            for percent in percents:
                expected[min(int(percent / width), len(bins) - 1)] += 1
            self.assertEqual(bins, expected)
            self.assertLessEqual(part["gbs"][name]["worst"], part["gbs"][name]["best"])
        if not compared:
            self.assertEqual(part["quality"], {})
            return
        qualities = [row["choice"]["predicted"]["quality"] for row in compared]
        quality = part["quality"]["predicted"]
        self.near(quality["mean"], geometric_mean(qualities))
        self.near(quality["worst"], min(qualities))
        self.near(quality["hits"], sum(row["choice"]["predicted"]["hit"] for row in compared) / len(compared))
        worst = next(row for row in compared if row["id"] == quality["worst_case"])
        self.near(worst["choice"]["predicted"]["quality"], min(qualities))
        for k in GAINS:
            self.near(part["gain_of_k"][k], geometric_mean([row["choice"]["gain_of_k"][k] for row in compared]))
        correlations = [row["choice"]["predicted"]["rank_correlation"] for row in compared
                        if "rank_correlation" in row["choice"]["predicted"]]
        if correlations:
            self.near(quality["rank_correlation"], statistics.fmean(correlations))

    def check_report(self, report, most):
        rows, choices = report["results"], report["summary"]["choices"]
        for row in rows:
            with self.subTest(case=row["id"]):
                self.check_case(row, most)
        self.assertEqual(choices["most_candidates"], most or 0)
        self.assertEqual(choices["listed"], max(row["choice"]["listed"] for row in rows))
        self.assertEqual(choices["timed"], max(row["choice"]["timed"] for row in rows))
        self.check_part(choices["all"], rows)
        for part in choices["groups"]:
            with self.subTest(group=part["name"]):
                self.check_part(part, [row for row in rows if part["name"] in [row["group"], "set %d" % row["set"]]])
        worst = choices["worst"]
        self.assertLessEqual(len(worst), 5)
        self.assertEqual([each["quality"] for each in worst], sorted(each["quality"] for each in worst))
        for each in worst:
            for key in ["chosen", "best"]:
                self.assertIn("method", each[key])

    def test_figures(self):
        report, text = self.run_bench("figures", "--samples", "1", "--volume", "4000", "--candidates", "6")
        self.assertEqual(report["summary"]["set"], "figures")
        self.check_report(report, 6)
        names = [part["name"] for part in report["summary"]["choices"]["groups"]]
        self.assertEqual(len(names), len(set(names)))
        for rank in range(2, 8):
            for ratio in [1, 5, 15]:
                self.assertIn("rank %d, %d:1" % (rank, ratio), names)
        for name in ["rank 8", "rank 12", "set 1", "set 2"]:
            self.assertIn(name, names)
        self.assertEqual(len(report["results"]), 18 + 2 * (2 + 6))
        for words in ["chosen beside measured", "quality of the choice", "measuring the model's first 1: 0.",
                      "percent of copy  predicted  measured"]:
            self.assertIn(words, text)

    def test_set_with_all_candidates(self):
        report, text = self.run_bench("set2", "--samples", "1", "--volume", "4000", "--all-candidates")
        self.check_report(report, None)
        self.assertIn("all were timed", text)
        names = [part["name"] for part in report["summary"]["choices"]["groups"]]
        self.assertEqual(names, ["rank 8", "rank 12"])

    def test_measured_and_added(self):
        for options in [["--measure"], ["--beta", "2", "--dtype", "f4"]]:
            with self.subTest(options=options):
                report, _ = self.run_bench("set1", "--samples", "1", "--volume", "300", "--candidates", "3", *options)
                self.assertEqual(len(report["results"]), 18)
                self.assertIn("choices", report["summary"])

    def test_one_candidate(self):
        """Nothing to choose: speeds, but no quality."""
        cases = os.path.join(self.folder, "cases.csv")
        with open(cases, "w", encoding="ascii") as file:
            file.write("id,dims,perm\n1,700,0\n2,30x20,0 1\n")
        report, text = self.run_bench(cases, "--all-candidates")
        part = report["summary"]["choices"]["all"]
        self.assertEqual((part["cases"], part["compared"], part["quality"]), (2, 0, {}))
        self.assertNotIn("quality of the choice", text)

    def test_without_candidates(self):
        report, text = self.run_bench("set2", "--samples", "0", "--volume", "4000")
        self.assertNotIn("choices", report["summary"])
        self.assertNotIn("choice", report["results"][0])
        self.assertNotIn("chosen beside measured", text)

    def test_cases_are_those_of_the_sets(self):
        def ids(*arguments):
            result = cutt("bench", *arguments, "--list")
            self.assertEqual(result.returncode, 0, result.stderr)
            return result.stdout.splitlines()[1:]
        volume = ["--volume", "20000", "--seed", "5"]
        figures = ids("figures", "--samples", "2", *volume)
        self.assertEqual(figures, ids("set1", "--samples", "2", *volume) + ids("set2", "--samples", "12", *volume))
        self.assertNotEqual(figures, ids("figures", "--samples", "2", "--volume", "20000", "--seed", "6"))
        paper = ids("figures", "--samples", "1", "--volume", "paper")
        self.assertEqual(paper, ids("set1", "--samples", "1", "--volume", "paper") +
                         ids("set2", "--samples", "6", "--volume", "paper"))

    def test_refusals(self):
        for arguments, words in [(["figures"], ["figures", "--json"]),
                                 (["set1", "--candidates", "3"], ["--candidates", "--json"]),
                                 (["set1", "--candidates", "0", "--json", self.path], ["--candidates", "0"]),
                                 (["figures", "--samples", "0", "--json", self.path], ["--samples", "figures"]),
                                 (["set1", "--candidates", "3", "--all-candidates", "--json", self.path],
                                  ["--candidates", "--all-candidates"])]:
            with self.subTest(arguments=arguments):
                result = cutt("bench", *arguments)
                self.assertEqual(result.returncode, 2)
                for word in words:
                    self.assertIn(word, result.stderr)
                self.assertFalse(os.path.exists(self.path))

    def test_interrupted(self):
        """Ctrl-C keeps what there is."""
        process = subprocess.Popen([PROGRAM, "bench", "figures", "--samples", "50", "--volume", "2000", "--threads", "1",
                                    "--candidates", "2", "--json", self.path, "--quiet"], text=True,
                                   stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        while process.stdout.readline().count("r2_") == 0 and process.poll() is None:
            pass
        time.sleep(0.2)
        process.send_signal(signal.SIGINT)
        text, errors = process.communicate(timeout=TIMEOUT)
        self.assertEqual(process.returncode, 1)
        self.assertIn("interrupted after", errors)
        self.assertIn("chosen beside measured", text)
        with open(self.path, encoding="ascii") as file:
            report = json.load(file)
        self.assertGreater(len(report["results"]), 0)
        self.check_part(report["summary"]["choices"]["all"], report["results"])


def main():
    if not PROGRAM or not os.access(PROGRAM, os.X_OK):
        sys.exit("CUTT_PROGRAM is '%s'; it must be the path of the program cutt" % PROGRAM)
    result = unittest.main(module=__name__, exit=False).result
    failed = {str(getattr(test, "test_case", test)) for test, _ in result.failures + result.errors}
    print("%d passed, %d failed, %d skipped" % (result.testsRun - len(failed) - len(result.skipped), len(failed),
                                                len(result.skipped)))
    sys.exit(0 if result.wasSuccessful() else 1)


if __name__ == "__main__":
    main()
