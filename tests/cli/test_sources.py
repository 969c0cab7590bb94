"""Tests of what the program reads and writes besides files: standard input and output, members of archives; and of the
completions of shells.

Run as test_cli.py, with what support.py has.
"""

import io
import os
import random
import shutil
import subprocess
import unittest
import zipfile

import numpy as np

from support import PROGRAM, TIMEOUT, Case, cutt, file_bytes, fill, no_leak_checks, raw_npy, read, run_tests, write

COMPLETION = os.path.join(os.path.dirname(os.path.abspath(__file__)), "../../cli/completion")


def run(*arguments, data=None, **options):
    """The program with bytes on stdin and stdout."""
    if data is not None:
        options["input"] = data
    return subprocess.run([PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, timeout=TIMEOUT,
                          check=False, **options)


class Streams(Case):
    def test_pipes(self):
        for array in [fill((5, 3, 7), "<f4"), np.array(fill((60, 70), ">i8"), order="F"), fill((), "<f8"),
                      np.zeros((0, 3)), fill((300, 256, 3), "|u1")]:
            for options in [[], ["--memory", "2000"], ["--memory", "100k"]]:
                with self.subTest(shape=array.shape, options=options):
                    data = file_bytes(array)
                    # What follows the array is left alone, as np.load does.
                    result = run("transpose", "-", "-", "--quiet", *options, data=data + b"more")
                    self.assertEqual((result.returncode, result.stderr), (0, b""))
                    self.assertEqual(result.stdout, file_bytes(np.ascontiguousarray(array.T)))
        self.assertEqual(os.listdir(self.folder), [])

    def test_one_side(self):
        array = self.save(fill((20, 30), "<f4"))
        expected = file_bytes(np.ascontiguousarray(array.T))
        self.assertEqual(run("transpose", self.input, "-").stdout, expected)
        with open(self.input, "rb") as file:
            self.assertEqual(run("transpose", "-", "-", stdin=file).stdout, expected)
        with open(self.input, "rb") as file, open(self.output, "wb") as out:
            subprocess.run([PROGRAM, "transpose", "-", "-", "--quiet"], stdin=file, stdout=out, check=True, timeout=TIMEOUT)
        self.assertEqual(read(self.output), expected)
        self.assertEqual(run("transpose", "-", self.output, "--force", data=read(self.input)).returncode, 0)
        self.check_output(array)
        # A file from where it stands.
        write(self.input, b"before" + file_bytes(array))
        with open(self.input, "rb") as file:
            os.lseek(file.fileno(), 6, os.SEEK_SET)
            self.assertEqual(run("transpose", "-", "-", stdin=file).stdout, expected)

    def test_contract(self):
        left, right = fill((4, 5), "<i4").astype("f8"), fill((5, 6), "<i4").astype("f8")
        np.save(self.input, left)
        for memory in [[], ["--memory", "1k"]]:
            result = run("contract", "ab,bc->ac", self.input, "-", "-o", "-", *memory, data=file_bytes(right))
            if b"no BLAS" in result.stderr or b"no library" in result.stderr:
                self.skipTest("no BLAS is on this machine")
            self.assertEqual(result.returncode, 0, result.stderr)
            self.assertTrue(np.allclose(np.load(io.BytesIO(result.stdout)), left @ right))
        self.bad(2, ["'-'", "2 times"], "contract", "ab,bc->ac", "-", "-", "-o", "-")
        self.bad(2, ["'-'", "--json"], "contract", "ab,bc->ac", self.input, "-", "-o", "-", "--json")

    def test_bad_streams(self):
        content = file_bytes(fill((30, 40), "<f8"))
        for data, word in [(b"", "empty"), (content[:7], "truncated"), (content[:60], "truncated"),
                           (content[:128], "truncated"), (content[:-1], "9600 bytes, but 9599 bytes"),
                           (b"x" * 5000, "not an .npy file"), (raw_npy("{}", version=(2, 0), length=1 << 30), "1048576"),
                           (b"PK\x03\x04" + bytes(100), "archive")]:
            with self.subTest(data=data[:20], length=len(data)):
                result = run("transpose", "-", "-", data=data)
                self.assertEqual((result.returncode, result.stdout), (1, b""))
                self.assertRegex(result.stderr.decode("ascii"), r"\Acutt: standard input: [^\n]+\n\Z")
                self.assertIn(word, result.stderr.decode("ascii"))

    def test_output_that_cannot_be_written(self):
        self.save(fill((400, 300), "<f4"))
        with open("/dev/full", "wb") as full:
            result = cutt("transpose", self.input, "-", stdout=full)
        self.assertEqual(result.returncode, 1)
        self.assertRegex(result.stderr, r"\Acutt: standard output: .*No space left.*\n\Z")
        reader, writer = os.pipe()
        os.close(reader)
        with open(writer, "wb") as closed:
            result = cutt("transpose", self.input, "-", stdout=closed)
        self.assertEqual(result.returncode, 1)
        self.assertIn("standard output", result.stderr)

    def test_file_of_that_name(self):
        array = fill((3, 4), "<f4")
        np.save(self.path("x.npy"), array)
        self.good("transpose", "x.npy", "./-", cwd=self.folder)
        self.assertEqual(read(self.path("-")), file_bytes(np.ascontiguousarray(array.T)))
        self.bad(2, ["--svg", "'-'"], "plan", "--shape", "3,4", "--dtype", "f4", "--svg", "-")


class Archives(Case):
    def setUp(self):
        super().setUp()
        self.arrays = {"first": fill((20, 30, 4), "<f4"), "b.c": fill((7, 5), ">i2", 1), "arr_0": fill((40,), "|u1", 2)}
        self.archive = self.path("in.npz")

    def test_members(self):
        for save in [np.savez, np.savez_compressed]:
            save(self.archive, **self.arrays)
            for name, array in self.arrays.items():
                for member in [name, name + ".npy"]:
                    for memory in [[], ["--memory", "1k"]]:
                        with self.subTest(save=save.__name__, member=member, memory=memory):
                            result = cutt("transpose", self.archive + ":" + member, self.output, "--force", *memory)
                            if "no zlib" in result.stderr:
                                self.skipTest("the program was built without zlib")
                            self.assertEqual(result.returncode, 0, result.stderr)
                            self.check_output(array)

    def test_errors(self):
        np.savez(self.archive, **self.arrays)
        self.bad(1, ["in.npz:none", "'none'", "first, b.c, arr_0"], "transpose", self.archive + ":none", self.output)
        self.bad(1, ["FILE.npz:NAME", "first, b.c, arr_0"], "transpose", self.archive, self.output)
        self.bad(1, ["No such file"], "transpose", self.path("none.npz:x"), self.output)
        with zipfile.ZipFile(self.archive, "w", zipfile.ZIP_BZIP2) as file:
            file.writestr("x.npy", file_bytes(self.arrays["first"]))
        self.bad(1, ["deflate"], "transpose", self.archive + ":x", self.output)
        # A file of the whole name comes first.
        whole = self.archive + ":first"
        with open(whole, "wb") as file:
            np.save(file, self.arrays["b.c"])
        self.good("transpose", whole, self.output)
        self.check_output(self.arrays["b.c"])

    def test_large_offsets(self):
        """NumPy writes sizes in 64 bits; a zip of other programs has them in 32."""
        with zipfile.ZipFile(self.archive, "w") as file:
            file.writestr("x.npy", file_bytes(self.arrays["first"]))
            file.comment = b"a comment"
        self.good("transpose", self.archive + ":x", self.output)
        self.check_output(self.arrays["first"])

    def test_damaged(self):
        """Any byte may be wrong and any part may be missing: an answer that is right, or an error."""
        for save in [np.savez, np.savez_compressed]:
            save(self.archive, x=self.arrays["first"], y=self.arrays["b.c"])
            content = read(self.archive)
            choose = random.Random(5)
            for case in range(60):
                damaged = bytearray(content)
                if case % 3 == 0:
                    del damaged[choose.randrange(len(damaged)):]
                else:  # the directory and the end of it are the last 250 bytes
                    for _ in range(1 + case % 4):
                        damaged[-choose.randrange(1, 250)] = choose.choice([0, 1, 127, 128, 255])
                write(self.archive, bytes(damaged))
                result = cutt("transpose", self.archive + ":y", self.output, "--force", "--quiet")
                self.assertIn(result.returncode, [0, 1], result.stderr)
                if result.returncode:
                    self.assertRegex(result.stderr, r"\Acutt: [^\n]+\n\Z")
        damaged = bytearray(content)
        place = content.index(b"x.npy") + 40
        damaged[place:place + 200] = bytes(200)
        write(self.archive, bytes(damaged))
        self.assertEqual(cutt("transpose", self.archive + ":x", self.output, "--force").returncode, 1)


class DataSets(Case):
    def test_types_and_layouts(self):
        """Data sets in one stretch, and in compressed chunks; types that NumPy has, and one that it has not."""
        try:
            import h5py
        except ImportError:
            self.skipTest("there is no h5py to write HDF5 files with")
        path = self.path("in.h5")
        layouts = {"plain": {}, "chunked": {"chunks": True, "compression": "gzip"}}
        with h5py.File(path, "w") as file:
            for dtype in ["|b1", "|i1", "<u2", ">i4", "<f2", "<f4", ">f8", "<c8", ">c16", "|S4"]:
                array = fill((7, 50, 9), "|u1" if dtype == "|S4" else dtype) if dtype != "|S4" else np.full((7, 50, 9), b"abcd")
                for layout, options in layouts.items():
                    file.create_dataset("%s/%s" % (layout, dtype[1:]), data=array, **options)
            large = fill((3, 1200, 1700), "<f4")
            file.create_dataset("large", data=large, chunks=(2, 500, 700))
            file.create_dataset("scalar", data=np.float64(3))
            file.create_dataset("odd", data=np.zeros((2, 3), "S3"))
            file.create_dataset("text", data=["one", "two"])
        with h5py.File(path) as file:
            for name in ["%s/%s" % (layout, dtype) for layout in layouts for dtype in file["plain"]] + ["large", "scalar"]:
                for memory in [[], ["--memory", "20k" if name != "large" else "4M"]]:
                    with self.subTest(name=name, memory=memory):
                        result = cutt("transpose", path + ":/" + name, self.output, "--force", *memory)
                        if "without HDF5" in result.stderr:
                            self.skipTest("the program was built without HDF5")
                        self.assertEqual(result.returncode, 0, result.stderr)
                        self.check_output(file[name][()])
        self.bad(1, ["in.h5:/none", "no data set /none"], "transpose", path + ":/none", self.output, "--force")
        self.bad(1, ["3 bytes"], "transpose", path + ":/odd", self.output, "--force")
        self.bad(1, ["no number"], "transpose", path + ":/text", self.output, "--force")
        write(path, b"nonsense")
        self.bad(1, ["HDF5"], "transpose", path + ":/plain", self.output, "--force")


class Axes(Case):
    def test_spaces(self):
        array = self.save(fill((4, 5, 6), "<f4"))
        for axes in ["2, 0, 1", " 2,0 ,1 ", "-1,  0,1"]:
            self.good("transpose", self.input, self.output, "--force", "--axes", axes)
            self.check_output(array, (2, 0, 1))
        for axes in ["2 0 1", "2,,1", "2, 0, 1,", "2,0,\t1", " ,0,1"]:
            self.bad(2, "--axes", "transpose", self.input, self.path("no.npy"), "--axes", axes)


class Completion(Case):
    def complete(self, *words):
        script = ('source "$0"; cutt() { :; }; COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _cutt; printf "%s\\n" "${COMPREPLY[@]}"')
        result = subprocess.run(["bash", "-c", script, os.path.join(COMPLETION, "cutt.bash"), PROGRAM, *words],
                                capture_output=True, text=True, timeout=TIMEOUT, check=True, cwd=self.folder)
        return result.stdout.split()

    def test_bash(self):
        if not shutil.which("bash"):
            self.skipTest("there is no bash")
        self.assertLessEqual({"transpose", "contract", "plan", "bench", "devices", "calibrate", "help"},
                             set(self.complete("")))
        self.assertEqual(self.complete("tr"), ["transpose"])
        self.assertEqual(self.complete("help", "con"), ["contract"])
        self.assertEqual(self.complete("transpose", "--me"), ["--measure", "--memory"])
        self.assertIn("--beta", self.complete("contract", "--"))
        self.assertEqual(self.complete("plan", "--backend", "c"), ["cpu", "cuda"])
        self.assertIn("--set", self.complete("bench", "contract", "--"))
        self.assertNotIn("--set", self.complete("bench", "set1", "--"))
        self.save(fill((3, 4), "<f4"))
        self.assertEqual(self.complete("transpose", "in"), ["in.npy"])
        self.assertEqual(self.complete("bench", "ever"), ["everyday"])

    def test_other_shells(self):
        done = 0
        for shell, name, command in [("zsh", "_cutt", ["-n"]), ("fish", "cutt.fish", ["--no-execute"])]:
            if shutil.which(shell):
                subprocess.run([shell, *command, os.path.join(COMPLETION, name)], check=True, timeout=TIMEOUT)
                done += 1
        if not done:
            self.skipTest("there is neither zsh nor fish")


if __name__ == "__main__":
    run_tests(no_leak_checks)
