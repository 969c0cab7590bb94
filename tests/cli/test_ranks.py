"""Tests of `cutt transpose` on ranks: by the launchers of MPI that are here, and by CUTT_RANKS.

Run as test_cli.py, with the helpers of support.py. CUTT_TEST_MPIEXEC names the launchers, with ':' between them.
"""

import os
import re
import signal
import subprocess
import time
import unittest

import numpy as np

from support import PROGRAM, TIMEOUT, Case, file_bytes, fill, no_leak_checks, read, run_tests, write
from test_pieces import sparse

LAUNCHERS = [path for path in os.environ.get("CUTT_TEST_MPIEXEC", "").split(":") if path]
# As root, on fewer processors than ranks, and without what containers forbid.
ENVIRONMENT = dict(os.environ, OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1",
                   OMPI_MCA_rmaps_base_oversubscribe="1", OMPI_MCA_plm_rsh_agent="/bin/false")


class Ranks(Case):
    def start(self, rank, size, *arguments, **environment):
        process = subprocess.Popen([PROGRAM, "transpose", *map(str, arguments)], text=True, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, env=dict(ENVIRONMENT, CUTT_RANKS=f"{rank}/{size}", **environment))
        self.addCleanup(process.stderr.close)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.kill)
        return process

    def finish(self, processes):
        """The codes and what was said on stderr."""
        said = [process.communicate(timeout=TIMEOUT)[1] for process in processes]
        return [process.returncode for process in processes], said

    def run_ranks(self, size, *arguments, **environment):
        return self.finish([self.start(rank, size, *arguments, **environment) for rank in range(size)])


class ByLauncher(Ranks):
    def launch(self, launcher, size, *arguments):
        return subprocess.run([launcher, "-n", str(size), PROGRAM, *map(str, arguments)], stdout=subprocess.PIPE,
                              stderr=subprocess.PIPE, text=True, timeout=TIMEOUT, check=False, env=ENVIRONMENT)

    def test_sizes(self):
        if not LAUNCHERS:
            self.skipTest("there is no MPI here")
        array = self.save(fill((70, 41, 300), "<f4"))
        for launcher in LAUNCHERS:
            for size in [1, 2, 3, 5, 8]:
                with self.subTest(launcher=launcher, size=size):
                    result = self.launch(launcher, size, "transpose", self.input, self.output, "--axes", "1,0,2", "--force")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.check_output(array, (1, 0, 2))
                    self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])
                    # One says what was done, and in how many pieces: at least as many as there are ranks.
                    self.assertEqual(len(re.findall("^cutt: .*->", result.stderr, re.M)), 1, result.stderr)
                    pieces = re.search(r"(\d+) pieces", result.stderr)
                    self.assertGreaterEqual(int(pieces[1]) if pieces else 1, size)

    def test_refused(self):
        if not LAUNCHERS:
            self.skipTest("there is no MPI here")
        self.save(fill((70, 41, 30), "<f4"))
        write(self.output, b"precious")
        for launcher in LAUNCHERS:
            result = self.launch(launcher, 3, "transpose", self.input, self.output)
            self.assertNotEqual(result.returncode, 0)
            self.assertIn("exists; --force replaces it", result.stderr)
            result = self.launch(launcher, 3, "contract", "abc,abc->a", self.input, self.input, "-o", self.output, "--force")
            self.assertNotEqual(result.returncode, 0)
            self.assertRegex(result.stderr, "there are 3 ranks, and .* CUTT_RANKS=off")
            self.assertEqual(read(self.output), b"precious")
            self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])


