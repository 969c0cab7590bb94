"""Tests of the program `cutt` against NumPy, as scripts use it: files, exit codes, messages (support.py)."""

import json
import os
import re

import numpy as np

from support import DTYPES, GPU_ENVIRONMENT, Case, cutt, file_bytes, fill, raw_npy, read, run_tests, write


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
    def bench(self, *arguments):
        """What the times are is not looked at: short ones will do."""
        return self.good("bench", *arguments, "--seconds", "0.01")

    def test_small_run(self):
        result = self.path("result.json")
        self.bench("set1", "--volume", "20000", "--samples", "2", "--threads", "1", "--json", result)
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
        self.bench(cases, "--json", result)
        with open(result, encoding="ascii") as file:
            self.assertEqual(len(json.load(file)["results"]), 1)

    def test_strided_inputs(self):
        """Reversed, broadcast and with gaps; the program checks the results."""
        cases, copy = self.path("cases.csv"), self.path("copy.csv")
        lines = ("id,dims,perm,in_strides\n1,40x50x60,2 0 1,\n2,41x50,1 0,-1 41\n3,30x20,0 1,2 -61\n"
                 "4,30x20,1 0,0 1\n5,30x20x3,0 2 1,1 -40 0\n")
        write(cases, lines.encode())
        for dtype in ["u1", "i2", "f4", "f8", "c16"]:
            self.bench(cases, "--dtype", dtype, "--csv", copy, "--force")
        with open(copy, encoding="ascii") as file:
            self.assertEqual(file.read(), lines)
        self.bench(cases, "--dtype", "f4", "--beta", "2")
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
        self.bench(cases, "--backend", "cpu", "--full-check", "--all-candidates", "--json", result)
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
                    self.bench(cases, "--dtype", dtype, *options)


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


if __name__ == "__main__":
    run_tests()
