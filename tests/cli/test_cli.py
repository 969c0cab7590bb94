"""Tests of the program `cutt` against NumPy, as scripts use it: files, exit codes, messages.

The program is named by the environment variable CUTT_PROGRAM. Needs NumPy and nothing else. Run it directly, with
unittest's arguments if any; the last line is "N passed, N failed, N skipped".
"""

import io
import json
import os
import pty
import re
import resource
import shutil
import signal
import stat
import struct
import subprocess
import sys
import tempfile
import time
import unittest

import numpy as np

PROGRAM = os.environ.get("CUTT_PROGRAM", "")
# All but the class Gpu is about the processor, also where there is a GPU.
GPU_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "CUTT_CUDA"}
os.environ["CUTT_CUDA"] = "0"
TIMEOUT = 120  # seconds for any one run of the program
# A library to preload: then the output has a name from the beginning, as on file systems without files that have none.
NAMED = os.environ.get("CUTT_TEST_NAMED", "")


def cutt(*arguments, **options):
    """Runs the program; stdout and stderr are text."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, timeout=TIMEOUT, **options)


def fill(shape, dtype, seed=0):
    """An array of this dtype whose bytes are random (bool: random truth), every element told from its neighbours."""
    dtype = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    raw = np.random.default_rng(seed).integers(0, 256, count * dtype.itemsize, dtype=np.uint8)
    if dtype.kind == "b":
        raw &= 1
    return raw.view(dtype).reshape(shape) if count else np.zeros(shape, dtype)


def file_bytes(array):
    """What np.save makes of an array."""
    file = io.BytesIO()
    np.save(file, array)
    return file.getvalue()


def write(path, content):
    with open(path, "wb") as file:
        file.write(content)


def read(path):
    with open(path, "rb") as file:
        return file.read()


def raw_npy(header, data=b"", version=(1, 0), length=None):
    """An .npy file with any text (or bytes) for a header, and any claimed length of it."""
    header = header.encode("latin1") if isinstance(header, str) else header
    size = len(header) if length is None else length
    return b"\x93NUMPY" + bytes(version) + struct.pack("<H" if version[0] == 1 else "<I", size) + header + data


DTYPES = ["|b1", "|i1", "|u1", "<i2", "<u2", "<f2", "<i4", "<u4", "<f4", "<i8", "<u8", "<f8", "<c8", "<c16"]
if np.dtype(np.longdouble).itemsize == 16:
    DTYPES.append(np.dtype(np.longdouble).str)


class Case(unittest.TestCase):
    def setUp(self):
        self.folder = tempfile.mkdtemp(prefix="cutt-test-")
        self.addCleanup(shutil.rmtree, self.folder)
        self.input = self.path("in.npy")
        self.output = self.path("out.npy")

    def path(self, name):
        return os.path.join(self.folder, name)

    def save(self, array):
        np.save(self.input, array)
        return array

    def temporaries(self):
        return [name for name in os.listdir(self.folder) if name.startswith(".")]

    @staticmethod
    def environments():
        """Of runs whose output has no name until it is complete, where that can be, and of those where it has one."""
        return [None] + ([dict(os.environ, LD_PRELOAD=NAMED)] if NAMED else [])

    def good(self, *arguments, **options):
        result = cutt(*arguments, **options)
        self.assertEqual(result.returncode, 0, result.stderr)
        self.assertEqual(self.temporaries(), [])
        return result

    def bad(self, code, words, *arguments, **options):
        """The run fails with this code, in one line of stderr that starts with "cutt: " and has all these words."""
        result = cutt(*arguments, **options)
        self.assertEqual(result.returncode, code, result.stderr)
        self.assertEqual(result.stdout or "", "")
        self.assertRegex(result.stderr, r"\Acutt: [^\n]+\n\Z")
        for word in [words] if isinstance(words, str) else words:
            self.assertIn(word, result.stderr)
        self.assertEqual(self.temporaries(), [])
        return result

    def check_output(self, array, axes=None):
        """out.npy is what NumPy makes of array: shape, dtype, every bit, and the file as np.save writes it."""
        expected = np.ascontiguousarray(np.transpose(array, axes))
        found = np.load(self.output)
        self.assertEqual(found.shape, expected.shape)
        self.assertEqual(found.dtype.str, expected.dtype.str)
        self.assertEqual(found.tobytes(), expected.tobytes())
        if hasattr(np.lib.format, "GROWTH_AXIS_MAX_DIGITS"):  # else its headers are padded in another way
            self.assertEqual(read(self.output), file_bytes(expected))

    def transpose(self, array, axes=None, *arguments):
        """Permutes what in.npy holds and compares with NumPy."""
        options = [] if axes is None else ["--axes", ",".join(map(str, axes))]
        result = self.good("transpose", self.input, self.output, "--force", *options, *arguments)
        self.check_output(array, axes)
        return result


class Transpose(Case):
    def test_dtypes_and_axes(self):
        cases = [((5, 3, 7), None), ((5, 3, 7), (2, 0, 1)), ((5, 3, 7), (0, 1, 2)), ((5, 3, 7), (1, -1, 0)),
                 ((17, 2, 9, 4), (-1, 1, 0, 2)), ((6, 5), (1, 0))]
        for dtype in DTYPES:
            for seed, (shape, axes) in enumerate(cases):
                with self.subTest(dtype=dtype, shape=shape, axes=axes):
                    self.transpose(self.save(fill(shape, dtype, seed)), axes, "--quiet")

    def test_versions_and_orders(self):
        for dtype in DTYPES:
            for version in [(1, 0), (2, 0), (3, 0)]:
                for order in "CF":
                    with self.subTest(dtype=dtype, version=version, order=order):
                        array = np.array(fill((4, 3, 5), dtype), order=order)
                        with open(self.input, "wb") as file:
                            np.lib.format.write_array(file, array, version=version)
                        self.assertEqual(read(self.input)[6], version[0])
                        self.transpose(array, (1, 2, 0), "--quiet")

    def test_larger(self):
        for shape, axes, dtype in [((300, 256, 3), (2, 0, 1), "|u1"), ((3, 300, 257), (1, 2, 0), "|u1"),
                                   ((1001, 999), None, "<f4"), ((64, 33, 65, 7), (3, 2, 1, 0), "<f8"),
                                   ((2,) * 16, tuple(range(15, -1, -1)), "<i2"), ((70, 60, 50), (1, 0, 2), "<c16")]:
            for order in "CF":
                with self.subTest(shape=shape, axes=axes, order=order):
                    array = np.array(fill(shape, dtype), order=order)
                    self.transpose(self.save(array), axes)

    def test_random_axes(self):
        random = np.random.default_rng(1)
        for seed in range(60):
            rank = int(random.integers(1, 8))
            shape = tuple(int(n) for n in random.integers(1, 7, rank))
            axes = tuple(int(n) for n in random.permutation(rank))
            dtype = DTYPES[seed % len(DTYPES)]
            with self.subTest(shape=shape, axes=axes, dtype=dtype):
                array = np.array(fill(shape, dtype, seed), order="CF"[seed % 2])
                self.transpose(self.save(array), axes, "--quiet", "--threads", 1 + seed % 3)

    def test_byte_order_and_other_fixed_size_dtypes(self):
        for dtype in [">i2", ">u4", ">f4", ">f8", ">c16", "|S1", "|S4", "|S16", "<U1", "<U4", ">U2", "|V8", "|V16",
                      "<M8[ns]", "<m8[25s]", ">M8[D]", "<M8"]:
            with self.subTest(dtype=dtype):
                self.transpose(self.save(fill((3, 5, 2), "|V%d" % np.dtype(dtype).itemsize).view(dtype)), (2, 0, 1))

    def test_empty_and_scalar(self):
        for shape, axes in [((0,), None), ((0, 3), None), ((3, 0, 2), (1, 2, 0)), ((2, 0, 0), (2, 1, 0))]:
            with self.subTest(shape=shape):
                result = self.transpose(self.save(np.zeros(shape, "<f4")), axes)
                self.assertIn("no elements", result.stderr)
        for dtype in DTYPES:
            with self.subTest(dtype=dtype):
                scalar = self.save(fill((), dtype))
                self.transpose(scalar)
                self.assertEqual(np.load(self.output).shape, np.ascontiguousarray(scalar).shape)
        self.transpose(self.save(fill((), "<f8")), ())
        self.good("transpose", self.input, self.output, "--force", "--spec", "->")

    def test_high_rank(self):
        shape = (1, 2) * 8 + (1,) * 16
        axes = tuple(range(31, -1, -2)) + tuple(range(0, 32, 2))
        self.transpose(self.save(fill(shape, "<f4")), axes)
        # More axes than this NumPy may have: the file is made by hand.
        shape, data = (1,) * 61 + (2, 3, 4), np.arange(24, dtype="<i4")
        write(self.input, raw_npy("{'descr': '<i4', 'fortran_order': False, 'shape': %r}" % (shape,), data.tobytes()))
        self.good("transpose", self.input, self.output, "--force")
        self.assertEqual(read(self.output)[-96:], data.reshape(2, 3, 4).transpose().tobytes())
        self.assertIn(b"(4, 3, 2, 1, 1, ", read(self.output))
        shape = (1,) * 65
        write(self.input, raw_npy("{'descr': '<i4', 'fortran_order': False, 'shape': %r}" % (shape,), b"1234"))
        self.bad(1, ["in.npy", "64"], "transpose", self.input, self.output, "--force")

    def test_spec(self):
        array = self.save(fill((4, 5, 6), "<f4"))
        for spec, axes in [("abc->cab", (2, 0, 1)), ("hwC->Chw", (2, 0, 1)), ("zyx->zyx", (0, 1, 2))]:
            with self.subTest(spec=spec):
                self.good("transpose", self.input, self.output, "--force", "--spec", spec)
                self.check_output(array, axes)
        for spec, word in [("abc", "->"), ("abc->ab", "'c'"), ("abc->abb", "'c'"), ("aac->aca", "twice"), ("", "->"),
                           ("abc->abcd", "'d'"), ("ab->ba", "3"), ("a,b->b,a", "','"), ("abc->ca b", "' '")]:
            with self.subTest(spec=spec):
                self.bad(2, ["--spec", word], "transpose", self.input, self.path("no.npy"), "--spec", spec)
                self.assertFalse(os.path.exists(self.path("no.npy")))

    def test_options(self):
        array = self.save(fill((40, 50, 60), "<f8"))
        self.transpose(array, (2, 0, 1), "--backend", "cpu", "--threads", "2")
        self.transpose(array, (2, 0, 1), "--backend=auto", "--measure")
        self.good("transpose", "--force", "--axes", "-1,0,1", self.input, self.output)
        self.check_output(array, (2, 0, 1))

    def test_closing_line(self):
        self.save(fill((40, 50, 60), "<f8"))
        result = self.good("transpose", self.input, self.output, "--axes", "2,0,1", "--threads", "1")
        self.assertEqual(result.stdout, "")
        self.assertRegex(result.stderr.splitlines()[-1],
                         r"^cutt: \(40, 50, 60\) -> \(60, 40, 50\) of <f8: (Copy|TiledCopy|Tiled|Packed|PackedSplit) "
                         r"\(.+, 1 thread\), [0-9.e+]+ (us|ms|s), [0-9.e+]+ GB/s, [0-9]+% of copy speed")
        result = self.good("transpose", self.input, self.output, "--force", "--quiet")
        self.assertEqual(result.stderr, "")

    def test_trailing_bytes_are_ignored(self):
        array = fill((3, 4), "<i4")
        write(self.input, file_bytes(array) + b"more")  # np.load ignores them as well
        self.transpose(array)

    def test_odd_headers_that_numpy_reads(self):
        data = np.arange(6, dtype="<i4")
        for header in ["{'shape': (2, 3), 'descr': '<i4', 'fortran_order': False}",
                       '{"descr":"<i4","fortran_order":False,"shape":(2,3,),}',
                       "  { 'fortran_order' :\tFalse ,\n 'shape':( 2 , 3 ) , 'descr':'<i4' , } \n\n",
                       "{'descr': '<i4', 'fortran_order': False, 'shape': (2L, 3L), }\n"]:
            with self.subTest(header=header):
                write(self.input, raw_npy(header, data.tobytes()))
                self.transpose(data.reshape(2, 3))

    def test_wisdom(self):
        array = self.save(fill((40, 50, 60), "<f4"))
        wisdom = self.path("wisdom")
        self.transpose(array, (2, 0, 1), "--wisdom", wisdom)
        self.assertTrue(os.path.exists(wisdom))
        self.transpose(array, (2, 0, 1), "--wisdom", wisdom, "--measure")
        self.assertGreater(os.path.getsize(wisdom), 0)
        measured = read(wisdom)
        result = self.transpose(array, (2, 0, 1), "--wisdom", wisdom)
        self.assertEqual(len(result.stderr.splitlines()), 1, result.stderr)
        self.assertEqual(read(wisdom), measured)
        write(wisdom, measured + b"\x00nonsense\nmore of it\n")
        result = self.transpose(array, (2, 0, 1), "--wisdom", wisdom)
        self.assertIn("wisdom", result.stderr)
        self.transpose(array, (2, 0, 1), "--wisdom", wisdom, "--quiet")
        self.bad(1, "wisdom", "transpose", self.input, self.path("no.npy"), "--wisdom", self.folder)
        self.bad(1, "wisdom", "transpose", self.input, self.path("no.npy"), "--wisdom", self.path("none/wisdom"))
        self.assertFalse(os.path.exists(self.path("no.npy")))


class WrongUsage(Case):
    def test_axes(self):
        self.save(fill((2, 3, 4), "<f4"))
        for axes, words in [("0,1", ["2 axes", "3"]), ("0,1,2,3", ["4 axes", "3"]), ("0,0,1", ["axis 0 twice"]),
                            ("0,1,-3", ["axis 0 twice"]), ("0,1,3", ["axis 3"]), ("0,1,-4", ["axis -4"]),
                            ("0,a,2", ["'a'"]), ("0,,2", ["''"]), ("0,1,2,", ["''"]), ("2 0 1", ["'2 0 1'"]),
                            ("", ["0 axes"]), ("0,1,99999999999999999999", ["99999999999999999999"]),
                            (",".join("0" * 65), ["64"])]:
            with self.subTest(axes=axes):
                self.bad(2, ["--axes", *words], "transpose", self.input, self.output, "--axes", axes)
                self.assertFalse(os.path.exists(self.output))

    def test_arguments(self):
        self.save(fill((2, 3), "<f4"))
        for words, arguments in [
                (["two"], ["transpose"]), (["two"], ["transpose", self.input]),
                (["two"], ["transpose", self.input, self.output, "x"]),
                (["--axes", "--spec"], ["transpose", self.input, self.output, "--axes", "0,1", "--spec", "ab->ba"]),
                (["--threads", "'0'"], ["transpose", self.input, self.output, "--threads", "0"]),
                (["--threads", "'two'"], ["transpose", self.input, self.output, "--threads", "two"]),
                (["--backend", "'gpu'", "auto", "cpu", "cuda"], ["transpose", self.input, self.output, "--backend", "gpu"]),
                (["'--axis'", "'--axes'"], ["transpose", self.input, self.output, "--axis", "0,1"]),
                (["'--colour'", "--axes", "--spec"], ["transpose", self.input, self.output, "--colour"]),
                (["'--axes'", "value"], ["transpose", self.input, self.output, "--axes"]),
                (["'--force'", "no value"], ["transpose", self.input, self.output, "--force=yes"]),
                (["'-x'"], ["transpose", self.input, self.output, "-x"]),
                (["transpose", "plan", "bench", "devices"], []),
                (["'transpos'", "'transpose'"], ["transpos"]), (["'xyzzy'", "transpose"], ["xyzzy"]),
                (["'--hepl'", "'--help'"], ["--hepl"]), (["--shape"], ["plan"]),
                (["--dtype"], ["plan", "--shape", "2,3"]),
                (["--dtype", "'f3'", "f4"], ["plan", "--shape", "2,3", "--dtype", "f3"]),
                (["--shape", "'-1'"], ["plan", "--shape", "2,-1", "--dtype", "f4"]),
                (["--axes", "axis 2"], ["plan", "--shape", "2,3", "--dtype", "f4", "--axes", "0,2"]),
                (["'x'"], ["plan", "--shape", "2,3", "--dtype", "f4", "x"]),
                (["extents"], ["plan", "--shape", "9223372036854775807,3", "--dtype", "f4"]),
                (["'x'"], ["devices", "x"]), (["'--jsn'", "'--json'"], ["devices", "--jsn"])]:
            with self.subTest(arguments=arguments):
                self.bad(2, ["--help", *words], *arguments)
        self.assertFalse(os.path.exists(self.output))

    def test_help_and_version(self):
        overall = self.good("--help").stdout
        for command in ["transpose", "plan", "bench", "devices"]:
            self.assertIn(command, overall)
            text = self.good(command, "--help").stdout
            self.assertIn("Usage: cutt " + command, text)
            self.assertEqual(self.good("help", command).stdout, text)
            self.assertLessEqual(max(map(len, text.splitlines())), 120)
        self.assertRegex(self.good("--version").stdout, r"^cutt \d+\.\d+\.\d+ ")

    def test_options_of_the_help(self):
        """Each is taken with what the help gives it, and is in the manual."""
        manual = read(os.path.join(os.path.dirname(__file__), "../../man/cutt.1")).decode("ascii")
        for command in ["transpose", "contract", "plan", "bench", "bench contract", "calibrate", "devices"]:
            command = command.split()
            text = self.good(*command, "--help").stdout
            listed = re.findall(r"^ +(?:-[a-z], )?--([a-z-]+)( [A-Z]\S*)?  ", text, re.MULTILINE)
            self.assertIn("help", [name for name, _ in listed])
            for name, value in listed:
                with self.subTest(command=command, option=name):
                    self.assertIn("\\-" + name, manual)
                    if value:
                        self.bad(2, ["'--%s' needs a value" % name], *command, "--" + name)
                    else:
                        self.bad(2, ["'--%s' takes no value" % name], *command, "--%s=yes" % name)

    def test_output_that_cannot_be_written(self):
        with open("/dev/full", "w", encoding="ascii") as full:
            result = cutt("--help", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertIn("No space left", result.stderr)


class BadInput(Case):
    def fails(self, words):
        self.bad(1, ["in.npy", *([words] if isinstance(words, str) else words)], "transpose", self.input, self.output)
        self.assertFalse(os.path.exists(self.output))

    def test_missing_and_not_a_file(self):
        self.fails("No such file")
        os.mkdir(self.input)
        self.fails("folder")
        os.rmdir(self.input)
        os.mkfifo(self.input)
        self.fails("not a regular file")
        os.unlink(self.input)
        os.symlink("nowhere", self.input)
        self.fails("No such file")

    def test_not_npy(self):
        write(self.input, b"")
        self.fails("empty")
        for content in [b"x", b"\x93NUMP", b"hello, world, this is text", bytes(1000)]:
            with self.subTest(content=content):
                write(self.input, content)
                self.fails("not an .npy file")
        np.savez(self.path("in"), a=np.arange(3))
        os.rename(self.path("in.npz"), self.input)
        self.fails("archive")

    def test_versions(self):
        for version in [(0, 0), (1, 1), (4, 0), (255, 255)]:
            with self.subTest(version=version):
                write(self.input, raw_npy("{'descr': '<i4', 'fortran_order': False, 'shape': (), }", b"1234", version))
                self.fails("%d.%d" % version)

    def test_truncated_anywhere(self):
        content = file_bytes(fill((3, 4), "<f8"))
        self.assertEqual(len(content), 128 + 96)
        for length in [7, 8, 9, 10, 11, 60, 127, 128, 129, 200, 223]:
            with self.subTest(length=length):
                write(self.input, content[:length])
                self.fails("truncated")
        write(self.input, content[:200])
        self.fails(["96 bytes", "72 bytes"])

    def test_dtypes(self):
        np.save(self.input, np.array([1, "x", None], dtype=object), allow_pickle=True)
        self.fails(["object", "'|O'"])
        for dtype, words in [("<c32", ["32", "16"]), ("|S3", ["3 bytes"]), ("<U3", ["12 bytes"]), ("|V32", ["32"]),
                             ("<f12", ["12 bytes"]), ("<i16", ["16 bytes"]), ("<f1", ["1 bytes"]), ("<c4", ["4 bytes"]),
                             ("", ["''"]), ("<", ["'<'"]), ("f", ["'f'"]), ("<f0", ["'<f0'"]), ("<f08", ["'<f08'"]),
                             ("<x4", ["'<x4'"]), ("<f4x", ["'<f4x'"]), ("<M8[", ["'<M8['"]), ("<M8[]", ["'<M8[]'"]),
                             ("<M4", ["4 bytes"]), ("<f4,<i4", ["'<f4,<i4'"]), ("<f99999999999999999999", ["'<f999"]),
                             ("<" + "f" * 100, ["63"])]:
            with self.subTest(dtype=dtype):
                write(self.input, raw_npy("{'descr': %r, 'fortran_order': False, 'shape': (2,), }" % dtype, bytes(64)))
                self.fails(words)
        np.save(self.input, np.zeros(3, dtype=[("a", "<f4"), ("b", "<i4")]))
        self.fails("structured")

    def test_malformed_headers(self):
        ok = "'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)"
        for header, words in [
                ("", "'{'"), ("    ", "'{'"), ("{", "quotes"), ("{}", "descr"), ("[]", "'{'"), ("{" + ok, "'}'"),
                (ok + "}", "'{'"), ("{" + ok + "} x", "'x'"), ("{" + ok + ",,}", "quotes"), ("{" + ok + "}}", "'}'"),
                ("{'descr': '<i4', 'shape': (2, 3)}", "fortran_order"), ("{'descr': '<i4'}", "fortran_order"),
                ("{" + ok + ", 'shape': (2, 3)}", "twice"), ("{" + ok + ", 'extra': 1}", "'extra'"),
                ("{" + ok.replace("False", "0") + "}", "True or False"),
                ("{" + ok.replace("False", "false") + "}", "True or False"),
                ("{" + ok.replace("False", "Falsehood") + "}", "'}'"),
                ("{" + ok.replace("(2, 3)", "[2, 3]") + "}", "'('"), ("{" + ok.replace("(2, 3)", "6") + "}", "'('"),
                ("{" + ok.replace("(2, 3)", "(6)") + "}", "','"), ("{" + ok.replace("(2, 3)", "(2, -3)") + "}", "'-3"),
                ("{" + ok.replace("(2, 3)", "(2, 3.0)") + "}", "')'"),
                ("{" + ok.replace("(2, 3)", "(2, 03)") + "}", "leading zero"),
                ("{" + ok.replace("(2, 3)", "(2 3)") + "}", "','"), ("{" + ok.replace("(2, 3)", "(2,, 3)") + "}", "', 3)"),
                ("{" + ok.replace("(2, 3)", "(,)") + "}", "',)"), ("{" + ok.replace("(2, 3)", "(2, 3") + "}", "')'"),
                ("{" + ok.replace("(2, 3)", "(2, 0x3)") + "}", "')'"),
                ("{" + ok.replace("(2, 3)", "(2, 3)*2") + "}", "'*2"),
                ("{" + ok.replace("'<i4'", "'<i4") + "}", "'<i4, '"),
                ("{" + ok.replace("'<i4'", "'<i\\x34'") + "}", "0x5c"),
                ("{" + ok.replace("'<i4'", "b'<i4'") + "}", "quotes"), ("{" + ok.replace("'<i4'", "4") + "}", "quotes"),
                ("{" + ok.replace("'<i4'", "'<i4\xff'") + "}", "0xff"),
                ("{" + ok.replace("'<i4'", "'<i4\x00'") + "}", "0x00"),
                ("{" + ok.replace("descr", "d" * 40) + "}", "31"), ("__import__('os').system('true')", "'{'")]:
            with self.subTest(header=header):
                write(self.input, raw_npy(header, bytes(24)))
                self.fails(words)

    def test_gigantic(self):
        ok = "{'descr': '<i4', 'fortran_order': False, 'shape': (2, 3)}"
        for version in [(2, 0), (3, 0)]:
            write(self.input, raw_npy(ok, bytes(100), version, 0xFFFFFFFF))
            self.fails(["4294967295", "1048576"])
            write(self.input, raw_npy(ok + " " * (2 << 20), bytes(24), version))
            self.fails("1048576")
            write(self.input, raw_npy(ok + " " * (1 << 19), bytes(24), version))
            self.good("transpose", self.input, self.output, "--force")
            os.unlink(self.output)
        for shape, word in [((1 << 40, 1 << 40), "2^63-1"), ((9223372036854775807,), "2^63-1"),
                            ((9223372036854775808,), "2^63-1"), ((10**30,), "2^63-1"), ((0, 1 << 40, 1 << 40), "2^63-1"),
                            (((1 << 61) - 1,), "more than a file"), ((1 << 40, 1 << 20), "truncated")]:
            with self.subTest(shape=shape):
                write(self.input, raw_npy("{'descr': '<i4', 'fortran_order': False, 'shape': %r}" % (shape,), bytes(64)))
                self.fails(word)


class Output(Case):
    def setUp(self):
        super().setUp()
        self.array = self.save(fill((20, 30, 40), "<f4"))

    def test_existing_is_kept_without_force(self):
        write(self.output, b"precious")
        self.bad(1, ["out.npy", "exists", "--force"], "transpose", self.input, self.output)
        self.assertEqual(read(self.output), b"precious")
        self.transpose(self.array)

    def test_bad_input_leaves_output(self):
        write(self.output, b"precious")
        write(self.input, read(self.input)[:-1])
        self.bad(1, "truncated", "transpose", self.input, self.output, "--force")
        self.assertEqual(read(self.output), b"precious")

    def test_output_is_input(self):
        for other in ["in.npy", "hard.npy", "soft.npy"]:
            with self.subTest(other=other):
                self.save(self.array)
                if other == "hard.npy":
                    os.link(self.input, self.path(other))
                if other == "soft.npy":
                    os.symlink("in.npy", self.path(other))
                before = read(self.input)
                self.bad(1, [other, "input itself", "--force"], "transpose", self.input, self.path(other))
                self.assertEqual(read(self.input), before)
                self.good("transpose", self.input, self.path(other), "--force")
                expected = np.ascontiguousarray(self.array.transpose())
                self.assertEqual(read(self.path(other)), file_bytes(expected))
                if other == "soft.npy":  # the link stays, and what it points to is replaced
                    self.assertTrue(os.path.islink(self.path(other)))
                    self.assertEqual(read(self.input), file_bytes(expected))

    def test_symbolic_links(self):
        os.symlink("target.npy", self.output)
        self.bad(1, ["out.npy", "symbolic link"], "transpose", self.input, self.output)
        self.bad(1, ["out.npy", "symbolic link"], "transpose", self.input, self.output, "--force")
        write(self.path("target.npy"), b"old")
        self.bad(1, ["out.npy", "exists"], "transpose", self.input, self.output)
        self.transpose(self.array)
        self.assertTrue(os.path.islink(self.output))
        self.assertFalse(os.path.islink(self.path("target.npy")))

    def test_places_that_cannot_be_written(self):
        os.mkdir(self.path("folder"))
        write(self.path("file"), b"")
        os.mkfifo(self.path("fifo"))
        for place, words in [("folder", "folder"), ("folder/", "folder"), ("none/out.npy", "No such file"),
                             ("file/out.npy", "Not a directory"), ("new/", "folder"), ("fifo", "regular file"),
                             ("/dev/null", "regular file"), ("/proc/out.npy", "/proc"), ("x" * 256, "name too long")]:
            for force in [[], ["--force"]]:
                with self.subTest(place=place, force=force):
                    path = place if place.startswith("/") else self.path(place)
                    self.bad(1, [place, words], "transpose", self.input, path, *force)
        self.bad(1, "empty", "transpose", self.input, "")
        self.assertEqual(sorted(os.listdir(self.folder)), ["fifo", "file", "folder", "in.npy"])
        self.assertEqual(os.listdir(self.path("folder")), [])

    @unittest.skipIf(os.geteuid() == 0, "root may write to read-only folders")
    def test_read_only_folder(self):
        os.mkdir(self.path("locked"), 0o555)
        self.bad(1, ["locked", "Permission denied"], "transpose", self.input, self.path("locked/out.npy"))

    def test_longest_name_and_no_folder(self):
        self.output = self.path("x" * 251 + ".npy")
        self.transpose(self.array)
        self.good("transpose", "in.npy", "plain.npy", cwd=self.folder)
        self.assertEqual(read(self.path("plain.npy")), read(self.output))

    def test_permissions_follow_umask(self):
        for mask in [0o022, 0o077, 0o002]:
            with self.subTest(mask=mask):
                self.good("transpose", self.input, self.output, preexec_fn=lambda m=mask: os.umask(m))
                self.assertEqual(stat.S_IMODE(os.stat(self.output).st_mode), 0o666 & ~mask)
                os.unlink(self.output)

    def test_permissions_of_the_replaced(self):
        for environment in self.environments():
            for mode in [0o600, 0o640, 0o666, 0o444]:
                with self.subTest(mode=mode, environment=environment):
                    write(self.output, b"old")
                    os.chmod(self.output, mode)
                    self.good("transpose", self.input, self.output, "--force", env=environment)
                    self.check_output(self.array)
                    self.assertEqual(stat.S_IMODE(os.stat(self.output).st_mode), mode)
                    os.unlink(self.output)

    def test_access_list_of_the_replaced(self):
        entries = [(1, 6, 0xFFFFFFFF), (2, 4, 12345), (4, 0, 0xFFFFFFFF), (0x10, 4, 0xFFFFFFFF), (0x20, 0, 0xFFFFFFFF)]
        value = struct.pack("<I", 2) + b"".join(struct.pack("<HHI", *entry) for entry in entries)
        name = "system.posix_acl_access"
        for environment in self.environments():
            write(self.output, b"old")
            try:
                os.setxattr(self.output, name, value)
            except OSError as error:
                self.skipTest(f"the file system has no access lists: {error}")
            mode = os.stat(self.output).st_mode
            self.good("transpose", self.input, self.output, "--force", env=environment)
            self.check_output(self.array)
            self.assertEqual(os.getxattr(self.output, name), value)
            self.assertEqual(os.stat(self.output).st_mode, mode)

    @unittest.skipUnless(os.geteuid() == 0, "only root can give files to others")
    def test_owner_of_the_replaced(self):
        for environment in self.environments():
            with self.subTest(environment=environment):
                write(self.output, b"old")
                os.chmod(self.output, 0o600)
                try:
                    os.chown(self.output, 12345, 23456)
                except PermissionError:
                    self.skipTest("this root can't give files to others")
                self.good("transpose", self.input, self.output, "--force", env=environment)
                self.check_output(self.array)
                status = os.stat(self.output)
                self.assertEqual((status.st_uid, status.st_gid, stat.S_IMODE(status.st_mode)), (12345, 23456, 0o600))

    @unittest.skipUnless(os.geteuid() == 0, "only root can become somebody else")
    def test_owner_that_cannot_be_kept(self):
        """Somebody else's file in a folder where everybody may write."""
        def become():
            os.setgid(12345)
            os.setuid(12345)

        os.chmod(self.folder, 0o777)
        os.chmod(self.input, 0o644)
        write(self.output, b"precious")
        os.chmod(self.output, 0o666)
        for probe in [[PROGRAM, "--version"], ["test", "-w", self.output]]:
            if subprocess.run(probe, preexec_fn=become, check=False, capture_output=True).returncode:
                self.skipTest("others can't run the program here, or not reach the folder")
        for environment in self.environments():
            self.bad(1, ["out.npy", "user 0", "group 0"], "transpose", self.input, self.output, "--force",
                     preexec_fn=become, env=environment)
            self.assertEqual(read(self.output), b"precious")

    def test_file_that_cannot_change(self):
        write(self.output, b"precious")
        try:
            done = subprocess.run(["chattr", "+i", self.output], capture_output=True, check=False).returncode == 0
        except FileNotFoundError:
            done = False
        if not done:
            self.skipTest("files can't be made immutable here")
        try:
            self.bad(1, ["out.npy", "not permitted"], "transpose", self.input, self.output, "--force")
        finally:
            subprocess.run(["chattr", "-i", self.output], check=True)
        self.assertEqual(read(self.output), b"precious")

    def test_file_size_limit(self):
        write(self.output, b"precious")

        def limit():
            resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536))

        self.bad(1, ["out.npy", "room", "96128", "File too large"], "transpose", self.input, self.output, "--force",
                 preexec_fn=limit)
        self.assertEqual(read(self.output), b"precious")

    def test_full_disk(self):
        np.save(self.input, np.zeros((1024, 1024), "<f4"))
        mount = self.path("small")
        os.mkdir(mount)
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        script = ('mount -t tmpfs -o size=1m none "$1" || exit 77; echo precious > "$1/out.npy"; '
                  '"$2" transpose "$3" "$1/out.npy" --force; echo "code $?"; cat "$1/out.npy"; ls -A "$1"')
        try:
            result = subprocess.run([*enter, "sh", "-c", script, "sh", mount, PROGRAM, self.input],
                                    capture_output=True, text=True, timeout=TIMEOUT)
        except FileNotFoundError:
            self.skipTest("there is no unshare program to make a small disk with")
        if result.returncode == 77 or "code" not in result.stdout:
            self.skipTest("a small disk can't be mounted here: " + result.stderr.strip())
        self.assertEqual(result.stdout.split(), ["code", "1", "precious", "out.npy"], result.stderr)
        self.assertRegex(result.stderr, r"\Acutt: .*room.*No space left.*\n\Z")

    def test_address_space_limit(self):
        np.save(self.input, np.zeros(1 << 26, "|u1"))

        def limit():
            resource.setrlimit(resource.RLIMIT_AS, (1 << 26, 1 << 26))

        probe = cutt("--version", preexec_fn=limit)
        if probe.returncode != 0:
            self.skipTest("the program does not start within 64 MiB of address space (a sanitizer's, perhaps)")
        self.bad(1, "mapped", "transpose", self.input, self.output, preexec_fn=limit)


