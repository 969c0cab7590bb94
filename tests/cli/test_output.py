"""Tests of what the program writes, and of what is there when it is interrupted or writes to a terminal (support.py)."""

import io
import os
import pty
import resource
import signal
import stat
import struct
import subprocess
import time
import unittest

import numpy as np

from support import NAMED, PROGRAM, TIMEOUT, Case, cutt, file_bytes, fill, finish, read, run_tests, write


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

    def test_killed(self):
        code, _ = finish(self.stopped(), signal.SIGKILL)
        self.assertEqual(code, -signal.SIGKILL)
        self.assertFalse(os.path.exists(self.output))
        leaves = self.environment is not None or not self.nameless()
        self.assertEqual(len(self.temporaries()), 1 if leaves else 0)
        for name in self.temporaries():
            os.unlink(self.path(name))
        write(self.output, b"precious")
        code, _ = finish(self.stopped("--force"), signal.SIGKILL)
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
                    code, _ = finish(self.stopped(delay=delay), number, signal.SIGCONT)
                    self.assertEqual(code, -number)
                    self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_ignored_signal_stays_ignored(self):
        process = subprocess.Popen([PROGRAM, "transpose", self.input, self.output, "--quiet"], stderr=subprocess.PIPE,
                                   preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN), text=True,
                                   env=self.environment)
        while not self.writing(process) and process.poll() is None:
            time.sleep(0.0005)
        code, text = finish(process, signal.SIGHUP)
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
                    code, text = finish(process, signal.SIGCONT)
                    self.assertEqual(code, 1, text)
                    self.assertRegex(text, r"\Acutt: .*in\.npy.*(shorter|changed).*\n\Z")
                    self.assertEqual(os.listdir(self.folder), ["in.npy"])

    def test_output_appears_meanwhile(self):
        process = self.stopped()
        write(self.output, b"precious")
        code, text = finish(process, signal.SIGCONT)
        self.assertEqual(code, 1, text)
        self.assertIn("meanwhile", text)
        self.assertEqual(read(self.output), b"precious")
        self.assertEqual(self.temporaries(), [])

    def test_output_appears_and_is_replaced(self):
        """With --force, and keeps its mode, though it was not there at the start."""
        process = self.stopped("--force")
        write(self.output, b"old")
        os.chmod(self.output, 0o640)
        code, text = finish(process, signal.SIGCONT)
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
        finish(process, signal.SIGKILL)
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


if __name__ == "__main__":
    run_tests()