class ByNumber(Ranks):
    def test_random(self):
        random = np.random.default_rng(3)
        for seed in range(12):
            rank = int(random.integers(0, 6))
            shape = tuple(int(n) for n in random.integers(1, [2, 3000, 120, 40, 16, 9][rank], rank))
            axes = tuple(int(n) for n in random.permutation(rank))
            array = self.save(np.array(fill(shape, ["|u1", "<i2", ">f4", "<c16"][seed % 4], seed), order="CF"[seed % 2]))
            size, memory = int(random.integers(2, 8)), int(2 ** random.uniform(10, 16))
            with self.subTest(shape=shape, axes=axes, size=size, memory=memory):
                codes, said = self.run_ranks(size, self.input, self.output, "--force", "--axes", ",".join(map(str, axes)),
                                             "--memory", memory)
                self.assertEqual(codes, [0] * size, said)
                self.assertEqual([bool(text) for text in said], [True] + [False] * (size - 1), said)
                self.check_output(array, axes)
                self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])

    def test_rows_of_pieces(self):
        """Stretches of 480 bytes on both sides, and many pieces along both modes: what is read is asked for 256 kB at a time."""
        array = self.save(fill((50, 17000), "<c16"))
        for size in (2, 5):
            codes, said = self.run_ranks(size, self.input, self.output, "--force", "--memory", "64k", "-v")
            self.assertEqual(codes, [0] * size, said)
            self.assertIn("one pass in", said[0])
            self.check_output(array)

    def test_edges(self):
        for array in [np.zeros((0, 3), "f4"), fill((1,), "|u1"), fill((3, 2), "<c16")]:
            self.save(array)
            codes, said = self.run_ranks(4, self.input, self.output, "--force")
            self.assertEqual(codes, [0] * 4, said)
            self.check_output(array)
        os.unlink(self.output)
        codes, said = self.run_ranks(3, self.input, self.input, "--force", "--quiet")
        self.assertEqual((codes, said), ([0] * 3, [""] * 3))
        self.assertEqual(read(self.input), file_bytes(np.ascontiguousarray(array.T)))
        # Replaced by ranks that have their own ideas of who may read it.
        os.chmod(self.input, 0o640)
        codes, said = self.run_ranks(3, self.input, self.input, "--force", "--quiet")
        self.assertEqual(codes, [0] * 3, said)
        self.assertEqual(os.stat(self.input).st_mode & 0o777, 0o640)

    def test_variable(self):
        array = self.save(fill((30, 40), "<f4"))
        self.good("transpose", self.input, self.output, env=dict(os.environ, PMI_RANK="1", PMI_SIZE="4", CUTT_RANKS="off"))
        self.check_output(array)
        for value in ["8", "3/3", "-1/3", "a/b", "1/", "1/2/3", "/"]:
            self.bad(1, ["CUTT_RANKS", f"'{value}'", "3/8"], "transpose", self.input, self.path("no.npy"),
                     env=dict(os.environ, CUTT_RANKS=value))
        self.bad(1, ["CUTT_RANKS_WAIT", "'soon'"], "transpose", self.input, self.path("no.npy"),
                 env=dict(os.environ, CUTT_RANKS_WAIT="soon"))
        self.bad(2, ["'-'", "3 ranks"], "transpose", "-", self.path("no.npy"), env=dict(os.environ, CUTT_RANKS="0/3"))
        # In a batch script there is a rank, and no step.
        self.good("transpose", self.input, self.output, "--force", env=dict(os.environ, SLURM_PROCID="0", SLURM_NTASKS="4"))

    def test_alone(self):
        """A rank that the others leave alone says so, soon, and leaves nothing."""
        self.save(fill((30, 40), "<f4"))
        for rank, words in [(0, "rank 2 of 3 did not arrive"), (1, "rank 0 of 3 did not begin")]:
            codes, said = self.finish([self.start(rank, 3, self.input, self.output, CUTT_RANKS_WAIT="0.3")])
            self.assertEqual(codes, [1])
            self.assertIn(words, said[0])
            self.assertIn("CUTT_RANKS=off", said[0])
            self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_different_requests(self):
        self.save(fill((30, 40, 5), "<f4"))
        first = self.start(0, 2, self.input, self.output, "--axes", "1,0,2")
        codes, said = self.finish([first, self.start(1, 2, self.input, self.output, "--axes", "2,1,0")])
        self.assertEqual(codes, [1, 1])
        self.assertIn("rank 1 failed", said[0])
        self.assertIn("rank 0 was asked for something else", said[1])
        self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_old_table(self):
        """What a run leaves whose ranks were all killed is no obstacle; a run that goes on is one."""
        array = self.save(fill((300, 40), "<f4"))
        for content in [b"", bytes(100), bytes(20000)]:
            write(self.path(".out.npy.ranks"), content)
            codes, said = self.run_ranks(2, self.input, self.output, "--force")
            self.assertEqual(codes, [0, 0], said)
            self.check_output(array)
        other = self.start(0, 2, self.input, self.output, "--force")
        while not os.path.exists(self.path(".out.npy.ranks")) or os.path.getsize(self.path(".out.npy.ranks")) == 0:
            time.sleep(0.001)
        codes, said = self.finish([self.start(0, 2, self.input, self.output, "--force")])
        self.assertEqual(codes, [1])
        self.assertIn("another run writes the same output", said[0])
        self.assertEqual(self.finish([self.start(1, 2, self.input, self.output, "--force"), other])[0], [0, 0])


class Struck(Ranks):
    """One rank is ended in the middle, while all are stopped."""

    def started(self, size):
        sparse(self.input, (4096, 16384), "|u1")  # 64 MiB
        write(self.output, b"precious")
        processes = [self.start(rank, size, self.input, self.output, "--force", "--memory", "16k") for rank in range(size)]
        while not self.all_at_work(size) and all(process.poll() is None for process in processes):
            time.sleep(0.0005)
        time.sleep(0.05)
        for process in processes:
            process.send_signal(signal.SIGSTOP)
        return processes

    def all_at_work(self, size):
        """Each rank has a record in the table, which begins with how far it is, and the output is there."""
        try:
            table = read(self.path(".out.npy.ranks"))
        except FileNotFoundError:
            return False
        return table[:1] > b"\1" and all(table[8192 * rank:8192 * rank + 1] > b"\0" for rank in range(size))

    def end_one(self, number, victim):
        processes = self.started(3)
        if any(process.poll() is not None for process in processes):
            self.skipTest("the program was done before it could be stopped")
        processes[victim].send_signal(number)
        for process in processes:
            process.send_signal(signal.SIGCONT)
        codes, said = self.finish(processes)
        self.assertEqual(codes[victim], -number)
        self.assertEqual([code for i, code in enumerate(codes) if i != victim], [1, 1], said)
        for i, text in enumerate(said):
            if i != victim:
                # The second where rank 0 has gone before this one has opened the new file.
                self.assertRegex(text, r"\Acutt: rank %d: (rank [012] .*no output is written|.*can't be opened: .*)\n\Z" % i)
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])

    def test_killed(self):
        for victim in [0, 2]:
            with self.subTest(victim=victim):
                self.end_one(signal.SIGKILL, victim)

    def test_interrupted(self):
        for victim in [0, 1]:
            with self.subTest(victim=victim):
                self.end_one(signal.SIGTERM, victim)

    def test_input_becomes_shorter(self):
        processes = self.started(3)
        os.truncate(self.input, 1 << 20)
        for process in processes:
            process.send_signal(signal.SIGCONT)
        codes, said = self.finish(processes)
        self.assertEqual(codes, [1, 1, 1], said)
        self.assertIn("in.npy: became shorter", "".join(said))
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.npy", "out.npy"])


if __name__ == "__main__":
    run_tests(no_leak_checks)