class Interrupted(Case):
    """What happens to the program's files when it, or they, are struck down in the middle."""

    environment = None  # of the program

    def setUp(self):
        super().setUp()
        self.shape = (4096, 8192)  # 128 MiB
        with open(self.input, "wb") as file:
            np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": self.shape})
            file.truncate(file.tell() + 4 * self.shape[0] * self.shape[1])

    def nameless(self):
        """Has the file system files without a name?"""
        try:
            os.close(os.open(self.folder, os.O_TMPFILE | os.O_WRONLY))
        except OSError:
            return False
        return os.path.exists("/proc/self/fd")

    def writing(self, process):
        """Has the program its new file, and not yet given it its name?"""
        try:
            links = [os.readlink(entry.path) for entry in os.scandir(f"/proc/{process.pid}/fd")]
        except OSError:
            return False
        return any(link.startswith((f"{self.folder}/#", f"{self.folder}/.")) for link in links)

    def stopped(self, *arguments, delay=0.0):
        """A run of the program that is stopped (SIGSTOP) while it works on its new file."""
        before = read(self.output) if os.path.exists(self.output) else None
        mode = stat.S_IMODE(os.stat(self.output).st_mode) if before is not None else None
        for _ in range(20):
            process = subprocess.Popen([PROGRAM, "transpose", self.input, self.output, *arguments], text=True,
                                       stderr=subprocess.PIPE, env=self.environment)
            self.addCleanup(process.stderr.close)
            while not self.writing(process) and process.poll() is None:
                time.sleep(0.0005)
            time.sleep(delay)
            if process.poll() is None:
                process.send_signal(signal.SIGSTOP)
                time.sleep(0.01)
                if self.writing(process):
                    return process
                process.send_signal(signal.SIGCONT)
            process.communicate(timeout=TIMEOUT)
            if os.path.exists(self.output):
                os.unlink(self.output)
            if before is not None:
                write(self.output, before)
                os.chmod(self.output, mode)
        self.skipTest("the program was done each time before it could be stopped")
        return None

    def finish(self, process, *signals):
        for number in signals:
            process.send_signal(number)
        _, text = process.communicate(timeout=TIMEOUT)
        return process.returncode, text

    def test_killed(self):
        code, _ = self.finish(self.stopped(), signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertFalse(os.path.exists(self.output))
        leaves = self.environment is not None or not self.nameless()
        self.assertEqual(len(self.temporaries()), 1 if leaves else 0)
        for name in self.temporaries():
            os.unlink(self.path(name))
        write(self.output, b"precious")
        code, _ = self.finish(self.stopped("--force"), signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(len(self.temporaries()), 1 if leaves else 0)

    def test_ended_politely(self):
        """By any signal that can be caught and would end the program."""
        resource.setrlimit(resource.RLIMIT_CORE, (0, resource.getrlimit(resource.RLIMIT_CORE)[1]))
        for name in ["TERM", "INT", "HUP", "QUIT", "USR1", "USR2", "ALRM", "VTALRM", "PROF", "IO", "PWR", "XCPU", "SYS",
                     "TRAP", "ABRT", "RTMIN", "RTMAX"]:
            for delay in [0.0, 0.02]:
                with self.subTest(name=name, delay=delay):
                    number = getattr(signal, f"SIG{name}")
                    code, _ = self.finish(self.stopped(delay=delay), number, signal.SIGCONT)
                    self.assertEqual(code, -number)
                    self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_ignored_signal_stays_ignored(self):
        process = subprocess.Popen([PROGRAM, "transpose", self.input, self.output, "--quiet"], stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN), text=True,
                                   env=self.environment)
        while not self.writing(process) and process.poll() is None:
            time.sleep(0.0005)
        code, text = self.finish(process, signal.SIGHUP)
        self.assertEqual((code, text), (0, ""))
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])

    def test_input_shrinks(self):
        size = os.path.getsize(self.input)
        for delay in [0.0, 0.03, 0.06]:
            for left in [0, 4096, size - 1]:
                with self.subTest(delay=delay, left=left):
                    os.truncate(self.input, 0)
                    write(self.input, read_header((4096, 8192)))
                    os.truncate(self.input, size)
                    process = self.stopped(delay=delay)
                    os.truncate(self.input, left)
                    code, text = self.finish(process, signal.SIGCONT)
                    self.assertEqual(code, 1, text)
                    self.assertRegex(text, r"\Acutt: .*in\.npy.*(shorter|changed).*\n\Z")
                    self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_output_appears_meanwhile(self):
        process = self.stopped()
        write(self.output, b"precious")
        code, text = self.finish(process, signal.SIGCONT)
        self.assertEqual(code, 1, text)
        self.assertIn("meanwhile", text)
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(self.temporaries(), [])

    def test_output_appears_and_is_replaced(self):
        """With --force, and keeps its mode, though it was not there at the start."""
        process = self.stopped("--force")
        write(self.output, b"old")
        os.chmod(self.output, 0o640)
        code, text = self.finish(process, signal.SIGCONT)
        self.assertEqual(code, 0, text)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])
        self.assertEqual(np.load(self.output, mmap_mode="r").shape, self.shape[::-1])
        self.assertEqual(stat.S_IMODE(os.stat(self.output).st_mode), 0o640)

    def test_nobody_else_reads_it(self):
        """What takes the place of a file of mode 0600 is never open to others, from the beginning."""
        write(self.output, b"old")
        os.chmod(self.output, 0o600)
        process = self.stopped("--force")
        modes = {stat.S_IMODE(os.stat(entry.path).st_mode) for entry in os.scandir(f"/proc/{process.pid}/fd")
                 if os.readlink(entry.path).startswith((f"{self.folder}/#", f"{self.folder}/."))}
        self.finish(process, signal.SIGKILL)
        self.assertEqual(modes, {0o600})


