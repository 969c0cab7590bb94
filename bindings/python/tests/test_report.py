"""Tests of cutt.report on small made-up files: reading every kind of JSON, ranges and ratios, and the page.

Without Matplotlib what is drawn is skipped. test_report_run.py measures.
"""

from __future__ import annotations

import html
import json
import math
import os
import pathlib
import re
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from report_checks import OLD, check_page, page  # noqa: E402

from cutt.report import formats, records, stats  # noqa: E402

CANDIDATE = {
    "method": "Tiled",
    "tile": [52, 4],
    "row_length": 52,
    "rows": 208,
    "column_length": 208,
    "columns": 52,
    "tiles": 12,
    "unit": "lines",
    "read_units": 110,
    "written_units": 100,
    "least_units": 100,
    "predicted_seconds": 1e-4,
    "percent_of_copy": 52.7,
    "terms": [
        {"name": "memory.lines", "seconds": 8e-5, "what": "a line that must move"},
        {"name": "memory.start", "seconds": 1e-7, "what": "an execution"},
    ],
}
MACHINE = {
    "backend": "cpu",
    "cpu": "Test CPU",
    "threads": 1,
    "date": "2026-01-02T00:00:00Z",
    "device": {"name": "Test CPU"},
}


def bench_result(name: str, group: str, dims: list[int], perm: list[int], seconds: float, **more: object) -> dict:
    copy = 1e-4
    return {
        "id": name,
        "group": group,
        "dims": dims,
        "perm": perm,
        "dtype": "f8",
        "elem_bytes": 8,
        "threads": 1,
        "trivial": False,
        "seconds": seconds,
        "copy_seconds": copy,
        "percent": 100 * copy / seconds,
        "candidate": CANDIDATE,
        **more,
    }


def bench(results: list[dict], name: str) -> dict:
    return {"machine": MACHINE, "results": results, "summary": {"set": name, "dtype": "f8", "backend": "cpu"}}


def set1() -> dict:
    return bench(
        [
            bench_result(
                f"r{rank}_{ratio}to1_001",
                f"rank {rank}, {ratio}:1",
                [ratio + 3] * rank,
                list(range(rank))[::-1],
                1e-4 * (1 + rank / 5),
            )
            for rank in range(2, 8)
            for ratio in (1, 5, 15)
        ],
        "set1",
    )


def figures() -> dict:
    choice = {
        "listed": 3,
        "predicted": {"candidate": 1, "seconds": 2e-4, "percent": 50.0},
        "measured": {"candidate": 2, "seconds": 1.6e-4, "percent": 62.5},
        "paper": {"candidate": 0, "seconds": 0.0, "percent": 0.0},
    }
    return bench(
        [
            bench_result("r3_1to1_001", "rank 3, 1:1", [9, 9, 9], [2, 1, 0], 2e-4, set=1, choice=choice),
            bench_result("r8_reverse", "rank 8", [3] * 8, [7, 6, 5, 4, 3, 2, 1, 0], 2e-4, set=2, choice=choice),
        ],
        "figures",
    )


def peers() -> dict:
    return {
        "machine": {"cpu": "Test CPU", "threads": 1, "numpy": "1.24"},
        "summary": {},
        "results": [
            {
                "id": "r2_1to1_001",
                "dims": [9, 9],
                "perm": [1, 0],
                "elem_bytes": 8,
                "cutt_seconds": 1e-4,
                "numpy_seconds": 3e-4,
                "hptt_seconds": 2e-4,
                "hptt_best_seconds": 1.5e-4,
                "cutt_wrong": 0,
                "hptt_wrong": 7,
            }
        ],
    }


def gpu_peers() -> dict:
    return {
        "machine": {"device": "Test GPU", "torch": "2.0"},
        "results": [
            {
                "id": "7",
                "set": "set3",
                "dims": [4, 5],
                "perm": [1, 0],
                "dtype": "f4",
                "equal": True,
                "copy_seconds": 1e-5,
                "torch_seconds": 4e-5,
                "cutt_seconds": 2e-5,
            }
        ],
    }


def contract_cases() -> list[dict]:
    return [
        {
            "id": f"random_{i:04}",
            "group": "rank 4",
            "pattern": "ab,bc->ac",
            "extents": {"a": 4, "b": 2**i, "c": 4},
            "flops": 32.0 * 2**i,
            "intensity": 2.0**i,
            "seconds": 2e-6,
            "gemm_seconds": 1e-6,
            "permute_percent": 40.0,
            "permuted": "L-D",
            "gemm_count": 1,
            "gemm_m": 4,
            "gemm_n": 4,
            "gemm_k": 2**i,
            "pieces": 1,
            "provider": "openblas",
        }
        for i in range(9)
    ]


