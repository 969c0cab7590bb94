"""Tests of what the program does with contractions: `cutt contract`, `cutt plan --contract` and `cutt bench contract`.

Run as test_cli.py, with what support.py has. Without a BLAS on this machine there is nothing to test, and all but the
errors of usage is skipped.
"""

import itertools
import json
import math
import os
import unittest
from unittest import mock

import numpy as np

from support import Case, best_kernels, cutt, no_leak_checks, providers, raw_npy, read, run_tests, write

DTYPES = ["f4", "f8", "c8", "c16"]
# Patterns with the shapes of their operands; the extents of a letter are what it says here.
EXTENTS = dict(zip("abcdefghij", (3, 4, 5, 6, 7, 2, 3, 5, 4, 2)))
PATTERNS = ["ab,bc->ac", "ab,bc->ca", "ba,bc->ac", "ba,cb->ac", "ab,bc", "abc,cd->abd", "acb,cd->bda",
            "abcd,dcef->abef", "aebf,dfce->abcd", "dega,gfbc->abcdef", "abc,abd->acd", "abc,bda->dcab",
            "cab,bad->dabc", "a,a->", "a,b->ab", "a,b->ba", "ab,ab->", ",->", ",ab->ba", "ab,->",
            "ab,->ab", "abb,bc->ac", "aab,bc->ac", "abc,cd->ad",
            "ab,cd->ac", "ab,ab->ab", "ab,ab->ba", "abcde,edcba->", "ab,cd->dbca", "abcdef,fg->gabcde", "aB,Bc->ac"]

OVERRIDES = {}  # of a BLAS that picks slow kernels: the variable and the value to set, by its name


def shape_of(letters):
    return tuple(EXTENTS[letter.lower()] for letter in letters)


def numbers(shape, dtype, seed):
    """Random numbers of both signs, no two alike."""
    random = np.random.default_rng(seed)
    values = random.uniform(-1, 1, shape)
    if np.dtype(dtype).kind == "c":
        values = values + 1j * random.uniform(-1, 1, shape)
    return values.astype(dtype)


def exact(pattern, left, right):
    """einsum in the widest type, and the sum of the magnitudes of the products."""
    wide = np.clongdouble if left.dtype.kind == "c" else np.longdouble
    value = np.einsum(pattern, left.astype(wide), right.astype(wide))
    return value, np.einsum(pattern, np.abs(left).astype(np.longdouble), np.abs(right).astype(np.longdouble))


def talsh(pattern):
    """The other form of an einsum pattern."""
    operands, result = pattern.split("->")
    left, right = operands.split(",")
    groups = [",".join(group) for group in (result, left, right)]
    return "D(%s)=L(%s)*R(%s)" % tuple(groups)


class Contracting(Case):
    """Has operands a.npy and b.npy, and a BLAS."""

    @classmethod
    def setUpClass(cls):
        if not providers():
            raise unittest.SkipTest("no BLAS is on this machine")

    def setUp(self):
        super().setUp()
        self.a, self.b, self.d = (self.path(name) for name in ("a.npy", "b.npy", "d.npy"))

    def save_operands(self, pattern, dtype, order="C", seed=0):
        left, right = pattern.split("->")[0].split(",")
        arrays = [np.array(numbers(shape_of(letters), dtype, seed + i), order=order)
                  for i, letters in enumerate((left, right))]
        np.save(self.a, arrays[0])
        np.save(self.b, arrays[1])
        return arrays

    def contract(self, pattern, *options):
        return self.good("contract", pattern, self.a, self.b, "-o", self.output, "--force", *options)

    def check(self, pattern, left, right, alpha=1.0, beta=0.0, before=None):
        """out.npy is right: shape, native dtype, C order, and every element within the bound that the manual states."""
        value, magnitude = exact(pattern, left, right)
        value, magnitude = alpha * value, abs(alpha) * magnitude
        if before is not None:
            value = value + beta * before.astype(value.dtype)
            magnitude = magnitude + abs(beta) * np.abs(before)
        found = np.load(self.output)
        self.assertEqual(found.shape, np.shape(value))
        self.assertEqual(found.dtype.str, left.dtype.newbyteorder("=").str)
        self.assertTrue(found.flags.c_contiguous)
        operands, result = pattern.split("->") if "->" in pattern else (pattern, None)
        summed = set(operands) - set(result) - {","} if result is not None else set(
            letter for letter in operands if operands.count(letter) > 1 and letter != ",")
        terms = math.prod(EXTENTS[letter.lower()] for letter in summed)
        unit = np.finfo(found.dtype).eps / 2
        bound = (terms + 4) * unit * magnitude * (3 if found.dtype.kind == "c" else 1)
        self.assertTrue(np.all(np.abs(found - value) <= bound), (found, value))


