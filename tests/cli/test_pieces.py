"""Tests of `cutt transpose` and `cutt contract` on arrays larger than the memory that --memory gives them.

Run as test_cli.py, with what support.py has.
"""

import json
import os
import re
import resource
import signal
import subprocess
import time
import unittest

import numpy as np

from support import NAMED, PROGRAM, RANGES, TIMEOUT, Case, best_kernels, cutt, file_bytes, fill, finish, no_leak_checks, read, run_tests, write


def sparse(path, shape, dtype):
    """An .npy file of zeros that takes no room, to be written to through np.load(path, mmap_mode="r+")."""
    with open(path, "wb") as file:
        np.lib.format.write_array_header_1_0(
            file, {"descr": np.dtype(dtype).str, "fortran_order": False, "shape": shape})
        file.truncate(file.tell() + int(np.prod(shape, dtype=np.int64)) * np.dtype(dtype).itemsize)


class Pieces(Case):
    def in_pieces(self, array, axes, memory, *options, **more):
        """Permutes in.npy with so much memory and compares with NumPy; returns what was said."""
        result = self.good("transpose", self.input, self.output, "--force", "--axes", ", ".join(map(str, axes)),
                           "--memory", memory, "-v", *options, **more)
        self.check_output(array, axes)
        return result.stderr