def bench_contract(name: str = "random") -> dict:
    cases = [{**case, "id": case["id"].replace("random", name)} for case in contract_cases()]
    return {"machine": MACHINE, "settings": {"set": name, "dtype": "f8", "backend": "cpu"}, "cases": cases}


def contract_peers() -> dict:
    results = [
        {
            "id": case["id"].replace("random", "tccg48"),
            **{key: case[key] for key in ("group", "pattern", "extents", "flops", "intensity", "permuted")},
            "cutt_seconds": 1e-6,
            "numpy_seconds": 3e-6,
            "numpy_off": 2.5,
        }
        for case in contract_cases()
    ]
    machine = {"cpu": "Test CPU", "threads": 1, "backend": "cpu", "dtype": "f8"}
    return {"machine": machine, "results": results, "summary": {}}


def report_of(*files: dict) -> records.Report:
    report = records.Report()
    for place, data in enumerate(files):
        formats.add(report, json.loads(json.dumps(data)), f"{place}.json")
    return report


class Reading(unittest.TestCase):
    def test_bench(self) -> None:
        (series,) = report_of(set1()).series
        self.assertEqual(("set1", "f8", "cpu", "Test CPU", 1), series.key)
        self.assertEqual(18, len(series.cases))
        case = series.cases[0]
        self.assertAlmostEqual(100 / 1.4, case.percent["cutt"])
        self.assertIn("memory.lines", case.why)
        self.assertIn("needed at least: 1.05", case.why)
        self.assertNotIn("memory.start", case.why)

    def test_failed_cases_are_left_out(self) -> None:
        data = set1()
        data["results"][3]["error"] = "no memory"
        self.assertEqual(17, len(report_of(data).series[0].cases))

    def test_figures_have_three_choices_where_the_paper_has_one(self) -> None:
        one, two = report_of(figures()).series
        self.assertEqual(["figures1", "figures2"], [one.set, two.set])
        self.assertEqual({"cutt": 50.0, "cutt, measured": 62.5}, one.cases[0].percent)
        self.assertEqual(["cutt", "cutt, measured"], one.contestants())

    def test_peers_have_no_copy_and_so_no_percent(self) -> None:
        (series,) = report_of(peers()).series
        self.assertEqual("set1", series.set)
        self.assertEqual("rank 2, 1:1", series.cases[0].group)
        self.assertEqual({}, series.cases[0].percent)
        self.assertEqual({"cutt": 1e-4, "NumPy": 3e-4, "HPTT": 1.5e-4}, series.cases[0].seconds)
        self.assertEqual({"HPTT": "7 elements"}, series.cases[0].wrong)
        self.assertAlmostEqual(3, stats.ratio(series, "NumPy").mean)

    def test_peers_on_a_gpu(self) -> None:
        (series,) = report_of(gpu_peers()).series
        self.assertEqual(("set3", "f4", "cuda", "Test GPU", 0), series.key)
        self.assertEqual({"cutt": 50.0, "PyTorch": 25.0}, {k: round(v, 9) for k, v in series.cases[0].percent.items()})

    def test_contractions(self) -> None:
        report = report_of(bench_contract(), contract_peers())
        random, listed = report.series
        self.assertTrue(random.contracts and listed.contracts)
        self.assertEqual(["cutt"], random.contestants())
        self.assertIn("left operand, result", random.cases[0].why)
        self.assertEqual(["cutt", "NumPy"], listed.contestants())
        self.assertIn("2.5 times", listed.cases[0].wrong["NumPy"])

    def test_same_cases_are_merged_by_share(self) -> None:
        first, second = set1(), gpu_peers()
        second["machine"] = {**MACHINE}
        second["results"] = [
            {**second["results"][0], "id": "r2_1to1_001", "set": "set1", "dims": [4, 4], "dtype": "f8"}
        ]
        (series,) = report_of(first, second).series
        self.assertEqual(18, len(series.cases))
        case = series.cases[0]
        self.assertAlmostEqual(50, case.percent["cutt"])  # of the run that had more contestants
        self.assertAlmostEqual(25, case.percent["PyTorch (CPU)"])
        self.assertIn("Tiled", case.why)

    def test_contractions_are_merged_by_ratio(self) -> None:
        (series,) = report_of(bench_contract("tccg48"), contract_peers()).series
        self.assertAlmostEqual(6e-6, series.cases[0].seconds["NumPy"])
        self.assertEqual(40.0, series.cases[0].permute_percent)

    def test_a_gpu_without_a_name_is_the_one_that_has_one(self) -> None:
        machine = {"cpu": "Test CPU", "threads": 1, "backend": "cuda", "dtype": "f8"}
        with tempfile.TemporaryDirectory() as folder:
            paths = []
            for name, data in (("a", {**contract_peers(), "machine": machine}), ("b", gpu_peers())):
                paths.append(os.path.join(folder, name))
                pathlib.Path(paths[-1]).write_text(json.dumps(data), encoding="utf-8")
            self.assertEqual(["GPU"], [series.device for series in formats.load(paths[:1]).series])
            self.assertEqual(["Test GPU"] * 2, [series.device for series in formats.load(paths).series])

    def test_own_form_is_read_as_it_was_saved(self) -> None:
        report = report_of(set1(), figures(), gpu_peers(), bench_contract())
        report.commands.append("cutt bench set1")
        report.absent["JAX"] = "not here"
        with tempfile.TemporaryDirectory() as folder:
            path = os.path.join(folder, "saved.json")
            records.save(report, path)
            again = formats.load([path])
        self.assertEqual(report.series, again.series)
        self.assertEqual((report.commands, report.absent), (again.commands, again.absent))

    def test_what_is_not_known_is_named(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "other.json")
            for text, said in (
                ("{", "is not JSON"),
                ("[]", "has not the form"),
                ('{"a": 1}', "has not the form"),
                ('{"machine": {}, "results": []}', "has not the form"),
                ('{"machine": {"threads": 1}, "results": [{"id": "1"}]}', "has not the form"),
            ):
                path.write_text(text, encoding="utf-8")
                with self.assertRaisesRegex(formats.Unreadable, f"other.json.*{said}"):
                    formats.load([str(path)])
            with self.assertRaisesRegex(formats.Unreadable, "can't be read"):
                formats.load([str(path) + ".none"])

    def test_names_of_cases(self) -> None:
        for name, kind, group in (
            ("r3_15to1_002", "set1", "rank 3, 15:1"),
            ("r12_random_001", "set2", "rank 12"),
            ("57", "set3", "set3"),
            ("align_03", "align", "align"),
            ("mine", "cases", "cases"),
        ):
            self.assertEqual((kind, group), (formats.set_of(name), formats.group_of(name)))