@unittest.skipUnless(NAMED, "CUTT_TEST_NAMED names no library to preload")
class InterruptedNamed(Interrupted):
    """The same where the new file has a name from the beginning."""

    environment = dict(os.environ, LD_PRELOAD=NAMED)


def read_header(shape):
    file = io.BytesIO()
    np.lib.format.write_array_header_1_0(file, {"descr": "<f4", "fortran_order": False, "shape": shape})
    return file.getvalue()


class Terminal(Case):
    def on_terminal(self, *arguments):
        """Exit code, and what the program wrote to a stderr that is a terminal."""
        controller, terminal = pty.openpty()
        process = subprocess.Popen([PROGRAM, *arguments], stderr=terminal, env=dict(os.environ, TERM="xterm"))
        os.close(terminal)
        text = b""
        try:
            while True:
                piece = os.read(controller, 65536)
                if not piece:
                    break
                text += piece
        except OSError:  # how Linux says that the other end is closed
            pass
        os.close(controller)
        return process.wait(timeout=TIMEOUT), text.decode()

    def test_no_bar_for_short_work(self):
        array = self.save(fill((20, 30, 40), "<f4"))
        code, text = self.on_terminal("transpose", self.input, self.output)
        self.assertEqual(code, 0, text)
        self.check_output(array)
        self.assertNotIn("[", text)
        self.assertEqual(text.count("\n"), 1)

    @unittest.skipUnless(os.environ.get("CUTT_LONG_TESTS"), "needs gigabytes of memory and disk; set CUTT_LONG_TESTS=1")
    def test_in_pieces(self):
        """Large enough to be cut into pieces for the bar, in ways that leave a rest and that walk several modes."""
        bars = 0
        for shape, axes in [((3, 20011, 18013), (0, 2, 1)), ((7, 5, 3, 1021, 10067), (1, 0, 2, 4, 3)),
                            ((1 << 30) + 77, None), ((1031, 3, 349913), (2, 1, 0))]:
            with self.subTest(shape=shape, axes=axes):
                array = self.save(fill(shape, "|u1"))
                axes_option = [] if axes is None else ["--axes", ",".join(map(str, axes))]
                code, text = self.on_terminal("transpose", self.input, self.output, "--force", *axes_option)
                self.assertEqual(code, 0, text)
                self.check_output(array, axes)
                bars += text.count("%] ") + text.count("% permuting") + text.count("% writing")
        self.assertGreater(bars, 0)


