"""Tests of cutt.report that measure: everything once, on tensors that take no time.

The program draws the cases (CUTT_PROGRAM, or build/cutt); without it, or without Matplotlib, they are skipped.
"""

from __future__ import annotations

import json
import math
import os
import pathlib
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent.parent))

from report_checks import OLD, check_page, page  # noqa: E402

from cutt.report import formats, records  # noqa: E402


class Pieces(unittest.TestCase):
    """What is compared of a long result: parts of a copy of a view, and where they are in it."""

    def test_they_are_where_they_are_said_to_be(self) -> None:
        import numpy as np

        from cutt.report import memory

        whole, piece = memory.WHOLE, memory.PIECE
        memory.WHOLE, memory.PIECE = 1000, 256
        try:
            for extents in ((7, 9, 11, 5), (3, 2, 1000), (5000,), (40, 40), (4, 4)):
                view = np.arange(math.prod(extents), dtype="f8").reshape(extents).T
                flat = np.ascontiguousarray(view).reshape(-1)
                parts = memory.pieces_of(view, False)
                self.assertEqual((0, flat.nbytes), (parts[0][1], parts[-1][2]))
                for index, begin, end in parts:
                    self.assertTrue(np.array_equal(np.ravel(view[index]), flat[begin // 8 : end // 8]))
                self.assertEqual([((), 0, flat.nbytes)], memory.pieces_of(view, True))
        finally:
            memory.WHOLE, memory.PIECE = whole, piece


class Tblis(unittest.TestCase):
    """What TBLIS is given, by a stand-in for it that contracts with NumPy."""

    class Library:
        def __init__(self) -> None:
            self.tensors: dict[int, object] = {}
            self.threads = 0

        def tblis_set_num_threads(self, number: object) -> None:
            self.threads = number.value  # type: ignore[attr-defined]

        def tblis_init_tensor_d(self, tensor, rank, lengths, pointer, strides):  # type: ignore[no-untyped-def]
            import ctypes

            import numpy as np

            size = 1 + sum((n - 1) * step for n, step in zip(lengths, strides))
            flat = np.ctypeslib.as_array(ctypes.cast(pointer, ctypes.POINTER(ctypes.c_double)), (size,))
            made = np.lib.stride_tricks.as_strided(flat, tuple(lengths), tuple(8 * step for step in strides))
            self.tensors[id(tensor)] = made
            assert rank.value == len(lengths) == len(strides)

        def tblis_init_tensor_scaled_d(self, tensor, scalar, *arguments):  # type: ignore[no-untyped-def]
            assert scalar.value == 0
            self.tblis_init_tensor_d(tensor, *arguments)

        def tblis_tensor_mult(self, _communicator, _settings, *given):  # type: ignore[no-untyped-def]
            import numpy as np

            left, right, out = (self.tensors[id(tensor)] for tensor in given[::2])
            l, r, d = (modes.value.decode() for modes in given[1::2])
            out[...] = np.einsum(f"{l},{r}->{d}", left, right)  # type: ignore[index]

    def test_it_contracts(self) -> None:
        from unittest import mock

        import numpy as np

        from cutt.report import contracters, memory

        library, here = self.Library(), memory.Host(64)
        case = records.Contraction("1", "g", "dca,bd->abc", {"a": 3, "b": 4, "c": 5, "d": 6}, 1, 1)
        modes = contracters.modes_of(case)
        arrays = [np.random.default_rng(1).random(contracters.shape(case, one)) for one in modes]
        expected = np.einsum(contracters.numpy_pattern(case), *arrays[:2])
        arrays[2][...] = math.nan
        with mock.patch.object(contracters, "find_library", lambda *_: library):
            found, absent = contracters.find(here, "f8", 2, None, "libtblis.so")
        self.assertNotIn("TBLIS", absent)
        one = next(one for one in found if one.name == "TBLIS")
        one.start(case, arrays)()
        self.assertEqual(2, library.threads)
        np.testing.assert_allclose(one.result(), expected, rtol=1e-12)

    def test_one_that_was_named_has_to_be_there(self) -> None:
        from cutt.report import contracters, memory

        with self.assertRaisesRegex(memory.Unusable, "nowhere"):
            contracters.find(memory.Host(64), "f8", 1, None, "/nowhere/libtblis.so")


def program() -> str | None:
    from cutt.report import cases

    try:
        return cases.find_program(None)
    except cases.NoProgram:
        return None


@unittest.skipIf(page is None, OLD)
@unittest.skipIf(program() is None, "the program cutt is not here; CUTT_PROGRAM names it")
class TinyRun(unittest.TestCase):
    """Everything once, on tensors that take no time: results are checked by the run itself."""

    def run_report(self, *more: str) -> tuple[records.Report, str]:
        from contextlib import redirect_stderr
        from io import StringIO

        from cutt.report.__main__ import main

        with tempfile.TemporaryDirectory() as folder:
            out, saved = os.path.join(folder, "report.html"), os.path.join(folder, "saved.json")
            said = StringIO()
            with redirect_stderr(said):
                status = main(
                    [
                        "--backend",
                        "cpu",
                        "--threads",
                        "1",
                        "--volume",
                        "20k",
                        "--contract-volume",
                        "5k",
                        "--samples",
                        "1",
                        "--seconds",
                        "0.001",
                        "--out",
                        out,
                        "--save",
                        saved,
                        *more,
                    ]
                )
            self.assertEqual(0, status, said.getvalue())
            text = pathlib.Path(out).read_text(encoding="utf-8")
            return formats.load([saved]), text

    def test_permutations(self) -> None:
        report, text = self.run_report("--sets", "set1,set2,align", "--dtype", "f8,f4,u1,c16", "--measure")
        self.assertEqual(12, len(report.series))
        for series in report.series:
            self.assertEqual(["cutt", "cutt, measured"], series.contestants()[:2])
            self.assertIn("NumPy", series.contestants())
            for case in series.cases:
                self.assertEqual({}, case.wrong)
                self.assertTrue(all(math.isfinite(v) and v > 0 for v in case.percent.values()))
                self.assertIn("predicted", case.why)
        self.assertIn("Every result that was checked was right", text)
        check_page(self, text)

    def test_contractions_and_figures(self) -> None:
        report, text = self.run_report("--sets", "random,tccg48,figures", "--dtype", "f4")
        self.assertEqual(["random", "tccg48", "figures1", "figures2"], [series.set for series in report.series])
        for case in report.series[1].cases:
            self.assertEqual({"cutt", "gemm", "NumPy"}, {"cutt", "gemm", "NumPy"} & set(case.seconds))
            self.assertTrue(0 <= case.permute_percent <= 100)
            self.assertTrue(case.why)
        check_page(self, text)

    def test_counts_are_those_of_the_program(self) -> None:
        from cutt.report import cases

        held = cases.contractions(program(), "tccg48", "c8", "2k", None, 1)
        told = json.loads(
            cases.ask(
                program(),
                "bench",
                "contract",
                "--set",
                "tccg48",
                "--dtype",
                "c8",
                "--volume",
                "2k",
                "--backend",
                "cpu",
                "--threads",
                "1",
                "--no-check",
                "--quiet",
                "--json",
                "-",
            )
        )
        self.assertEqual(48, len(held))
        for mine, theirs in zip(held, told["cases"]):
            self.assertAlmostEqual(1, mine.flops / theirs["flops"], places=4)
            self.assertAlmostEqual(1, mine.intensity / theirs["intensity"], places=4)

    def test_an_interruption_leaves_a_page(self) -> None:
        from cutt.report import measure

        calls, real = [], measure.permutation

        def interrupted(*arguments: object) -> None:
            calls.append(1)
            if len(calls) > 5:
                raise KeyboardInterrupt
            real(*arguments)

        measure.permutation = interrupted
        try:
            report, text = self.run_report("--sets", "set1")
        finally:
            measure.permutation = real
        self.assertEqual(5, len(report.series[0].cases))
        self.assertIn("the run was interrupted", text)

    def test_a_wrong_result_of_ours_is_an_error(self) -> None:
        from contextlib import redirect_stderr
        from io import StringIO

        from cutt.report import permuters
        from cutt.report.__main__ import main

        real = permuters.Cutt.start
        permuters.Cutt.start = lambda self, case: (real(self, case), lambda: None)[1]
        said = StringIO()
        try:
            with redirect_stderr(said), tempfile.TemporaryDirectory() as folder:
                status = main(
                    [
                        "--backend",
                        "cpu",
                        "--threads",
                        "1",
                        "--volume",
                        "20k",
                        "--sets",
                        "align",
                        "--seconds",
                        "0.001",
                        "--quiet",
                        "--out",
                        os.path.join(folder, "report.html"),
                    ]
                )
        finally:
            permuters.Cutt.start = real
        self.assertEqual(1, status)
        self.assertIn("elements of align_00", said.getvalue())


if __name__ == "__main__":
    unittest.main()