class Numbers(unittest.TestCase):
    def test_spread(self) -> None:
        self.assertIsNone(stats.spread([]))
        self.assertEqual(stats.Spread(4, 1, 2.5, 4, 10), stats.spread([10, 2, 3, 1]))

    def test_bins_hold_every_case_once(self) -> None:
        (series,) = report_of(bench_contract()).series
        bins = stats.intensity_bins(series.cases)
        self.assertEqual(8, len(bins))
        self.assertEqual(9, sum(len(one.cases) for one in bins))
        self.assertEqual([1] * 7 + [2], [len(one.cases) for one in bins])  # the highest is in the last
        for one in bins:
            for case in one.cases:
                self.assertLessEqual(one.low * (1 - 1e-9), case.intensity)
                self.assertLessEqual(case.intensity, one.high * (1 + 1e-9))

    def test_bins_of_one_intensity_and_of_none(self) -> None:
        (series,) = report_of(bench_contract()).series
        alike = [series.cases[3]] * 5
        self.assertEqual([5], [len(one.cases) for one in stats.intensity_bins(alike)])
        self.assertEqual([], stats.intensity_bins([]))

    def test_histogram_is_open_above(self) -> None:
        counts = stats.histogram([0, 4.9, 5, 99, 119, 120, 500])
        self.assertEqual((2, 1, 2, 7), (counts[0], counts[1], counts[-1], sum(counts)))

    def test_worst_are_ten_and_the_worst_first(self) -> None:
        report = report_of(set1())
        worst = [case.percent["cutt"] for _, case in stats.worst_permutations(report.series)]
        self.assertEqual(10, len(worst))
        self.assertEqual(sorted(worst), worst)
        self.assertAlmostEqual(min(case.percent["cutt"] for case in report.series[0].cases), worst[0])