class Plan(Case):
    def test_text(self):
        text = self.good("plan", "--shape", "5,3,2,4", "--axes", "3,2,1,0", "--dtype", "f8").stdout
        self.assertIn("(5, 3, 2, 4)", text)
        self.assertIn("(4, 2, 3, 5)", text)
        self.assertIn("NumPy", text)

    def test_json(self):
        for dtype in ["b1", "i1", "u1", "i2", "u2", "f2", "i4", "u4", "f4", "i8", "u8", "f8", "f16", "c8", "c16",
                      "bytes1", "bytes2", "bytes4", "bytes8", "bytes16"]:
            with self.subTest(dtype=dtype):
                plan = json.loads(self.good("plan", "--shape", "50,30,20,4", "--axes", "3,-2,1,0", "--dtype", dtype,
                                            "--threads", "1", "--json").stdout)
                self.assertEqual(plan["numpy"], {"shape": [50, 30, 20, 4], "axes": [3, 2, 1, 0], "dtype": dtype})

    def test_default_axes_and_odd_shapes(self):
        for shape, axes in [("", []), ("7", [0]), ("3,0,2", [2, 1, 0]), ("1,1", [1, 0]), (",".join("2" * 20), None)]:
            with self.subTest(shape=shape):
                plan = json.loads(self.good("plan", "--shape", shape, "--dtype", "f4", "--json").stdout)
                if axes is not None:
                    self.assertEqual(plan["numpy"]["axes"], axes)
                self.good("plan", "--shape", shape, "--dtype", "f4")

    def test_measure_and_wisdom(self):
        wisdom = self.path("wisdom")
        arguments = ["plan", "--shape", "200,100,30", "--axes", "2,0,1", "--dtype", "f4", "--wisdom", wisdom]
        self.good(*arguments, "--measure")
        measured = read(wisdom)
        self.assertGreater(len(measured), 0)
        self.good(*arguments, "--json")
        self.assertEqual(read(wisdom), measured)