class Values(Contracting):
    def test_patterns_and_dtypes(self):
        for seed, (pattern, dtype) in enumerate(itertools.product(PATTERNS, DTYPES)):
            if (seed // len(DTYPES) + seed) % 2:  # half of them: each pattern in two types, each type in half of all
                continue
            with self.subTest(pattern=pattern, dtype=dtype):
                left, right = self.save_operands(pattern, dtype, "CF"[seed % 2], seed)
                self.contract(pattern, "--quiet", "--threads", 1 + seed % 2)
                self.check(pattern, left, right)

    def test_the_other_form(self):
        for pattern in PATTERNS:
            if "->" not in pattern:
                continue
            with self.subTest(pattern=pattern):
                left, right = self.save_operands(pattern, "f8")
                self.contract(talsh(pattern), "--quiet")
                self.check(pattern, left, right)
        left, right = self.save_operands("ab,bc->ac", "c16")
        self.contract("Sum(row, col_1) += One+(row, k) * Two(k, col_1)", "--quiet")
        self.check("ab,bc->ac", left.conj(), right)

    def test_random_patterns(self):
        random = np.random.default_rng(3)
        for seed in range(40):
            letters = list("abcdefgh")
            random.shuffle(letters)
            left = "".join(letters[:random.integers(0, 6)])
            right = "".join(random.permutation(letters)[:random.integers(0, 6)])
            result = [letter for letter in sorted(set(left + right)) if random.random() < 0.6]
            random.shuffle(result)
            pattern = "%s,%s->%s" % (left, right, "".join(result))
            with self.subTest(pattern=pattern):
                arrays = self.save_operands(pattern, DTYPES[seed % 4], "CF"[seed // 4 % 2], seed)
                self.contract(pattern, "--quiet")
                self.check(pattern, *arrays)

    def test_byte_orders(self):
        pattern = "abc,dcb->ad"
        for dtype in DTYPES:
            for orders in ["><", "<>", ">>"]:
                with self.subTest(dtype=dtype, orders=orders):
                    left, right = self.save_operands(pattern, dtype)
                    np.save(self.a, left.astype(left.dtype.newbyteorder(orders[0])))
                    np.save(self.b, right.astype(right.dtype.newbyteorder(orders[1])))
                    before = numbers((3, 6), dtype, 9)
                    np.save(self.d, before.astype(before.dtype.newbyteorder(orders[0])))
                    self.contract(pattern, "--quiet", "--in", self.d)
                    self.check(pattern, left, right, 1, 1, before)

    def test_scalars(self):
        pattern = "ab,cb->ca"
        for dtype, alpha, beta in [("f8", "1.5", "-2"), ("f4", "-1e-1", "0"), ("f8", "0", "1"), ("c16", "2j", "1+2j"),
                                   ("c8", "(1-0.5j)", "-j"), ("c16", "1e0+1e-1j", "3"), ("f8", "2", None),
                                   ("f8", "+.5", "1.")]:
            for order in "CF":
                with self.subTest(dtype=dtype, alpha=alpha, beta=beta):
                    left, right = self.save_operands(pattern, dtype)
                    before = np.array(numbers((5, 3), dtype, 5), order=order)
                    np.save(self.d, before)
                    options = [] if beta is None else ["--beta=" + beta]
                    self.contract(pattern, "--alpha=" + alpha, "--in", self.d, *options)
                    self.check(pattern, left, right, complex(alpha) if "j" in alpha else float(alpha),
                               1 if beta is None else complex(beta) if "j" in beta else float(beta), before)
        # 'D +=' has nothing to add to unless --in says what.
        left, right = self.save_operands("ab,bc->ac", "f8")
        self.contract("D(a,c)+=L(a,b)*R(b,c)", "--alpha", "2")
        self.check("ab,bc->ac", left, right, 2)
        # What is 0 times something is not read.
        np.save(self.d, np.full((3, 5), np.nan))
        self.contract("ab,bc->ac", "--in", self.d, "--beta", "0")
        self.check("ab,bc->ac", left, right)

    def test_empty(self):
        for pattern, shapes in [("ab,bc->ac", ((0, 4), (4, 3))), ("ab,bc->ac", ((2, 0), (0, 3))),
                                ("a,a->", ((0,), (0,)))]:
            with self.subTest(pattern=pattern, shapes=shapes):
                left, right = (np.zeros(shape) for shape in shapes)
                np.save(self.a, left)
                np.save(self.b, right)
                self.contract(pattern)
                found = np.load(self.output)
                self.assertEqual(found.tolist(), np.einsum(pattern, left, right).tolist())

    def test_larger(self):
        random = np.random.default_rng(1)
        for pattern, shapes in [("abc,dcb->ad", ((90, 70, 50), (80, 50, 70))), ("ab,bc->ac", ((300, 301), (301, 299))),
                                ("abcd,ebfd->cafe", ((20, 17, 23, 19), (11, 17, 13, 19))),
                                ("abc,adc->dba", ((31, 33, 65), (31, 40, 65)))]:
            left, right = (random.uniform(-1, 1, shape) for shape in shapes)
            np.save(self.a, left)
            np.save(self.b, right)
            expected = np.einsum(pattern, left, right, optimize=True)
            for limit, options in [(None, []), (0, ["--workspace", "0"]), (20000, ["--workspace", "20k"]),
                                   (102400, ["--workspace=100Ki", "--threads=2"]), (None, ["--threads", "1"])]:
                with self.subTest(pattern=pattern, options=options):
                    result = self.contract(pattern, "--json", *options)
                    self.assertTrue(np.allclose(np.load(self.output), expected, rtol=1e-12, atol=1e-11))
                    report = json.loads(result.stdout)
                    if limit is not None:
                        self.assertLessEqual(report["workspace_bytes"], limit)

    def test_same_file_twice_and_as_the_result(self):
        square = numbers((20, 20), "f8", 1)
        np.save(self.a, square)
        self.good("contract", "ab,bc->ac", self.a, self.a, "-o", self.a, "--force", "--in", self.a)
        self.assertTrue(np.allclose(np.load(self.a), square @ square + square))


class Reports(Contracting):
    def test_closing_line(self):
        self.save_operands("abc,dcb->ad", "f8")
        result = self.contract("abc,dcb->ad", "--threads", "1")
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr, r"\Acutt: \(3, 4, 5\) and \(6, 5, 4\) -> \(3, 6\) of f8: \w+, 1 thread, "
                                        r"[0-9.e+-]+ (us|ms|s), [0-9.e+-]+ GFLOP/s; permuted: [a-z ,]+"
                                        r"( \([0-9.]+% of the time\))?; workspace [0-9.]+ \w+; .* with files\n\Z")
        self.assertEqual(self.contract("abc,dcb->ad", "--quiet").stderr, "")

    def test_json(self):
        self.save_operands("abc,dcb->ad", "f8")
        result = self.contract("abc,dcb->ad", "--json", "--quiet")
        self.assertEqual(result.stderr, "")
        report = json.loads(result.stdout)
        self.assertEqual(report["numpy"], {"pattern": "abc,dcb->ad", "dtype": "f8", "left": [3, 4, 5],
                                           "right": [6, 5, 4], "result": [3, 6]})
        self.assertGreater(report["times"]["total"], 0)
        self.assertGreaterEqual(report["times"]["with_files"], report["times"]["total"])
        self.assertEqual(report["m"] * report["n"] * report["k"] * report["batch"], 3 * 6 * 4 * 5)

    def test_provider(self):
        self.save_operands("ab,bc->ac", "f8")
        for provider in providers():
            for name in (provider["name"], provider["path"]):
                with self.subTest(name=name):
                    report = json.loads(self.contract("ab,bc->ac", "--json", "--quiet", "--provider", name).stdout)
                    self.assertEqual(report["provider"]["name"], provider["name"])
        self.bad(2, ["--provider", "'abacus'"], "contract", "ab,bc->ac", self.a, self.b, "-o", self.output, "--force",
                 "--provider", "abacus")

    def test_algorithm(self):
        self.save_operands("ab,bc->ac", "f8")
        for name in ("ttgt", "one-pass"):
            report = json.loads(self.contract("ab,bc->ac", "--json", "--quiet", "--algorithm", name).stdout)
            self.assertEqual(report["algorithm"], name)
        self.bad(2, ["--algorithm", "'three-pass'", "one-pass"], "contract", "ab,bc->ac", self.a, self.b, "-o", self.output,
                 "--force", "--algorithm", "three-pass")

    def test_measure_and_wisdom(self):
        pattern, wisdom = "abcd,dcef->abef", self.path("wisdom")
        left, right = self.save_operands(pattern, "f8")
        # Wisdom is of one library, and which is the fastest is found by each run, unless the environment names one.
        named = mock.patch.dict(os.environ, CUTT_CBLAS=providers()[0]["path"])
        named.start()
        self.addCleanup(named.stop)
        plan = json.loads(self.contract(pattern, "--threads", "1", "--wisdom", wisdom, "--json").stdout)
        self.assertEqual((plan["by"], plan["measured_seconds"]), ("model", 0))
        self.assertTrue(os.path.exists(wisdom))
        plan = json.loads(self.contract(pattern, "--threads", "1", "--wisdom", wisdom, "--measure", "--json").stdout)
        self.check(pattern, left, right)
        self.assertEqual(plan["by"], "measured")
        self.assertTrue(any(way["seconds"] for way in plan["timed"]))
        self.assertIn(b" contraction any ", read(wisdom))
        known = read(wisdom)
        plan = json.loads(self.contract(pattern, "--threads", "1", "--wisdom", wisdom, "--json").stdout)
        self.check(pattern, left, right)
        self.assertEqual(plan["by"], "wisdom")
        self.assertEqual(read(wisdom), known)
        shapes = [word for letters in pattern.split("->")[0].split(",")
                  for word in ("--shape", ",".join(map(str, shape_of(letters))))]
        planned = ["plan", "--contract", pattern, *shapes, "--dtype", "f8", "--threads", "1", "--backend", "cpu"]
        self.assertIn("by wisdom", self.good(*planned, "--wisdom", wisdom).stdout)
        self.assertIn("timed by turns", self.good(*planned, "--measure").stdout)
        self.bad(1, "wisdom", "contract", pattern, self.a, self.b, "-o", self.path("no.npy"), "--wisdom", self.folder)
        self.bad(1, ["--measure", "--memory"], "contract", pattern, self.a, self.b, "-o", self.path("no.npy"), "--measure",
                 "--memory", "4000")
        self.assertFalse(os.path.exists(self.path("no.npy")))

    def test_environment_override(self):
        """Of a BLAS that picks slow kernels is said, once, what to set: of the one that is used, as long as it is not set."""
        if not OVERRIDES:
            self.skipTest("no BLAS here picks slow kernels, or the environment tells it better")
        arrays = self.save_operands("ab,bc->ac", "f8")
        run = ["contract", "ab,bc->ac", self.a, self.b, "-o", self.output, "--force"]
        plan = ["plan", "--contract", "ab,bc->ac", "--shape", "3,4", "--shape", "4,5", "--dtype", "f8"]
        bench = ["bench", "contract", "--set", "random", "--samples", "1", "--volume", "100"]
        told = dict(OVERRIDES.values())
        untold = {name: value for name, value in os.environ.items() if name not in told}

        def check(said, name):
            override = OVERRIDES.get(name)
            self.assertEqual(said.count("environment override"), int(override is not None), said)
            self.assertIn("environment override: %s=%s\n" % override if override else "", said)

        libraries = json.loads(cutt("devices", "--json", env=untold).stdout)["providers"]
        for library in libraries:
            name, path = library["name"], library["path"]
            if library["backend"] != "cpu":
                continue
            with self.subTest(name=name):
                for command in run, plan, bench:
                    check(self.good(*command, "--provider", name, env=untold).stderr, name)
                check(self.good(*run, "--provider", path, env=untold).stderr, name)
                self.assertEqual(self.good(*run, "--provider", name, "--quiet", env=untold).stderr, "")
                check(self.good(*run, "--provider", name, env={**untold, **told}).stderr, None)
        # The default one, whether small tensors need it or not.
        default = [each["name"] for each in libraries if each["backend"] == "cpu" and each["default"]]
        check(self.good(*run, "--json", env=untold).stderr, default[0])
        self.check("ab,bc->ac", *arrays)


class OneOperand(Contracting):
    """Sums and diagonals of one array."""

    def test_results(self):
        for seed, (pattern, dtype) in enumerate(itertools.product(
                ["abcb->ac", "aab->ab", "aab->ba", "aab->b", "ab", "baa", "abc->", "ab->ba", "D(a,c)=L(a,b,c)"], DTYPES)):
            with self.subTest(pattern=pattern, dtype=dtype):
                letters = "abc" if "(" in pattern else pattern.split("->")[0]
                a = numbers(shape_of(letters), dtype, seed)
                np.save(self.a, a if seed % 2 else np.asfortranarray(a))
                self.good("contract", pattern, self.a, "-o", self.output, "--force", "--quiet")
                wanted = np.einsum("abc->ac" if "(" in pattern else pattern, a)
                got = np.load(self.output)
                self.assertEqual((got.shape, got.dtype), (wanted.shape, wanted.dtype))
                self.assertTrue(np.allclose(got, wanted, rtol=1e-5, atol=1e-6))

    def test_scalars_and_what_is_said(self):
        a = numbers((5, 6, 6), "f8", 1)
        d = numbers((5,), "f8", 2)
        np.save(self.a, a)
        np.save(self.d, d)
        said = self.good("contract", "abb->a", self.a, "-o", self.output, "--alpha", "3", "--in", self.d, "--beta", "-2").stderr
        self.assertIn("(5, 6, 6) -> (5,) of f8", said)
        self.assertTrue(np.allclose(np.load(self.output), 3 * np.einsum("abb->a", a) - 2 * d))
        told = json.loads(self.good("plan", "--contract", "abb->a", "--shape", "5,6,6", "--dtype", "f8", "--json").stdout)
        self.assertEqual((told["numpy"]["left"], told["numpy"]["right"], told["numpy"]["result"]), ([5, 6, 6], None, [5]))

    def test_blocks(self):
        a = numbers((60, 40, 50, 40), "f8", 3)
        np.save(self.a, a)
        said = self.good("contract", "abcb->ca", self.a, "-o", self.output, "--memory", "1M", "--verbose").stderr
        self.assertIn(" steps with blocks of ", said)
        self.assertTrue(np.allclose(np.load(self.output), np.einsum("abcb->ca", a)))

    def test_number_of_operands(self):
        np.save(self.a, numbers((3, 4), "f8", 4))
        self.bad(2, ["'ab,bc->ac'", "two operands", "one is given"], "contract", "ab,bc->ac", self.a, "-o", self.output)
        self.bad(2, ["4 operands", "two or three"], "contract", "ab->a", self.a, self.a, self.a, "-o", self.output)
        self.bad(2, ["1 operand is given", "two or three"], "contract", "ab->a", "-o", self.output)


class WrongUsage(Contracting):
    def test_patterns(self):
        self.save_operands("ab,bc->ac", "f8")  # (3, 4) and (4, 5)
        for pattern, words in [("ab,bc->ax", ["'x'", "place 9"]), ("ab,bc->aa", ["'a'", "place 9"]),
                               ("ab bc->ac", ["one operand", "','"]), ("D(a)=L(a,b)", ["one operand", "'*'"]), ("ab,b1->a1", ["'1'", "place 5"]),
                               ("ab,bc->a.", ["'.'", "place 9"]), ("", ["one operand"]),
                               ("ab,bc,cd->ad", ["','", "place 6"]),
                               ("ab,bca->ac", ["b.npy", "2 axes", "(4, 5)", "3 letters"]),
                               ("a,bc->ac", ["a.npy", "2 axes", "1 letter"]),
                               ("ab,ac->bc", ["axis 0 of", "a.npy", "b.npy", "'a'"]),
                               ("ab,cb->ac", ["axis 1 of", "b.npy is 5", "'b'", "places 2 and 5"]),
                               ("D(a,c)=L(a,b)*R(b,c", ["place 20"]), ("D(a,c)=L(a,b)*R(b,d)", ["'c'", "place 5"]),
                               ("ab,bb->a", ["axis 1 of", "b.npy is 5", "'b'"])]:
            with self.subTest(pattern=pattern):
                self.bad(2, words, "contract", pattern, self.a, self.b, "-o", self.output)
                self.assertFalse(os.path.exists(self.output))

    def test_options(self):
        self.save_operands("ab,bc->ac", "f8")
        np.save(self.d, np.zeros((3, 4)))
        run = ["contract", "ab,bc->ac", self.a, self.b]
        for words, arguments in [
                (["three", "PATTERN"], ["contract"]),
                (["two operands", "one is given"], ["contract", "ab,bc->ac", self.a, "-o", self.output]),
                (["-o"], run), (["--beta", "--in"], [*run, "-o", self.output, "--beta", "1"]),
                (["--alpha", "'one'", "2j"], [*run, "-o", self.output, "--alpha", "one"]),
                (["--alpha", "'1+2'"], [*run, "-o", self.output, "--alpha", "1+2"]),
                (["--alpha", "'0x10'"], [*run, "-o", self.output, "--alpha", "0x10"]),
                (["--alpha", "''"], [*run, "-o", self.output, "--alpha="]),
                (["--alpha", "'2j'", "f8", "real"], [*run, "-o", self.output, "--alpha", "2j"]),
                (["--in", "(3, 4)", "(3, 5)"], [*run, "-o", self.output, "--in", self.d]),
                (["--threads", "'0'"], [*run, "-o", self.output, "--threads", "0"]),
                (["--workspace", "'much'"], [*run, "-o", self.output, "--workspace", "much"]),
                (["--backend", "'gpu'", "cuda"], [*run, "-o", self.output, "--backend", "gpu"]),
                (["'--workspice'", "'--workspace'"], [*run, "-o", self.output, "--workspice", "1"]),
                (["'-o'", "value"], [*run, "-o"]), (["'-x'"], [*run, "-x", self.output])]:
            with self.subTest(arguments=arguments):
                self.bad(2, ["'cutt contract --help'", *words], *arguments)
                self.assertFalse(os.path.exists(self.output))

    def test_files(self):
        arrays = self.save_operands("ab,bc->ac", "f8")
        run = ["contract", "ab,bc->ac", self.a, self.b, "-o", self.output]
        write(self.output, b"mine")
        self.bad(1, ["out.npy", "exists", "--force"], *run)
        self.assertEqual(read(self.output), b"mine")
        os.unlink(self.output)
        self.bad(1, ["a.npy", "the input itself"], "contract", "ab,bc->ac", self.a, self.b, "-o", self.a)
        self.bad(1, ["b.npy", "exists"], "contract", "ab,bc->ac", self.a, self.b, "-o", self.b)
        for dtype in ["i4", "u1", "b1", "S4", "M8[s]"]:
            np.save(self.b, np.zeros((4, 5), dtype))
            self.bad(1, ["b.npy", dtype[:2], "f2", "f4", "f8", "c8", "c16"], *run)
        np.save(self.b, arrays[1].astype("f4"))
        self.bad(1, ["a.npy", "'<f8'", "b.npy", "'<f4'"], *run)
        write(self.b, b"nonsense")
        self.bad(1, ["b.npy", "not an .npy file"], *run)
        os.unlink(self.b)
        self.bad(1, ["b.npy", "No such file"], *run)
        write(self.b, raw_npy("{'descr': '<f8', 'fortran_order': False, 'shape': (4, 5), }", bytes(100)))
        self.bad(1, ["b.npy", "truncated"], *run)
        self.assertFalse(os.path.exists(self.output))
        np.save(self.b, arrays[1])
        self.bad(1, ["none/out.npy", "folder"], *run[:-1], self.path("none/out.npy"))

    def test_help(self):
        self.assertIn("contract", self.good("--help").stdout)
        for command in ["contract", "plan", "bench"]:
            self.assertIn("contract", self.good(command, "--help").stdout)
        for arguments in [["contract", "--help"], ["bench", "contract", "--help"]]:
            text = self.good(*arguments).stdout
            self.assertTrue(text.startswith("Usage: cutt " + " ".join(arguments[:-1])))
            self.assertLessEqual(max(map(len, text.splitlines())), 120)


class Plan(Contracting):
    planned = ["plan", "--contract", "abc,dcb->ad", "--shape", "30,40,50", "--shape", "60,50,40", "--dtype", "f8"]

    def test_text_and_json(self):
        text = self.good(*self.planned).stdout
        self.assertTrue(text.startswith("NumPy order: 'abc,dcb->ad', (30, 40, 50) and (60, 50, 40) -> (30, 60), "))
        plan = json.loads(self.good(*self.planned, "--json", "--threads", "1", "--workspace", "0").stdout)
        self.assertEqual(plan["numpy"]["result"], [30, 60])
        self.assertEqual((plan["threads"], plan["workspace_bytes"]), (1, 0))
        self.assertEqual(plan["k"], 2000)
        for tensor in "LRD":
            self.assertFalse(plan["tensors"][tensor]["permuted"])
        self.good("plan", "--contract", "a,a->", "--shape", "3", "--shape", "3", "--dtype", "<c16")
        self.good("plan", "--contract", ",->", "--shape", "", "--shape", "", "--dtype", "f4")

    def test_algorithm(self):
        for name in ("ttgt", "one-pass"):
            told = json.loads(self.good(*self.planned, "--json", "--algorithm", name).stdout)
            self.assertEqual(told["algorithm"], name)

    def test_errors(self):
        for option in [["--axes", "0,1,2"], ["--device", "p100"],
                       ["--model", "paper"], ["--draw"], ["--svg", "x.svg"], ["--force"]]:
            with self.subTest(option=option):
                self.bad(2, [option[0] + " is", "--contract"], *self.planned, *option)
        permutation = ["plan", "--shape", "3,4", "--dtype", "f8"]
        for option in [["--workspace", "1k"], ["--provider", "blis"], ["--algorithm", "ttgt"]]:
            self.bad(2, [option[0], "--contract"], *permutation, *option)
        self.bad(2, ["--shape", "2 times", "--contract"], *permutation, "--shape", "4,5")
        self.bad(2, ["two operands", "one is given"], *self.planned[:5], "--dtype", "f8")
        self.bad(2, ["--shape", "3 times", "each operand"], *self.planned, "--shape", "3")
        self.bad(2, "--dtype", *self.planned[:-2])
        self.bad(2, ["--dtype", "'i4'", "c16"], *self.planned[:-1], "i4")
        for words, shape in [(["the second --shape", "the first --shape", "'c'"], "3,4,5"),
                             (["the first --shape", "3 letters"], "3,4")]:
            self.bad(2, words, "plan", "--contract", "abc,dcb->ad", "--shape", shape, "--shape", "6,7,4",
                     "--dtype", "f8")


class Bench(Contracting):
    def list_of(self, *options):
        lines = self.good("bench", "contract", *options, "--list").stdout.splitlines()
        self.assertEqual(lines[0], "id;group;pattern;extents")
        return [line.split(";") for line in lines[1:]]

    def test_lists(self):
        for name, kinds in [("talsh48", ["f8"]), ("tccg48", ["f4", "f8", "c8"])]:
            for dtype in kinds:
                cases = self.list_of("--set", name, "--dtype", dtype)
                self.assertEqual(len({case[0] for case in cases}), 48)
        for name, dtype, extents in [("talsh48", "f8", "a:312 b:24 c:312 d:312"),
                                     ("tccg48", "c16", "a:312 b:24 c:296 d:312"),
                                     ("tccg48", "f4", "a:384 b:24 c:376 d:384")]:
            self.assertIn([name + "_02", "intensli", "dca,bd->abc", extents],
                          self.list_of("--set", name, "--dtype", dtype))
        for case in self.list_of("--set", "tccg48", "--volume", "5000"):
            self.assertLessEqual(max(self.volumes(case)), 5000)

    @staticmethod
    def volumes(case):
        extents = {item[0]: int(item[2:]) for item in case[3].split()}
        return [math.prod(extents[letter] for letter in group) for group in case[2].replace("->", ",").split(",")]

    def test_random_list(self):
        everything = self.list_of("--set", "random", "--samples", "paper", "--volume", "paper")
        self.assertEqual(len(everything), 9306)
        ids = {case[0]: case for case in everything}
        self.assertEqual(len(ids), 9306)
        for name, group, pattern, extents in everything:
            left, right, result = pattern.replace("->", ",").split(",")
            self.assertLessEqual(len(left), len(right))
            self.assertLessEqual(max(map(len, (left, right, result))), 8)
            self.assertEqual(set(result), set(left) ^ set(right))
            volumes = self.volumes((name, group, pattern, extents))
            self.assertLessEqual(max(volumes), 75000000)
        few, more = (self.list_of("--set", "random", "--samples", n, "--volume", "paper") for n in ("20", "50"))
        self.assertEqual((len(few), len(more)), (20, 50))
        self.assertEqual(few, more[:20])
        self.assertTrue(all(ids[case[0]] == case for case in more))
        self.assertNotEqual(few, self.list_of("--set", "random", "--samples", "20", "--volume", "paper", "--seed", "1"))
        csv = self.path("cases.csv")
        self.list_of("--set", "random", "--samples", "20", "--volume", "paper", "--csv", csv)
        self.assertEqual([line.split(";") for line in read(csv).decode().splitlines()[1:]], few)

    def test_runs(self):
        result = self.path("result.json")
        sample = ["--set", "random", "--samples"]
        for options, cases in [(["--set", "talsh48", "--volume", "2000"], 48),
                               (["--set", "tccg48", "--volume", "1k", "--dtype", "f4"], 48),
                               ([*sample, "6", "--volume", "3000", "--dtype", "c8"], 6),
                               ([*sample, "4", "--volume", "3000", "--dtype", "c16", "--workspace", "10k"], 4),
                               ([*sample, "3", "--volume", "1", "--no-check"], 3)]:
            with self.subTest(options=options):
                run = self.good("bench", "contract", *options, "--threads", "1", "--seconds", "0.002", "--json", result, "--force")
                self.assertIn("worst cases", run.stdout)
                with open(result, encoding="ascii") as file:
                    report = json.load(file)
                self.assertEqual(set(report), {"machine", "settings", "cases", "summary"})
                self.assertEqual((report["summary"]["cases"], report["summary"]["failed"]), (cases, 0))
                self.assertEqual(len(report["cases"]), cases)
                self.assertLessEqual(len(report["summary"]["bins"]), 8)
                self.assertEqual(sum(b["cases"] for b in report["summary"]["bins"] or [{"cases": cases}]), cases)
                self.assertEqual(sum(g["cases"] for g in report["summary"]["groups"]), cases)
                for case in report["cases"]:
                    self.assertGreater(case["seconds"], 0)
                    self.assertGreater(case["gemm_seconds"], 0)
                    self.assertAlmostEqual(case["percent"] * case["seconds"] / case["gemm_seconds"], 100, places=1)
                    self.assertTrue(0 <= case["permute_percent"] <= 100)
                    extents = " ".join("%s:%d" % item for item in case["extents"].items())
                    left, right, out = self.volumes(["", "", case["pattern"], extents])
                    defined = 2 * math.sqrt(left * right * out) / (left + right + out)
                    self.assertAlmostEqual(case["intensity"] / defined, 1, places=4)
                    if "--workspace" in options:
                        self.assertLessEqual(case["workspace_bytes"], 10000)
        run = self.good("bench", "contract", *sample, "2", "--volume", "1k", "--seconds", "0.02", "--json", "-", "--quiet")
        self.assertEqual(len(json.loads(run.stdout)["cases"]), 2)

    def test_errors(self):
        run = ["bench", "contract", "--set", "talsh48"]
        for words, arguments in [(["--set is missing", "talsh48", "tccg48", "random"], ["bench", "contract"]),
                                 (["--set", "'set1'", "random"], ["bench", "contract", "--set", "set1"]),
                                 (["--samples", "random"], [*run, "--samples", "3"]),
                                 (["--samples", "'0'"], ["bench", "contract", "--set", "random", "--samples", "0"]),
                                 (["--dtype", "'f2'", "c16"], [*run, "--dtype", "f2"]), (["'x'"], [*run, "x"]),
                                 (["--volume", "'none'"], [*run, "--volume", "none"]),
                                 (["--seconds", "'0'", "0.001"], [*run, "--seconds", "0"]),
                                 (["'--beta'"], [*run, "--beta", "1"])]:
            with self.subTest(arguments=arguments):
                self.bad(2, ["'cutt bench contract --help'", *words], *arguments)
        self.bad(2, ["contract", "first"], "bench", "--quiet", "contract")
        result = self.path("result.json")
        write(result, b"mine")
        self.bad(1, ["--json", "exists", "--force"], *run, "--volume", "100", "--json", result)
        self.assertEqual(read(result), b"mine")


def prepare():
    no_leak_checks()
    # What is said of a BLAS that picks slow kernels is only test_environment_override's affair.
    OVERRIDES.update(best_kernels())


if __name__ == "__main__":
    run_tests(prepare)