class Transpose(Pieces):
    def test_random(self):
        random = np.random.default_rng(5)
        passes = {"one pass": 0, "two passes": 0}
        for seed in range(120):
            rank = int(random.integers(1, 7))
            shape = tuple(int(n) for n in random.integers(1, [0, 3000, 120, 40, 16, 9, 8][rank], rank))
            axes = tuple(int(n) for n in random.permutation(rank))
            dtype = ["|u1", "<i2", ">f4", "<f8", "<c16"][seed % 5]
            memory = int(2 ** random.uniform(10, 16))
            with self.subTest(shape=shape, axes=axes, dtype=dtype, memory=memory):
                array = self.save(np.array(fill(shape, dtype, seed), order="CF"[seed // 5 % 2]))
                said = self.in_pieces(array, axes, memory, "--threads", 1 + seed % 3)
                for words in passes:
                    passes[words] += words in said
                if 2 * array.nbytes > memory:
                    self.assertIn("pieces", said)
        self.assertGreater(passes["one pass"], 30)
        self.assertGreater(passes["two passes"], 2)

    def test_larger(self):
        for shape, axes, dtype, memory, words in [
                ((300, 200, 100), (1, 0, 2), "<f4", "4M", "one pass"), ((3001, 2003), (1, 0), "|u1", "64k", "two passes"),
                ((60, 70, 80, 9), (3, 1, 0, 2), "<f8", "1.5Mi", "one pass"),
                ((2,) * 20, tuple(range(19, -1, -1)), "<i2", "100k", "two passes"),
                ((1, 500000), (1, 0), "<f8", "300k", "one pass")]:
            with self.subTest(shape=shape, memory=memory):
                array = self.save(fill(shape, dtype))
                self.assertIn(words, self.in_pieces(array, axes, memory))

    def test_what_is_said(self):
        array = self.save(fill((40, 30, 100), "<f8"))
        axes = (1, 0, 2)
        said = self.in_pieces(array, axes, "500k").splitlines()
        self.assertRegex(said[0], r"^cutt: one pass in \d+ pieces of [0-9.]+ kB; 960 kB are read, [0-9.]+ kB at a time, "
                                  r"and 960 kB written, [0-9.]+ kB at a time$")
        self.assertRegex(said[1], r"^cutt: \(40, 30, 100\) -> \(30, 40, 100\) of <f8: \d+ pieces, one pass, [0-9.e+]+ (us|ms|s), "
                                  r"[0-9.e+-]+ GB/s; [0-9.e+]+ (us|ms|s) to disk$")
        self.assertEqual(len(said), 2)
        self.assertEqual(self.in_pieces(array, axes, "500k", "--quiet").count("\n"), 1)
        result = self.good("transpose", self.input, self.output, "--force", "--memory", "500k", "--quiet")
        self.assertEqual(result.stderr, "")
        self.assertNotIn("pieces", self.in_pieces(array, axes, "2M"))
        for value in ["0", "999", "-1", "much", "4X", ""]:
            self.bad(2, ["--memory", "'%s'" % value, "1000", "400M"], "transpose", self.input, self.path("no.npy"),
                     "--memory=" + value)
        self.bad(1, "--backend cuda", "transpose", self.input, self.path("no.npy"), "--memory", "500k", "--backend",
                 "cuda")

    def test_measured_choices(self):
        array = self.save(fill((300, 20, 40), "<f4"))
        wisdom = self.path("wisdom")
        self.in_pieces(array, (2, 1, 0), "200k", "--measure", "--wisdom", wisdom)
        self.assertGreater(os.path.getsize(wisdom), 0)
        self.in_pieces(array, (2, 1, 0), "200k", "--wisdom", wisdom)

    def test_replaces_the_input(self):
        array = self.save(fill((300, 200), "<f4"))
        self.good("transpose", self.input, self.input, "--force", "--memory", "50k")
        self.assertEqual(read(self.input), file_bytes(np.ascontiguousarray(array.T)))

    def test_file_systems_with_names_only(self):
        if not NAMED:
            self.skipTest("there is no library to preload")
        array = self.save(fill((3001, 203), "|u1"))
        environment = dict(os.environ, LD_PRELOAD=NAMED)
        self.assertIn("two passes", self.in_pieces(array, (1, 0), "20k", env=environment))

    def test_strips(self):
        """Pieces go by strips, each a stretch of the output, which is handed to the disk when it is complete."""
        if not RANGES:
            self.skipTest("there is no library to preload")
        array = self.save(np.arange(1.0, 50 * 17000 + 1).reshape(50, 17000).astype("<c16"))
        told = self.path("told")
        self.in_pieces(array, (1, 0), "64k", env=dict(os.environ, LD_PRELOAD=RANGES, CUTT_TEST_RANGES_TOLD=told))
        strips = [tuple(map(int, line.split())) for line in read(told).decode().splitlines()]
        os.unlink(told)
        self.assertTrue(strips)
        end = 128
        for first, count, zeros in strips:
            self.assertEqual((first, count % (50 * 16), zeros), (end, 0, 0))
            end += count
        self.assertGreater(end, array.nbytes / 2)

    def test_past_the_cache(self):
        """Stretches of an input that is not in memory, which begin and end within blocks of the disk and are longer than a buffer;
        the last two are long, and read by few threads."""
        if not RANGES:
            self.skipTest("there is no library to preload")
        told = self.path("told")
        for shape, axes, memory in [((17, 5, 3, 60001), (2, 1, 0, 3), "9M"), ((17, 5, 3, 60001), (2, 1, 0, 3), "40M"),
                                    ((2, 3, 400003), (1, 0, 2), "9M"), ((2, 3, 400003), (1, 0, 2), "15M")]:
            array = self.save(fill(shape, "<i4", 3))
            with open(self.input, "rb") as file:
                os.fsync(file.fileno())
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
            self.in_pieces(array, axes, memory, env=dict(os.environ, LD_PRELOAD=RANGES, CUTT_TEST_DIRECT_TOLD=told))
        if not os.path.exists(told):
            self.skipTest("the system keeps the file in memory, or reads nothing past its cache")
        os.unlink(told)

    def test_memory(self):
        """What the run needs beyond a small one is within the budget."""
        sparse(self.input, (4096, 32768), "|u1")  # 128 MiB
        small = self.path("small.npy")
        np.save(small, fill((30, 40), "<f4"))

        def peak(*arguments):
            process = subprocess.Popen([PROGRAM, "transpose", *arguments, self.output, "--force", "--quiet"])
            _, status, usage = os.wait4(process.pid, 0)
            process.returncode = os.waitstatus_to_exitcode(status)
            self.assertEqual(process.returncode, 0)
            return usage.ru_maxrss * 1024

        least = peak(small)
        for memory in [8 << 20, 32 << 20]:
            self.assertLessEqual(peak(self.input, "--memory", str(memory)) - least, memory)


class Contract(Pieces):
    """Blocks of what `cutt contract` takes: any pattern, order, byte order and scalars."""

    @classmethod
    def setUpClass(cls):
        if not any(p["backend"] == "cpu" for p in json.loads(cutt("devices", "--json").stdout)["providers"]):
            raise unittest.SkipTest("no BLAS is on this machine")

    def contract(self, pattern, arrays, memory, *options):
        for name, array in zip("abd", arrays):
            np.save(self.path(name + ".npy"), array)
        if len(arrays) == 3:
            options = ["--in", self.path("d.npy"), *options]
        result = self.good("contract", pattern, self.path("a.npy"), self.path("b.npy"), "-o", self.output, "--force",
                           "-v", "--memory", memory, *options)
        return np.load(self.output), result.stderr

    def test_random(self):
        random = np.random.default_rng(11)
        in_blocks = several = 0
        for seed in range(60):
            letters = list("abcdefgh")
            random.shuffle(letters)
            left = letters[:random.integers(0, 5)]
            right = list(random.permutation(letters)[:random.integers(0, 5)])
            left += left[:1] * (random.random() < 0.2)
            right += right[-1:] * (random.random() < 0.2)
            result = [letter for letter in sorted(set(left + right)) if random.random() < 0.6]
            random.shuffle(result)
            extents = {letter: int(random.integers(1, 9)) for letter in "abcdefgh"}
            dtype, pattern = ["f4", "f8", "c8", "c16"][seed % 4], "".join(left + [","] + right + ["->"] + result)
            arrays = []
            for group in (left, right, result)[:2 + seed % 3 % 2]:
                values = random.uniform(-1, 1, [extents[letter] for letter in group])
                if dtype[0] == "c":
                    values = values + 1j * random.uniform(-1, 1, values.shape)
                arrays.append(np.array(values, order="CF"[random.integers(2)], dtype=random.choice(["<", ">"]) + dtype))
            with self.subTest(pattern=pattern, extents=extents, dtype=dtype):
                beta = 1.5 if seed % 6 == 1 else 1.0
                options = ["--alpha", "2"] + (["--beta", "1.5"] if len(arrays) == 3 and beta != 1.0 else [])
                found, said = self.contract(pattern, arrays, int(2 ** random.uniform(10, 12.5)), *options)
                expected = 2 * np.einsum(pattern, arrays[0].astype("c16"), arrays[1].astype("c16"))
                if len(arrays) == 3:
                    expected = expected + beta * arrays[2]
                self.assertEqual((found.shape, found.dtype), (expected.shape, np.dtype(dtype)))
                unit = np.finfo(np.dtype(dtype)).eps
                self.assertLess(np.max(np.abs(found - expected), initial=0), 3000 * unit)
                in_blocks += " steps, " in said
                several += not re.search(r"^cutt: (\d+) blocks? of the result.* in \1 step", said)
        self.assertGreater(in_blocks, 15)
        self.assertGreater(several, 5)  # with sums over several blocks

    def test_what_is_said(self):
        random = np.random.default_rng(1)
        arrays = [random.uniform(-1, 1, shape) for shape in [(60, 70), (70, 80)]]
        found, said = self.contract("ab,bc->ac", arrays, "40k")
        self.assertTrue(np.allclose(found, arrays[0] @ arrays[1]))
        self.assertRegex(said, r"\Acutt: \d+ blocks of the result, of [0-9.]+ kB, in \d+ steps with blocks of [0-9.]+ (kB|bytes) and "
                               r"[0-9.]+ (kB|bytes)\ncutt: \(60, 70\) and \(70, 80\) -> \(60, 80\) of f8: \d+ steps, .* GFLOP/s; .* to "
                               r"disk\n\Z")
        _, said = self.contract("ab,bc->ac", arrays, "40k", "--json", "--quiet")
        self.assertEqual(said.count("\n"), 1)
        _, said = self.contract("ab,bc->ac", arrays, "1M")
        self.assertIn("workspace", said)
        # What is 0 times something is not read.
        found, _ = self.contract("ab,bc->ac", [*arrays, np.full((60, 80), np.nan)], "40k", "--beta", "0")
        self.assertTrue(np.allclose(found, arrays[0] @ arrays[1]))
        self.bad(2, ["--memory", "'many'"], "contract", "ab,bc->ac", "x", "y", "-o", "z", "--memory", "many")


class Failures(Pieces):
    def test_truncated(self):
        array = fill((300, 200), "<f4")
        write(self.input, file_bytes(array)[:-1])
        self.bad(1, ["in.npy", "truncated"], "transpose", self.input, self.output, "--memory", "50k")
        self.assertFalse(os.path.exists(self.output))

    def test_file_size_limit(self):
        self.save(fill((300, 200), "<f4"))
        write(self.output, b"precious")
        self.bad(1, ["out.npy", "room", "240128", "File too large"], "transpose", self.input, self.output, "--force",
                 "--memory", "50k", preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        self.assertEqual(read(self.output), b"precious")

    def test_full_disk(self):
        """A disk that is too small for the output, and one that is too small for the intermediate file beside it."""
        self.save(fill((1000, 1001), "|u1"))
        mount = self.path("small")
        os.mkdir(mount)
        enter = ["unshare", "-m"] if os.geteuid() == 0 else ["unshare", "-Urm"]
        script = ('mount -t tmpfs -o size=$4 none "$1" || exit 77; echo precious > "$1/out.npy"; '
                  '"$2" transpose "$3" "$1/out.npy" --force --memory 20k; echo "code $?"; cat "$1/out.npy"; ls -A "$1"')
        for size, words in [("500k", "room for its 1001128 bytes"),
                            ("1500k", "out.npy: there is no room beside it for the intermediate file of 1001000 bytes")]:
            with self.subTest(size=size):
                try:
                    result = subprocess.run([*enter, "sh", "-c", script, "sh", mount, PROGRAM, self.input, size],
                                            capture_output=True, text=True, timeout=TIMEOUT, check=False)
                except FileNotFoundError:
                    self.skipTest("there is no unshare program to make a small disk with")
                if result.returncode == 77 or "code" not in result.stdout:
                    self.skipTest("a small disk can't be mounted here: " + result.stderr.strip())
                self.assertEqual(result.stdout.split(), ["code", "1", "precious", "out.npy"], result.stderr)
                self.assertIn(words, result.stderr)
                self.assertIn("No space left", result.stderr)


class Struck(Pieces):
    """The program, or its input, struck down in the middle."""

    environment = None

    def started(self, *options):
        """A run that is stopped (SIGSTOP) while it is at its pieces, or None when it was too quick."""
        sparse(self.input, (4096, 16384), "|u1")  # 64 MiB
        write(self.output, b"precious")
        process = subprocess.Popen([PROGRAM, "transpose", self.input, self.output, "--force", "--memory", "16k", *options],
                                   text=True, stderr=subprocess.PIPE, env=self.environment)
        self.addCleanup(process.stderr.close)
        while process.poll() is None and not any(
                link.startswith((self.folder + "/#", self.folder + "/.")) for link in self.links(process)):
            time.sleep(0.0005)
        time.sleep(0.05)
        process.send_signal(signal.SIGSTOP)
        return process

    @staticmethod
    def links(process):
        try:
            return [os.readlink(entry.path) for entry in os.scandir(f"/proc/{process.pid}/fd")]
        except OSError:
            return []

    def test_killed(self):
        code, _ = finish(self.started(), signal.SIGKILL)
        if code == 0:
            self.skipTest("the program was done before it could be stopped")
        self.assertEqual(code, -signal.SIGKILL)
        self.assertEqual(read(self.output), b"precious")
        left = [name for name in os.listdir(self.folder) if name not in ("in.npy", "out.npy")]
        self.assertLessEqual(len(left), 1)  # where every file has a name: a hidden one, which may be removed
        self.assertTrue(all(name.startswith(".") for name in left), left)

    def test_interrupted(self):
        for self.environment in self.environments():
            code, _ = finish(self.started(), signal.SIGTERM, signal.SIGCONT)
            if code != 0:
                self.assertEqual(code, -signal.SIGTERM)
                self.assertEqual(read(self.output), b"precious")
                self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])

    def test_input_becomes_shorter(self):
        process = self.started()
        os.truncate(self.input, 1 << 20)
        code, text = finish(process, signal.SIGCONT)
        if code == 0:
            self.skipTest("the program was done before it could be stopped")
        self.assertEqual(code, 1)
        self.assertRegex(text, r"\Acutt: .*in\.npy: (became shorter|was changed while it was read).*\n\Z")
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(self.temporaries(), [])


@unittest.skipUnless(os.environ.get("CUTT_LONG_TESTS"), "needs gigabytes of disk; set CUTT_LONG_TESTS=1")
class Long(Pieces):
    def test_more_than_two_to_the_32(self):
        """A sparse file of 65537 x 65536 bytes with 512 MB, every byte told from its neighbours."""
        rows, columns = 65537, 65536
        sparse(self.input, (rows, columns), "|u1")
        array = np.load(self.input, mmap_mode="r+")
        places = np.random.default_rng(1).integers(0, rows * columns, 100000)
        array.reshape(-1)[places] = places % 255 + 1
        array[-1, :] = np.arange(columns) % 251
        array.flush()
        self.good("transpose", self.input, self.output, "--memory", "512M")
        found = np.load(self.output, mmap_mode="r")
        self.assertEqual(found.shape, (columns, rows))
        for row in range(0, rows, 4096):  # by blocks, which touch each page of both files once
            for column in range(0, columns, 4096):
                block = np.array(array[row:row + 4096, column:column + 4096])
                self.assertTrue(np.array_equal(found[column:column + 4096, row:row + 4096], block.T), (row, column))


def prepare():
    no_leak_checks()
    best_kernels()


if __name__ == "__main__":
    run_tests(prepare)