@unittest.skipIf(page is None, OLD)
class Page(unittest.TestCase):
    def test_whole(self) -> None:
        report = report_of(set1(), figures(), peers(), gpu_peers(), bench_contract(), contract_peers())
        report.absent["HPTT"] = "<b>not</b> here & not there"
        report.commands.append("python -m cutt.report --sets set1")
        text = page.build(report)
        checker = check_page(self, text)
        self.assertGreaterEqual(checker.tags["svg"], 8)
        self.assertEqual(checker.tags["figure"], checker.tags["svg"])
        for said in (
            "Test GPU",
            "Test CPU",
            "memory.lines",
            "&lt;b&gt;not&lt;/b&gt;",
            "python -m cutt.report --sets set1",
            "Fig. 5 to 7",
            "Fig. 10",
            "Fig. 11 to 13",
            "prefers-color-scheme:dark",
        ):
            self.assertIn(said, text)

    def test_words(self) -> None:
        """Headings say what is below them, and types are named as people name them."""
        text = page.build(report_of(set1(), gpu_peers(), contract_peers()))
        headings = re.findall(r"<h[23][^>]*>(.*?)</h[23]>", text)
        self.assertIn("How to repeat it", page.build(self.with_command()))
        for heading in headings:
            self.assertNotRegex(heading, r"the others|^Again$|\bf8\b|\bf4\b")
        self.assertTrue(any("time of PyTorch beside cuTT" in heading for heading in headings), headings)
        self.assertTrue(any("float64" in heading for heading in headings), headings)

    @staticmethod
    def with_command() -> records.Report:
        report = records.Report()
        report.commands.append("python -m cutt.report")
        return report

    def test_one_sample_is_one_number(self) -> None:
        data = set1()
        data["results"] = data["results"][:1]
        text = page.build(report_of(data))
        self.assertNotRegex(text, r"(\d+) / \1 / \1")
        self.assertIn("Every mark is one case.", text)

    def test_few_contractions_are_bars(self) -> None:
        """Ranges of intensity with one contraction each would be a dot."""
        for count, drawn, not_drawn in ((1, "cases", "intensity"), (7, "cases", "intensity"), (9, "intensity", "cases")):
            data = bench_contract()
            data["cases"] = data["cases"][:count]
            (series,) = report_of(data).series
            names = [picture.name for picture in page.pictures(series, for_page=True)]
            self.assertTrue(any(name.endswith(drawn) for name in names), names)
            self.assertFalse(any(name.endswith(not_drawn) for name in names), names)

    def test_warnings(self) -> None:
        """Of tensors that fit into a cache, and of a machine that was busy."""
        data = set1()
        self.assertEqual([], page.warnings(report_of(data)))
        largest = max(2 * 8 * math.prod(result["dims"]) for result in data["results"])
        for cache, said in ((largest, r"Set 1, float64 \(all\)"), (largest - 1, r"\(17 of 18\)"), (0, None)):
            data["machine"] = {**MACHINE, "device": {"name": "Test CPU", "l2_bytes": 100, "l3_bytes": cache}}
            told = page.warnings(report_of(data))
            if said:
                self.assertRegex(told[0], said)
                self.assertIn(told[0], html.unescape(page.build(report_of(data))))
            else:
                self.assertEqual([], told)
        data["machine"] = {**MACHINE, "load": 3.0, "cores": 2}
        (told,) = page.warnings(report_of(data))
        self.assertIn("The load was 3.0 when it began", told)
        data["machine"] = {**MACHINE, "load": 0.1, "cores": 2}
        self.assertEqual([], page.warnings(report_of(data)))

    def test_every_colour_is_a_variable(self) -> None:
        text = page.build(report_of(set1(), bench_contract()))
        inside = "".join(re.findall(r"<svg.*?</svg>", text, flags=re.DOTALL))
        left = set(re.findall(r"(?<!var\(--c)#[0-9a-f]{6}\b", inside, flags=re.IGNORECASE))
        self.assertEqual(set(), left)
        for name in set(re.findall(r"var\((--c\w+)\)", inside)):
            self.assertEqual(2, text.count(f"{name.lower()}:"), name)

    def test_nothing_measured(self) -> None:
        check_page(self, page.build(records.Report()))

    def test_pictures_are_small_files(self) -> None:
        with tempfile.TemporaryDirectory() as folder:
            from cutt.report import style

            for series in report_of(set1(), bench_contract()).series:
                for picture in page.pictures(series, for_page=False):
                    path = pathlib.Path(folder, picture.name + ".svg")
                    style.to_file(picture.figure, str(path))
                    style.close(picture.figure)
                    self.assertLess(path.stat().st_size, 150_000)
                    self.assertIn("cutt", path.read_text(encoding="utf-8"))


class Command(unittest.TestCase):
    """What the command line does without measuring."""

    def test_wrong_usage(self) -> None:
        from contextlib import redirect_stderr
        from io import StringIO

        from cutt.report.__main__ import parse

        for given in (
            ["--sets", "set9"],
            ["--dtype", "f7"],
            ["--threads", "0"],
            ["--quick", "--full"],
            ["--seconds", "-1"],
        ):
            said = StringIO()
            with redirect_stderr(said), self.assertRaises(SystemExit) as ended:
                parse(given)
            self.assertEqual(2, ended.exception.code, given)
            self.assertIn(given[0], said.getvalue())


if __name__ == "__main__":
    unittest.main()