class Devices(Case):
    def test_devices(self):
        self.assertIn("cpu", self.good("devices").stdout)
        json.loads(self.good("devices", "--json").stdout)

    def test_instruction_sets(self):
        devices = json.loads(self.good("devices", "--json").stdout)
        cpu = next(backend for backend in devices["backends"] if backend["name"] == "cpu")
        self.assertTrue(cpu["usable"])
        array = self.save(fill((50, 60, 70), "<f4"))
        names = [isa["name"] for isa in cpu["device"]["instruction_sets"] if isa["usable"]]
        self.assertIn(cpu["isa"], names)
        for name in names:
            with self.subTest(name=name):
                environment = dict(os.environ, CUTT_CPU_ISA=name)
                result = self.good("transpose", self.input, self.output, "--force", env=environment)
                self.assertIn("(%s, " % name, result.stderr)
                self.check_output(array)
        environment = dict(os.environ, CUTT_CPU_ISA="abacus")
        self.bad(1, "CUTT_CPU_ISA", "transpose", self.input, self.path("no.npy"), env=environment)
        self.assertFalse(os.path.exists(self.path("no.npy")))


class Bench(Case):
    def test_small_run(self):
        result = self.path("result.json")
        self.good("bench", "set1", "--volume", "20000", "--samples", "2", "--threads", "1", "--json", result)
        with open(result, encoding="ascii") as file:
            report = json.load(file)
        self.assertGreater(len(report["results"]), 0)
        for key in ["id", "dims", "perm", "elem_bytes", "threads", "method", "seconds", "gbs", "copy_gbs", "plan_us"]:
            self.assertIn(key, report["results"][0])
        self.assertIn("machine", report)
        self.assertIn("summary", report)

    def test_file(self):
        cases, result = self.path("cases.csv"), self.path("result.json")
        write(cases, b"id,dims,perm\n1,40x50x60,2 0 1\n")
        self.good("bench", cases, "--json", result)
        with open(result, encoding="ascii") as file:
            self.assertEqual(len(json.load(file)["results"]), 1)

    def test_strided_inputs(self):
        """Reversed, broadcast and with gaps; the program checks the results."""
        cases, copy = self.path("cases.csv"), self.path("copy.csv")
        lines = ("id,dims,perm,in_strides\n1,40x50x60,2 0 1,\n2,41x50,1 0,-1 41\n3,30x20,0 1,2 -61\n"
                 "4,30x20,1 0,0 1\n5,30x20x3,0 2 1,1 -40 0\n")
        write(cases, lines.encode())
        for dtype in ["u1", "i2", "f4", "f8", "c16"]:
            self.good("bench", cases, "--dtype", dtype, "--csv", copy, "--force")
        with open(copy, encoding="ascii") as file:
            self.assertEqual(file.read(), lines)
        self.good("bench", cases, "--dtype", "f4", "--beta", "2")
        for line, words in [("1,4x5,0 1", "four columns"), ("1,4x5,0 1,1", "in_strides '1' has 1 entries"),
                            ("1,4x5,0 1,1 x", "in_strides '1 x': a digit"),
                            ("1,4x5,0 1,1 9223372036854775807", "2^63")]:
            write(cases, f"id,dims,perm,in_strides\n{line}\n".encode())
            self.bad(1, words, "bench", cases)

    def test_everyday(self):
        listed = self.good("bench", "everyday", "--list").stdout
        self.assertIn("rot90_hwc,3x1500x1000,0 2 1,1 -3 4500", listed)
        self.bad(2, "--volume", "bench", "everyday", "--volume", "1M")

    def test_layouts(self):
        listed = self.good("bench", "layouts", "--list").stdout
        self.assertIn("abij_iajb,96x96x72x72,2 0 3 1", listed)
        self.assertIn("matrix_16_6m,16x6000000,1 0", listed)
        self.bad(2, "--samples", "bench", "layouts", "--samples", "1")

    def test_errors(self):
        self.bad(2, "set9", "bench", "set9")
        self.bad(2, "--dtype", "bench", "set1", "--dtype", "x")
        self.bad(1, "none.csv", "bench", self.path("none.csv"))


    def test_backends_and_checks(self):
        cases, result = self.path("cases.csv"), self.path("result.json")
        write(cases, b"id,dims,perm\n1,40x50x60,2 0 1\n2,7,0\n")
        self.bad(2, "'gpu'", "bench", cases, "--backend", "gpu")
        self.bad(2, ["--all-candidates", "--json"], "bench", cases, "--all-candidates")
        self.good("bench", cases, "--backend", "cpu", "--full-check", "--all-candidates", "--json", result)
        with open(result, encoding="ascii") as file:
            report = json.load(file)
        self.assertEqual(report["machine"]["backend"], "cpu")
        self.assertEqual(report["summary"]["backend"], "cpu")
        self.assertEqual(report["summary"]["checked"], "all")
        self.assertIn("threads", report["machine"]["device"])
        for row in report["results"]:
            self.assertLessEqual(row["seconds_min"], row["seconds"])
            self.assertGreater(row["copy_seconds"], 0)
            self.assertEqual(row["dtype"], "f8")
            for candidate in [row["candidate"], *row["candidates"]]:
                for key in ["method", "m", "k", "split_m", "split_k", "params", "predicted_seconds"]:
                    self.assertIn(key, candidate)
            self.assertTrue(all(candidate["seconds"] > 0 for candidate in row["candidates"]))
            self.assertEqual(sum(candidate["chosen"] for candidate in row["candidates"]), 1)

    def test_beta_and_types(self):
        """Values are checked by the program: whatever is computed wrongly ends it with 1."""
        cases = self.path("cases.csv")
        write(cases, b"id,dims,perm\n1,40x5x61,2 0 1\n2,3x70001,1 0\n3,200001,0\n")
        for dtype in ["u1", "i2", "f2", "i4", "f4", "i8", "f8", "c8", "c16"]:
            for options in [[], ["--beta", "2"]]:
                if options and dtype in ["u1", "i2"]:
                    continue
                with self.subTest(dtype=dtype, options=options):
                    self.good("bench", cases, "--dtype", dtype, *options)


