"""Tests of `cutt calibrate`: the file that it writes, what plans make of it, and what it leaves alone.

Run as test_cli.py, with what support.py has. The calibrations are short, and how good their fits are is not looked at.
"""

import functools
import json
import os
import pty
import signal
import subprocess
import tempfile
import time
import unittest

from support import PROGRAM, Case, cutt, no_calibration, read, run_tests, write

QUICK = ["calibrate", "--backend", "cpu", "--seconds", "0.2"]
PLAN = ["plan", "--shape", "200,100,30", "--axes", "2,0,1", "--dtype", "f4"]


def environment(**changes):
    """The environment with these changes; None: without it."""
    result = {**os.environ, **{name: str(value) for name, value in changes.items() if value is not None}}
    for name, value in changes.items():
        if value is None:
            result.pop(name, None)
    return result


@functools.lru_cache(maxsize=None)
def calibrated():
    """A calibration for tests of something else: the default file's name and what is in it."""
    with tempfile.TemporaryDirectory() as folder:
        result = cutt(*QUICK, "--json", env=environment(XDG_DATA_HOME=folder, CUTT_CALIBRATION=None))
        path = json.loads(result.stdout)["path"]
        return os.path.basename(path), read(path)


class Calibrate(Case):
    def setUp(self):
        super().setUp()
        self.file = self.path("my.device")

    def test_file_and_plan(self):
        report = json.loads(self.good(*QUICK, "--out", self.file, "--json", "--seed", "7", "--threads", "1").stdout)
        self.assertEqual(report["backend"], "cpu")
        self.assertEqual(report["seed"], 7)
        self.assertEqual(report["path"], self.file)
        self.assertEqual(os.listdir(self.folder), ["my.device"])
        self.assertTrue(read(self.file).startswith(b"cutt device, format 1\n"))
        for name in ["copy_bandwidth", "read_bandwidth", "write_bandwidth"]:
            property = [property for property in report["properties"] if property["name"] == name][0]
            self.assertGreater(property["value"], 1e8)
            self.assertEqual(property["unit"], "B/s")

        # A plan that uses it says so in the log, and predicts other times when the file says others.
        used = self.good(*PLAN, "--json", env=environment(CUTT_CALIBRATION=self.file, CUTT_LOG="info"))
        self.assertIn(self.file, used.stderr)
        lines = read(self.file).decode().splitlines()
        doubled = [" ".join([*line.split(" ")[:2], repr(2 * float(line.split(" ")[2])), *line.split(" ")[3:]])
                   if line.startswith("parameter ") else line for line in lines]
        other = self.path("other.device")
        write(other, ("\n".join(doubled) + "\n").encode())
        slower = self.good(*PLAN, "--json", env=environment(CUTT_CALIBRATION=other))
        times = [json.loads(text)["predicted_seconds"] for text in [used.stdout, slower.stdout]]
        self.assertAlmostEqual(times[1] / times[0], 2, places=3)

        # Again into the same file; the report for a person.
        result = self.good(*QUICK, "--out", self.file)
        for word in ["copy_bandwidth", "GB/s", "parameters", "held back", "geometric mean", "correlation", self.file]:
            self.assertIn(word, result.stdout)
        self.assertEqual(result.stderr, "")

    def test_default_folder(self):
        env = environment(XDG_DATA_HOME=self.path("data"), CUTT_CALIBRATION=None)
        path = json.loads(self.good(*QUICK, "--json", env=env).stdout)["path"]
        self.assertEqual(os.path.dirname(path), self.path("data/cutt"))
        self.assertEqual(os.listdir(self.path("data/cutt")), [os.path.basename(path)])
        log = self.good(*PLAN, env={**env, "CUTT_LOG": "info"}).stderr
        self.assertIn(path, log)
        # Not when it is told not to; and calibrate says that this will be so.
        off = {**env, "CUTT_CALIBRATION": "0"}
        self.assertNotIn(path, self.good(*PLAN, env={**off, "CUTT_LOG": "info"}).stderr)
        self.assertIn("CUTT_CALIBRATION", self.good(*QUICK, env=off).stderr)

    def test_damaged_file(self):
        """One that is asked for and can't be used: no plan, and devices says why. Elsewhere it is passed over."""
        expected = self.good(*PLAN).stdout
        name, whole = calibrated()
        folders = environment(XDG_DATA_HOME=self.path("data"), CUTT_CALIBRATION=None)
        default = self.path("data/cutt/" + name)
        os.makedirs(os.path.dirname(default))
        write(default, whole)
        self.assertIn(default, self.good(*PLAN, env={**folders, "CUTT_LOG": "info"}).stderr)
        for name, text, words in [("cut", whole[:-4], ["cut off"]), ("rubbish", b"rubbish\n", ["line 1"]),
                                  ("edited", whole.replace(b" ns\n", b" miles\n", 1), ["line", "miles"]),
                                  ("empty", b"", ["cut off"]), ("missing", None, ["No such file"])]:
            with self.subTest(name):
                path = self.path(name)
                if text is not None:
                    write(path, text)
                named = environment(CUTT_CALIBRATION=path)
                self.bad(1, [f"CUTT_CALIBRATION is '{path}'", "0 for none", *words], *PLAN, env=named)
                told = self.good("devices", env=named).stdout
                for word in ["no plans", f"CUTT_CALIBRATION is '{path}'", *words]:
                    self.assertIn(word, told)
                cpu = json.loads(self.good("devices", "--json", env=named).stdout)["backends"][-1]
                self.assertEqual((cpu["name"], cpu["source"]), ("cpu", None))
                self.assertIn(path, cpu["source_unused"])
                if text is None:
                    continue
                write(default, text)
                result = self.good(*PLAN, env={**folders, "CUTT_LOG": "warn"})
                for word in [default, *words]:
                    self.assertIn(word, result.stderr)
                self.assertEqual(result.stdout.splitlines()[:-1], expected.splitlines()[:-1])  # the last is a time
                self.assertEqual(self.good(*PLAN, env=folders).stderr, "")
                self.assertIn(f"not used: {default}", self.good("devices", env=folders).stdout)
        for unset in ["", "0"]:
            self.good(*PLAN, env=environment(CUTT_CALIBRATION=unset))

    def test_variable_that_names_the_file_to_come(self):
        env = environment(CUTT_CALIBRATION=self.file)
        self.bad(1, self.file, *PLAN, env=env)
        self.good(*QUICK, "--out", self.file, env=env)
        self.assertIn(self.file, self.good(*PLAN, env=env).stdout)

    def test_another_device(self):
        other = calibrated()[1].replace(b"\nkey ", b"\nkey not-", 1)
        write(self.file, other)
        env = environment(CUTT_CALIBRATION=self.file)
        self.assertIn("is of not-", self.good(*PLAN, env={**env, "CUTT_LOG": "warn"}).stderr)
        self.assertIn("is of not-", self.good("devices", env=env).stdout)

    def test_refusals(self):
        self.bad(1, [self.path("none"), "calibration->path"], *QUICK, "--out", self.path("none/my.device"))
        write(self.file, b"something that is dear to me\n")
        self.bad(1, [self.file, "not a device file"], *QUICK, "--out", self.file)
        self.assertEqual(read(self.file), b"something that is dear to me\n")
        self.bad(1, [self.folder, "regular file"], *QUICK, "--out", self.folder)
        self.bad(2, "--seconds", "calibrate", "--seconds", "-1")
        self.bad(2, "--seconds", "calibrate", "--seconds", "soon")
        self.bad(2, "--threads", "calibrate", "--threads", "0")
        self.bad(2, "--seed", "calibrate", "--seed", "x")
        self.bad(2, ["abacus", "cuda"], "calibrate", "--backend", "abacus")
        self.bad(2, "extra", "calibrate", "extra")
        self.bad(2, "--outt", "calibrate", "--outt", "x")
        self.bad(1, "CUDA", "calibrate", "--backend", "cuda", "--out", self.path("x"))
        self.assertIn("--seconds", self.good("calibrate", "--help").stdout)
        self.assertIn("calibrate", self.good("--help").stdout)

    def test_interrupted(self):
        for write_before in [False, True]:
            with self.subTest(before=write_before):
                if write_before:
                    write(self.file, calibrated()[1])
                before = read(self.file) if write_before else None
                process = subprocess.Popen([PROGRAM, "calibrate", "--backend", "cpu", "--seconds", "60", "--out",
                                            self.file], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True)
                time.sleep(2)
                process.send_signal(signal.SIGINT)
                out, error = process.communicate(timeout=60)
                self.assertEqual(process.returncode, 1)
                self.assertEqual(out, "")
                self.assertEqual(error, "cutt: interrupted; nothing was written\n")
                self.assertEqual(os.listdir(self.folder), ["my.device"] if write_before else [])
                if write_before:
                    self.assertEqual(read(self.file), before)

    def test_progress_bar(self):
        for options, shown in [([], True), (["--quiet"], False)]:
            with self.subTest(options=options):
                leader, follower = pty.openpty()
                env = environment(TERM="xterm")
                process = subprocess.Popen([PROGRAM, "calibrate", "--backend", "cpu", "--seconds", "2.5", "--out",
                                            self.file, *options], stdout=subprocess.PIPE, stderr=follower, env=env)
                os.close(follower)
                seen = b""
                while True:
                    try:
                        piece = os.read(leader, 4096)
                    except OSError:
                        break
                    if not piece:
                        break
                    seen += piece
                process.communicate(timeout=60)
                os.close(leader)
                self.assertEqual(process.returncode, 0)
                self.assertEqual(b"problem" in seen, shown)
                self.assertEqual(b"[##" in seen, shown)


if __name__ == "__main__":
    run_tests(no_calibration)
