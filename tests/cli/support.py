"""What the tests of the program share: running it, arrays and files, and how the tests are run.

The program is named by the environment variable CUTT_PROGRAM. Needs NumPy and nothing else. Each file of tests is run directly,
with unittest's arguments if any; the last line is "N passed, N failed, N skipped".
"""

import io
import json
import os
import shutil
import struct
import subprocess
import sys
import tempfile
import unittest

import numpy as np

PROGRAM = os.environ.get("CUTT_PROGRAM", "")
# All but the class Gpu is about the processor, also where there is a GPU.
GPU_ENVIRONMENT = {name: value for name, value in os.environ.items() if name != "CUTT_CUDA"}
os.environ["CUTT_CUDA"] = "0"
TIMEOUT = 120  # seconds for any one run of the program
# A library to preload: then the output has a name from the beginning, as on file systems without files that have none.
NAMED = os.environ.get("CUTT_TEST_NAMED", "")
RANGES = os.environ.get("CUTT_TEST_RANGES", "")


def cutt(*arguments, **options):
    """Runs the program; stdout and stderr are text."""
    options.setdefault("stdout", subprocess.PIPE)
    options.setdefault("stderr", subprocess.PIPE)
    return subprocess.run([PROGRAM, *map(str, arguments)], text=True, timeout=TIMEOUT, **options)


def providers():
    """What `cutt devices` knows of libraries on the CPU."""
    told = json.loads(cutt("devices", "--json").stdout)
    return [p for p in told.get("providers", []) if p["backend"] == "cpu"]


def finish(process, *signals):
    """Sends the signals to a program that runs, one after the other; its exit status and stderr."""
    for number in signals:
        process.send_signal(number)
    _, text = process.communicate(timeout=TIMEOUT)
    return process.returncode, text


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


def best_kernels():
    """Has the environment tell BLAS libraries their best kernels, so that the program says nothing of it, whichever library is the
    fastest and so the default; what it tells: the variable and its value, by the library's name."""
    overrides = {p["name"]: tuple(p["environment_override"].split("=", 1)) for p in providers() if p["environment_override"]}
    os.environ.update(overrides.values())
    return overrides