class NoGpu(Case):
    """--backend cuda where it is forbidden, which is like a machine that has none."""

    def test_refused(self):
        self.save(fill((4, 5), "<f4"))
        cases = self.path("cases.csv")
        write(cases, b"id,dims,perm\n1,40x50,1 0\n")
        for arguments in [["transpose", self.input, self.output], ["plan", "--shape", "4,5", "--dtype", "f4"],
                          ["bench", cases]]:
            with self.subTest(arguments=arguments):
                self.bad(1, ["--backend cuda", "usable"], *arguments, "--backend", "cuda")
        self.assertFalse(os.path.exists(self.output))
        self.save(np.zeros((0, 3), "<f4"))  # nothing to permute is no way around it
        self.bad(1, "--backend cuda", "transpose", self.input, self.output, "--backend", "cuda")

    def test_auto_is_the_processor(self):
        array = self.save(fill((40, 50, 60), "<f4"))
        self.assertIn("thread", self.transpose(array, (2, 0, 1), "--backend", "auto").stderr)
        plan = json.loads(self.good("plan", "--shape", "4,5", "--dtype", "f4", "--backend", "auto", "--json").stdout)
        self.assertEqual(plan["backend"], "cpu")

    def test_devices_say_why(self):
        devices = json.loads(self.good("devices", "--json").stdout)
        cuda = next(backend for backend in devices["backends"] if backend["name"] == "cuda")
        self.assertFalse(cuda["usable"])
        self.assertGreater(len(cuda["why"]), 0)
        self.assertIn("cuda: not usable here", self.good("devices").stdout)

    def test_help_names_the_backends(self):
        for command in ["transpose", "plan", "bench"]:
            self.assertRegex(self.good(command, "--help").stdout, r"--backend NAME +cpu, cuda, or auto")


class Gpu(Case):
    """The same on a GPU, where there is one that this build can use."""

    def setUp(self):
        super().setUp()
        self.addCleanup(os.environ.update, {"CUTT_CUDA": os.environ.pop("CUTT_CUDA")})
        if "CUTT_CUDA" in GPU_ENVIRONMENT:
            os.environ["CUTT_CUDA"] = GPU_ENVIRONMENT["CUTT_CUDA"]
        devices = json.loads(cutt("devices", "--json").stdout)
        cuda = [backend for backend in devices["backends"] if backend["name"] == "cuda"]
        if not cuda or not cuda[0]["usable"]:
            self.skipTest("no GPU that this build can use" + (": " + cuda[0]["why"] if cuda else ""))
        self.isa = cuda[0]["isa"]

    def test_transpose(self):
        for dtype in DTYPES:
            for shape, axes in [((5, 3, 7), None), ((64, 33, 65, 7), (3, 1, 0, 2)), ((6, 5), (0, 1))]:
                with self.subTest(dtype=dtype, shape=shape):
                    array = np.array(fill(shape, dtype), order="CF"[len(shape) % 2])
                    result = self.transpose(self.save(array), axes, "--backend", "cuda")
                    self.assertIn("(%s)" % self.isa, result.stderr)
        array = self.save(fill((40, 50, 60), "<f8"))
        for options in [[], ["--quiet"], ["--measure"], ["--wisdom", self.path("wisdom"), "--measure"],
                        ["--wisdom", self.path("wisdom")]]:
            with self.subTest(options=options):
                self.transpose(array, (2, 0, 1), *options)

    def test_plan(self):
        for backend, name in [("auto", "cuda"), ("cuda", "cuda"), ("cpu", "cpu")]:
            plan = json.loads(self.good("plan", "--shape", "40,50", "--dtype", "f4", "--backend", backend,
                                        "--json").stdout)
            self.assertEqual(plan["backend"], name)

    def test_bench(self):
        result = self.path("result.json")
        for options in [[], ["--full-check"], ["--beta", "2"], ["--measure"], ["--all-candidates"]]:
            with self.subTest(options=options):
                self.good("bench", "set1", "--volume", "8000000", "--samples", "1", "--dtype", "f4", "--json", result,
                          "--force", *options)
                with open(result, encoding="ascii") as file:
                    report = json.load(file)
                self.assertEqual(report["summary"]["backend"], "cuda")
                self.assertEqual(report["summary"]["failed"], 0)
                self.assertIn("name", report["machine"]["device"])


class Result(unittest.TextTestResult):
    """Counts a test with failing subtests as one failure."""

    def counts(self):
        failed = {str(getattr(test, "test_case", test)) for test, _ in self.failures + self.errors}
        return self.testsRun - len(failed) - len(self.skipped), len(failed), len(self.skipped)


def run_tests(prepare=None):
    """The end of every program of tests here: prepare(), its tests, what was skipped and why, and how many did what."""
    if not PROGRAM or not os.access(PROGRAM, os.X_OK):
        sys.exit("CUTT_PROGRAM is '%s'; it must be the path of the program cutt" % PROGRAM)
    if prepare:
        prepare()
    program = unittest.main(module="__main__", exit=False, testRunner=unittest.TextTestRunner(resultclass=Result))
    for test, reason in program.result.skipped:
        print("skipped: %s: %s" % (test, reason))
    print("%d passed, %d failed, %d skipped" % program.result.counts())
    sys.exit(0 if program.result.wasSuccessful() else 1)


def no_calibration():
    os.environ["CUTT_CALIBRATION"] = "0"


def no_leak_checks():
    """Where the program is built with sanitizers: the one for leaks can't stand the BLAS's OpenMP beside clang's, and dies."""
    no_calibration()
    os.environ["ASAN_OPTIONS"] = (os.environ.get("ASAN_OPTIONS", "") + ":detect_leaks=0").lstrip(":")


if __name__ == "__main__":
    run_tests()
