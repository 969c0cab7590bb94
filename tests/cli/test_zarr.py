"""Tests of Zarr arrays as input and output of `cutt transpose` and `cutt contract`.

Run as test_cli.py, with the helpers of support.py. Arrays are written and read by a few lines here, and by the package zarr where it
is there: that one decides what is right.
"""

import gzip
import itertools
import json
import os
import random
import resource
import shutil
import signal
import subprocess
import time
import unittest

import numpy as np

from support import PROGRAM, TIMEOUT, Case, best_kernels, cutt, fill, no_leak_checks, read, run_tests, write
from test_pieces import sparse
from test_ranks import Ranks

try:
    import numcodecs
    import zarr
except ImportError:
    zarr = None

NAMES = {"b1": "bool", "i1": "int8", "u1": "uint8", "i2": "int16", "u2": "uint16", "i4": "int32", "u4": "uint32", "i8": "int64",
         "u8": "uint64", "f2": "float16", "f4": "float32", "f8": "float64", "c8": "complex64", "c16": "complex128"}


def key_of(index, meta):
    if meta["zarr_format"] == 2:
        return meta.get("dimension_separator", ".").join(map(str, index)) or "0"
    encoding = meta["chunk_key_encoding"]
    if encoding["name"] == "v2":
        return encoding.get("configuration", {}).get("separator", ".").join(map(str, index)) or "0"
    return encoding.get("configuration", {}).get("separator", "/").join(["c", *map(str, index)])


def chunk_places(shape, chunks):
    return itertools.product(*[range(-(-extent // chunk)) for extent, chunk in zip(shape, chunks)])


def save(path, array, chunks, version, order="C", separator=None, compress=None, fill_value=0, missing=(), **more):
    """Writes an array as a folder; chunks at the end of an axis have something else where the array has ended."""
    os.mkdir(path)
    separator = separator or {2: ".", 3: "/"}[version]
    if version == 2:
        meta = {"zarr_format": 2, "shape": array.shape, "chunks": chunks, "dtype": array.dtype.str, "order": order,
                "compressor": {"id": compress, "level": 1} if compress else None, "fill_value": fill_value, "filters": None,
                "dimension_separator": separator}
    else:
        codecs = [{"name": "bytes", "configuration": {"endian": "big" if array.dtype.str[0] == ">" else "little"}}]
        if order == "F":
            codecs.insert(0, {"name": "transpose", "configuration": {"order": list(range(array.ndim))[::-1]}})
        if compress:
            codecs.append({"name": compress, "configuration": {"level": 1}})
        meta = {"zarr_format": 3, "node_type": "array", "shape": array.shape, "data_type": NAMES[array.dtype.str[1:]],
                "chunk_grid": {"name": "regular", "configuration": {"chunk_shape": chunks}},
                "chunk_key_encoding": {"name": "default", "configuration": {"separator": separator}}, "fill_value": fill_value,
                "codecs": codecs, "attributes": {}}
    meta.update(more)
    with open(os.path.join(path, ".zarray" if version == 2 else "zarr.json"), "w") as file:
        json.dump(meta, file)
    for number, index in enumerate(chunk_places(array.shape, chunks)):
        if number in missing:
            continue
        chunk = np.full(chunks, 77).astype(array.dtype)
        part = array[tuple(slice(i * n, (i + 1) * n) for i, n in zip(index, chunks))]
        chunk[tuple(slice(n) for n in part.shape)] = part
        content = chunk.tobytes(order)
        name = os.path.join(path, key_of(index, meta))
        os.makedirs(os.path.dirname(name), exist_ok=True)
        write(name, gzip.compress(content, 1) if compress else content)


def load(path):
    """Reads what the program writes: all chunks are there, in C order."""
    version = 2 if os.path.exists(os.path.join(path, ".zarray")) else 3
    with open(os.path.join(path, ".zarray" if version == 2 else "zarr.json")) as file:
        meta = json.load(file)
    if version == 2:
        chunks, dtype, packed = meta["chunks"], np.dtype(meta["dtype"]), meta["compressor"]
    else:
        chunks = meta["chunk_grid"]["configuration"]["chunk_shape"]
        dtype = np.dtype({name: short for short, name in NAMES.items()}[meta["data_type"]])
        if meta["codecs"][0].get("configuration", {}).get("endian") == "big":
            dtype = dtype.newbyteorder(">")
        packed = len(meta["codecs"]) > 1
    array = np.empty(meta["shape"], dtype)
    for index in chunk_places(array.shape, chunks):
        content = read(os.path.join(path, key_of(index, meta)))
        chunk = np.frombuffer(gzip.decompress(content) if packed else content, dtype).reshape(chunks)
        where = tuple(slice(i * n, (i + 1) * n) for i, n in zip(index, chunks))
        array[where] = chunk[tuple(slice(n) for n in array[where].shape)]
    return array, meta


class ZarrCase(Case):
    def setUp(self):
        super().setUp()
        self.folder_in, self.folder_out = self.path("in.zarr"), self.path("out.zarr")

    def assert_same(self, found, expected):
        self.assertEqual((found.shape, found.dtype.str), (expected.shape, expected.dtype.str))
        self.assertEqual(found.tobytes(), expected.tobytes())


class Reads(ZarrCase):
    def test_layouts(self):
        """Versions, orders, separators, byte orders and codecs; chunks that don't divide the extents."""
        choose = random.Random(7)
        for number, (version, order, separator, compress) in enumerate(
                itertools.product([2, 3], "CF", "./", [None, "gzip"])):
            for dtype in choose.sample(["|u1", "<i2", ">f4", "<f8", "<c16"], 2):
                rank = choose.randrange(1, 5)
                shape = tuple(choose.randrange(1, [0, 900, 60, 20, 9][rank]) for _ in range(rank))
                chunks = tuple(choose.randrange(1, extent + 3) for extent in shape)
                axes = choose.sample(range(rank), rank)
                with self.subTest(version=version, order=order, separator=separator, compress=compress, dtype=dtype,
                                  shape=shape, chunks=chunks, axes=axes):
                    shutil.rmtree(self.folder_in, ignore_errors=True)
                    array = fill(shape, dtype, number)
                    save(self.folder_in, array, chunks, version, order, separator, compress)
                    memory = ["--memory", choose.choice(["200k", "2M", "100M"])]
                    result = cutt("transpose", self.folder_in, self.output, "--force", "--quiet", "--axes",
                                  ",".join(map(str, axes)), *memory)
                    if "chunks are too large" in result.stderr:
                        result = self.good("transpose", self.folder_in, self.output, "--force", "--quiet", "--axes",
                                           ",".join(map(str, axes)))
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    self.check_output(array, axes)

    def test_missing_chunks(self):
        for version in [2, 3]:
            for dtype, value, element in [("<f4", "NaN", np.nan), ("<f8", "-Infinity", -np.inf), (">f8", 1.5, 1.5),
                                          ("<f2", 0.1, 0.1), ("<f2", 65519, 65519), ("<f2", 6e-8, 6e-8), ("<f2", 1e9, np.inf),
                                          ("<i2", -3, -3), (">u4", 4000000000, 4000000000), ("|b1", True, True),
                                          ("<c8", [1, "NaN"], complex(1, np.nan)), ("<i8", -2**62, -2**62),
                                          ("<f4", "0x7fc00001", np.uint32(0x7fc00001).view("f4")), ("<f4", None, 0)]:
                if version == 3 and value is None:
                    continue
                with self.subTest(version=version, dtype=dtype, value=value):
                    shutil.rmtree(self.folder_in, ignore_errors=True)
                    array = fill((5, 7), dtype)
                    save(self.folder_in, array, (2, 4), version, fill_value=value, missing=(0, 3, 5))
                    for rows, columns in [(slice(0, 2), slice(0, 4)), (slice(2, 4), slice(4, 8)), (slice(4, 6), slice(4, 8))]:
                        with np.errstate(over="ignore"):
                            array[rows, columns] = np.array(element).astype(dtype)
                    self.good("transpose", self.folder_in, self.output, "--force", "--quiet")
                    self.check_output(array)

    def test_edges(self):
        for version in [2, 3]:
            for array, chunks in [(np.float64(3).reshape(()), ()), (np.zeros((0, 4)), (1, 2)), (np.zeros((3, 0, 2), "f4"), (9, 9, 9)),
                                  (fill((1, 1, 1), "<i2"), (5, 5, 5))]:
                shutil.rmtree(self.folder_in, ignore_errors=True)
                save(self.folder_in, np.asarray(array), chunks, version)
                if array.ndim == 0:
                    write(os.path.join(self.folder_in, "0" if version == 2 else "c"), np.float64(3).tobytes())
                self.good("transpose", self.folder_in, self.output, "--force", "--quiet")
                self.check_output(np.asarray(array))
        # An array in a group, by its path; a group itself is none.
        os.rename(self.folder_in, self.path("array"))
        os.mkdir(self.folder_in)
        write(self.path("in.zarr/zarr.json"), b'{"zarr_format": 3, "node_type": "group"}')
        os.rename(self.path("array"), self.path("in.zarr/array"))
        self.good("transpose", self.path("in.zarr/array/"), self.output, "--force")
        self.bad(1, ["zarr.json", 'node_type is "group"'], "transpose", self.folder_in, self.output, "--force")
        self.bad(1, ["a folder, and no Zarr array"], "transpose", self.folder, self.output, "--force")

    def test_a_chunk_is_read_once(self):
        array = fill((64, 60, 50), "<f4")
        save(self.folder_in, array, (16, 20, 25), 3)
        said = self.good("transpose", self.folder_in, self.output, "--axes", "1,2,0", "-v", "--memory", "800k").stderr
        self.assertRegex(said, r"\Acutt: one pass in \d\d? pieces of [0-9.]+ kB; 768 kB are read, 32 kB at a time, and 768 kB written, ")
        self.check_output(array, (1, 2, 0))
        self.bad(1, ["chunks are too large", "--memory"], "transpose", self.folder_in, self.path("no.zarr"), "--memory", "100k")
        self.bad(1, "--backend cuda", "transpose", self.folder_in, self.path("no.npy"), "--backend", "cuda")


class Writes(ZarrCase):
    def test_layouts(self):
        choose = random.Random(8)
        for version, compress, order in itertools.product([2, 3], ["none", "gzip"], "CF"):
            for dtype in choose.sample(["|b1", "<u2", ">i4", "<f8", "<c16"], 3):
                rank = choose.randrange(0, 5)
                shape = tuple(choose.randrange(1, [2, 900, 60, 20, 9][rank]) for _ in range(rank))
                axes = choose.sample(range(rank), rank)
                array = self.save(np.array(fill(shape, dtype), order=order))
                expected = np.ascontiguousarray(array.transpose(axes))
                options = ["--chunks", ",".join(str(choose.randrange(1, n + 1)) for n in expected.shape)] if rank % 2 else []
                if choose.randrange(2):
                    options += ["--memory", "500k"]
                with self.subTest(version=version, compress=compress, dtype=dtype, shape=shape, axes=axes, options=options):
                    result = cutt("transpose", self.input, self.folder_out, "--force", "--quiet", "--zarr", version, "--codec",
                                  compress, "--axes", ",".join(map(str, axes)), *options)
                    if "without its library" in result.stderr:
                        continue
                    self.assertEqual((result.returncode, result.stderr), (0, ""))
                    found, meta = load(self.folder_out)
                    self.assert_same(found, expected)
                    self.assertEqual(meta["zarr_format"], version)
                    self.assertEqual(self.temporaries(), [])

    def test_both_sides(self):
        """Format, chunks, codec, fill value and names of axes stay; --chunks makes others, in one pass."""
        array = fill((40, 30, 25), "<f4")
        for version in [2, 3]:
            shutil.rmtree(self.folder_in, ignore_errors=True)
            names = {"dimension_names": ["x", "y", "z"]} if version == 3 else {}
            save(self.folder_in, array, (16, 10, 25), version, "F", fill_value="NaN", attributes={"unit": "m"}, **names)
            if version == 2:
                write(self.path("in.zarr/.zattrs"), b'{"unit": "m", "_ARRAY_DIMENSIONS": ["x", "y", "z"]}')
            for chunks in [None, "7,9,11", "25,40,30", "1,40,1"]:
                self.good("transpose", self.folder_in, self.folder_out + "/", "--force", "--axes", "2,0,1", "--memory", "3M",
                          *(["--chunks", chunks] if chunks else []))
                found, meta = load(self.folder_out)
                self.assert_same(found, np.ascontiguousarray(array.transpose(2, 0, 1)))
                self.assertEqual((meta["zarr_format"], meta["fill_value"]), (version, "NaN"))
                wanted = [25, 16, 10] if chunks is None else [int(n) for n in chunks.split(",")]
                if version == 2:
                    self.assertEqual(meta["chunks"], wanted)
                    self.assertEqual(json.loads(read(self.path("out.zarr/.zattrs"))),
                                     {"unit": "m", "_ARRAY_DIMENSIONS": ["z", "x", "y"]})
                else:
                    self.assertEqual(meta["chunk_grid"]["configuration"]["chunk_shape"], wanted)
                    self.assertEqual((meta["attributes"], meta["dimension_names"]), ({"unit": "m"}, ["z", "x", "y"]))
        # In place.
        self.good("transpose", self.folder_in, self.folder_in, "--force", "--quiet")
        self.assert_same(load(self.folder_in)[0], np.ascontiguousarray(array.T))

    def test_rule_of_chunks(self):
        array = self.save(np.zeros((5000, 1500), "<f8"))
        self.good("transpose", self.input, self.folder_out, "--axes", "0,1")
        found, meta = load(self.folder_out)
        self.assertEqual(meta["chunks"], [1250, 1500])
        self.assert_same(found, array)

    def test_what_is_there(self):
        array = self.save(fill((5, 6), "<f4"))
        os.mkdir(self.folder_out)
        write(self.path("out.zarr/precious"), b"x")
        for options in [[], ["--force"]]:
            self.bad(1, ["out.zarr", "no Zarr array"], "transpose", self.input, self.folder_out, *options)
        self.assertEqual(os.listdir(self.folder_out), ["precious"])
        shutil.rmtree(self.folder_out)
        self.good("transpose", self.input, self.folder_out)
        self.bad(1, ["out.zarr", "--force replaces it"], "transpose", self.input, self.folder_out)
        os.chmod(self.folder_out, 0o750)
        self.good("transpose", self.input, self.folder_out, "--force", "--axes", "0,1", "--chunks", "2,2")
        found, _ = load(self.folder_out)
        self.assert_same(found, array)
        self.assertEqual(os.stat(self.folder_out).st_mode & 0o777, 0o750)
        self.bad(1, "folder", "transpose", self.input, self.folder_out + "/out.npy/x.zarr")
        self.good("transpose", self.input, self.path("plain"), "--zarr", "3")
        self.assert_same(load(self.path("plain"))[0], np.ascontiguousarray(array.T))
        for options, words in [(["--chunks", "2"], "--chunks"), (["--chunks", "2,9"], "--chunks"), (["--chunks", "0,1"], "--chunks"),
                               (["--codec", "lzma"], "'lzma'"), (["--zarr", "4"], "--zarr")]:
            self.bad(2, words, "transpose", self.input, self.path("no.zarr"), *options)
        self.bad(2, ["--codec", "NAME.zarr"], "transpose", self.input, self.path("no.npy"), "--codec", "none")
        self.bad(2, ["--zarr", "'-'"], "transpose", self.input, "-", "--zarr", "2")
        self.save(fill((5, 6), "<M8[s]"))
        self.bad(1, ["<M8[s]", "--zarr 2"], "transpose", self.input, self.path("no.zarr"), "--zarr", "3")
        self.assertEqual(self.temporaries(), [])

    def test_full_disk(self):
        self.save(fill((300, 200), "<f4"))
        self.good("transpose", self.input, self.folder_out, "--axes", "0,1")
        before = load(self.folder_out)[0]
        self.bad(1, ["out.zarr", "File too large"], "transpose", self.input, self.folder_out, "--force", "--chunks", "200,150",
                 preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (65536, 65536)))
        self.assert_same(load(self.folder_out)[0], before)

    def test_struck(self):
        """Ended in the middle: the output is as before; where a signal can be heard, nothing is left."""
        sparse(self.input, (4096, 16384), "|u1")
        np.save(self.path("small.npy"), fill((5, 6), "<f4"))
        for number in [signal.SIGTERM, signal.SIGKILL]:
            self.good("transpose", self.path("small.npy"), self.folder_out, "--force")
            before = load(self.folder_out)[0]
            process = subprocess.Popen([PROGRAM, "transpose", self.input, self.folder_out, "--force", "--chunks", "64,64",
                                        "--zarr", "3", "--quiet"])
            while process.poll() is None and not any(os.path.exists(os.path.join(self.folder, name, "c"))
                                                     for name in self.temporaries()):
                time.sleep(0.0005)
            process.send_signal(number)
            if process.wait(TIMEOUT) == 0:
                self.skipTest("the program was done before it could be stopped")
            self.assertEqual(process.returncode, -number)
            self.assert_same(load(self.folder_out)[0], before)
            if number == signal.SIGTERM:
                self.assertEqual(self.temporaries(), [])
        self.assertEqual(len(self.temporaries()), 1)
        result = self.good("transpose", self.path("small.npy"), self.folder_out, "--force")
        self.assertIn("was left by a run that had been killed", result.stderr)
        self.assertEqual(self.temporaries(), [])
        self.assertFalse([name for name in os.listdir(self.folder_out) if "unfinished" in name])

    def test_not_certainly_left(self):
        """What looks like a killed run's folder stays, unless its process was one of this machine's and is gone."""
        np.save(self.path("small.npy"), fill((5, 6), "<f4"))
        with open("/proc/sys/kernel/random/boot_id") as file:
            boot = file.read().strip()
        space = os.readlink("/proc/self/ns/pid")
        child = subprocess.Popen(["true"])
        child.wait(TIMEOUT)
        gone = child.pid
        marks = {"aaaaaa": None, "bbbbbb": f"cutt {boot} {space} {os.getpid()}\n", "cccccc": f"cutt {boot} pid:[1] {gone}\n",
                 "dddddd": f"cutt 00000000-0000-0000-0000-000000000000 {space} {gone}\n", "eeeeee": f"cutt {boot} {space} {gone}",
                 "ffffff": f"cutt {boot} {space} -1\n", "tooLong": f"cutt {boot} {space} {gone}\n",
                 "zzzzzz": f"cutt {boot} {space} {gone}\n"}
        for name, mark in marks.items():
            os.mkdir(self.path(f".out.zarr.{name}"))
            write(self.path(f".out.zarr.{name}/precious"), b"x")
            if mark:
                write(self.path(f".out.zarr.{name}/.cutt-unfinished"), mark.encode())
        os.mkdir(self.path(".other.zarr.zzzzzz"))
        write(self.path(".other.zarr.zzzzzz/.cutt-unfinished"), marks["zzzzzz"].encode())
        self.assertEqual(cutt("transpose", self.path("small.npy"), self.folder_out).returncode, 0)
        left = sorted(name for name in os.listdir(self.folder) if name.startswith("."))
        self.assertEqual(left, sorted([".other.zarr.zzzzzz"] + [f".out.zarr.{name}" for name in marks if name != "zzzzzz"]))


class Damaged(ZarrCase):
    def test_metadata(self):
        array = fill((5, 6), "<f4")
        for version, changes in [
                (2, [({"shape": [5, -1]}, "shape has -1"), ({"shape": 5}, "shape is 5"), ({"shape": [5, "6"]}, 'shape has "6"'),
                     ({"shape": [2**62, 2**62]}, "more elements"), ({"shape": [1] * 65, "chunks": [1] * 65}, "65 extents"),
                     ({"chunks": [0, 1]}, "chunks has 0"), ({"chunks": [2]}, "chunks has 1 extents"),
                     ({"chunks": [2**40, 2**40]}, "more bytes"), ({"chunks": [2**31, 2**10]}, "too large"), ({"chunks": [2**31, 2**20]}, "more bytes"),
                     ({"dtype": "<f3"}, "'<f3'"), ({"dtype": [["a", "<f4"]]}, "dtype is"), ({"dtype": "x" * 100}, "dtype is"),
                     ({"dtype": "|O"}, "pickle"), ({"order": "K"}, "order"), ({"dimension_separator": "-"}, "dimension_separator"),
                     ({"filters": [{"id": "delta"}]}, '"delta"'), ({"compressor": {"id": "lz4"}}, "'lz4'"),
                     ({"compressor": 5}, "5"), ({"fill_value": "zero"}, "fill_value"), ({"fill_value": [1]}, "fill_value"),
                     ({"zarr_format": 3}, "zarr_format"), ({"zarr_format": None}, "zarr_format")]),
                (3, [({"data_type": "r24"}, "data_type"), ({"data_type": {"name": "x"}}, "data_type"),
                     ({"codecs": []}, "codecs"), ({"codecs": [{"name": "sharding_indexed"}]}, "'sharding_indexed'"),
                     ({"codecs": [{"name": "bytes"}]}, "endian"),
                     ({"codecs": [{"name": "bytes", "configuration": {"endian": "middle"}}]}, "'middle'"),
                     ({"codecs": [{"name": "bytes", "configuration": {"endian": "little"}}, {"name": "crc32c"}]}, "'crc32c'"),
                     ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 0]}}]}, "order"),
                     ({"codecs": [{"name": "transpose", "configuration": {"order": [0, 7]}}]}, "order"),
                     ({"codecs": [{"name": "transpose", "configuration": {"order": []}}]}, "order"),
                     ({"chunk_grid": {"name": "rectilinear"}}, "chunk_grid"), ({"chunk_key_encoding": {"name": "x"}}, "chunk_key_encoding"),
                     ({"chunk_grid": {"name": "regular", "configuration": {"chunk_shape": [2, 2**63 - 1]}}}, "more bytes"),
                     ({"chunk_key_encoding": {"name": "default", "configuration": {"separator": "../"}}}, "separator"),
                     ({"storage_transformers": [{"name": "x"}]}, "storage_transformers"), ({"new": {"name": "x"}}, "'new'"),
                     ({"node_type": "group"}, "node_type"), ({"fill_value": 1e400}, "zarr.json")])]:
            for change, words in changes:
                with self.subTest(version=version, change=change):
                    shutil.rmtree(self.folder_in, ignore_errors=True)
                    save(self.folder_in, array, (2, 4), version)
                    name = self.path("in.zarr/" + {2: ".zarray", 3: "zarr.json"}[version])
                    write(name, json.dumps({**json.loads(read(name)), **change}).encode())
                    self.bad(1, ["in.zarr", words], "transpose", self.folder_in, self.output)
        shutil.rmtree(self.folder_in)
        save(self.folder_in, array, (2, 4), 3, extra={"must_understand": False})
        self.good("transpose", self.folder_in, self.output, "--force")
        for text in [b"", b"{", b"[]", b"5", b'{"a": 1, "a": 2}', b"\xff", b"[" * 5000, b'{"zarr_format": 3, "node_type": "array"}']:
            write(self.path("in.zarr/zarr.json"), text)
            self.bad(1, ["in.zarr", "zarr.json"], "transpose", self.folder_in, self.path("no.npy"))

    def test_any_byte(self):
        """Metadata with bytes changed: an answer, or one line."""
        array, choose = fill((5, 6), "<f4"), random.Random(9)
        for version, name in [(2, ".zarray"), (3, "zarr.json")]:
            shutil.rmtree(self.folder_in, ignore_errors=True)
            save(self.folder_in, array, (2, 4), version)
            content = read(os.path.join(self.folder_in, name))
            for _ in range(25):
                damaged = bytearray(content)
                for _ in range(choose.randrange(1, 4)):
                    damaged[choose.randrange(len(damaged))] = choose.choice(b'0129-"[]{},.:eE\x00 n')
                write(os.path.join(self.folder_in, name), bytes(damaged))
                result = cutt("transpose", self.folder_in, self.output, "--force", "--quiet", "--memory", "64M")
                self.assertIn(result.returncode, [0, 1], result.stderr)
                if result.returncode:
                    self.assertRegex(result.stderr, r"\Acutt: [^\n]+\n\Z")

    def test_chunks(self):
        array = fill((50, 60), "<f4")
        for compress in [None, "gzip"]:
            shutil.rmtree(self.folder_in, ignore_errors=True)
            save(self.folder_in, array, (20, 40), 2, compress=compress)
            content = read(self.path("in.zarr/1.1"))
            for damaged in [b"", content[:-1], content + b"x" * 20000, bytes(len(content))][: 3 if not compress else 4]:
                write(self.path("in.zarr/1.1"), damaged)
                self.bad(1, ["in.zarr", "chunk 1.1", "damaged"], "transpose", self.folder_in, self.output)
            os.unlink(self.path("in.zarr/1.1"))
            os.mkdir(self.path("in.zarr/1.1"))
            self.bad(1, ["in.zarr", "chunk 1.1"], "transpose", self.folder_in, self.output)
        self.assertEqual(sorted(os.listdir(self.folder)), ["in.zarr"])


class Contracts(ZarrCase):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        best_kernels()  # nothing is to be said of a BLAS here
    def test_patterns(self):
        generator = np.random.default_rng(2)
        left, right = generator.uniform(-1, 1, (30, 20, 14)), generator.uniform(-1, 1, (14, 25, 20))
        added = generator.uniform(-1, 1, (25, 30))
        save(self.path("a.zarr"), left, (7, 9, 14), 2, "F")
        save(self.path("b.zarr"), right.astype(">f8"), (5, 10, 6), 3)
        save(self.path("d.zarr"), added, (4, 30), 2, separator="/")
        np.save(self.path("a.npy"), left)
        np.save(self.path("b.npy"), right)
        expected = np.einsum("iab,bja->ji", left, right)
        for a, b, out in itertools.product(["a.zarr", "a.npy"], ["b.zarr", "b.npy"], ["out.zarr", "out.npy"]):
            for options in [[], ["--memory", "90k"], ["--in", self.path("d.zarr")]]:
                with self.subTest(a=a, b=b, out=out, options=options):
                    more = ["--chunks", "9,8"] if out == "out.zarr" else []
                    result = cutt("contract", "iab,bja->ji", self.path(a), self.path(b), "-o", self.path(out), "--force", *options, *more)
                    if "no BLAS" in result.stderr or "no library" in result.stderr:
                        self.skipTest("no BLAS is on this machine")
                    self.assertEqual(result.returncode, 0, result.stderr)
                    found = load(self.path(out))[0] if out == "out.zarr" else np.load(self.path(out))
                    self.assertTrue(np.allclose(found, expected + (added if "--in" in options else 0), rtol=1e-12, atol=1e-12))
        # To a scalar, from one, and over nothing.
        self.good("contract", "iab,iab->", self.path("a.zarr"), self.path("a.npy"), "-o", self.folder_out, "--force")
        self.assertTrue(np.allclose(load(self.folder_out)[0], np.sum(left * left)))
        self.good("contract", ",iab->iab", self.folder_out, self.path("a.npy"), "-o", self.output, "--force")
        self.assertTrue(np.allclose(np.load(self.output), np.sum(left * left) * left))
        save(self.path("e.zarr"), np.zeros((3, 0)), (2, 2), 2)
        self.good("contract", "ij,kj->ik", self.path("e.zarr"), self.path("e.zarr"), "-o", self.folder_out, "--force")
        self.assertTrue(np.array_equal(load(self.folder_out)[0], np.zeros((3, 3))))
        self.bad(1, ["chunks", "too large"], "contract", "iab,bja->ji", self.path("a.zarr"), self.path("b.zarr"), "-o",
                 self.path("no.npy"), "--memory", "20k")


class OnRanks(Ranks):
    def test_ranks(self):
        array = fill((70, 41, 30), "<f4")
        for version, size in [(2, 3), (3, 5)]:
            folder, out = self.path(f"in{version}.zarr"), self.path(f"out{version}.zarr")
            save(folder, array, (20, 20, 20), version)
            codes, said = self.run_ranks(size, folder, out, "--axes", "1,2,0", "--chunks", "8,9,10")
            self.assertEqual(codes, [0] * size, said)
            self.assertEqual(load(out)[0].tobytes(), array.transpose(1, 2, 0).tobytes())
            codes, said = self.run_ranks(size, out, self.output, "--axes", "2,0,1", "--force")
            self.assertEqual(codes, [0] * size, said)
            self.assertEqual(np.load(self.output).tobytes(), array.tobytes())
        self.assertEqual(self.temporaries(), [])


@unittest.skipUnless(zarr, "the package zarr is not here")
class WithPackage(ZarrCase):
    def arrays(self):
        """Arrays as the package writes them, with every codec."""
        from zarr.codecs import BloscCodec, GzipCodec, TransposeCodec, ZstdCodec
        array = fill((50, 41, 30), "<f4")
        array[:20] = 3
        compressors = {2: [None, numcodecs.Blosc("lz4"), numcodecs.Blosc("zstd", 3, numcodecs.Blosc.BITSHUFFLE), numcodecs.Zstd(3),
                           numcodecs.GZip(5), numcodecs.Zlib(2)],
                       3: [None, BloscCodec(cname="lz4"), BloscCodec(cname="zlib", shuffle="bitshuffle"), ZstdCodec(level=1, checksum=True),
                           GzipCodec(level=2)]}
        for version in [2, 3]:
            for number, compressor in enumerate(compressors[version]):
                more = {"order": "CF"[number % 2]} if version == 2 else {"filters": [TransposeCodec(order=(2, 0, 1))] if number % 2 else None}
                shutil.rmtree(self.folder_in, ignore_errors=True)
                made = zarr.create_array(self.folder_in, shape=array.shape, dtype=array.dtype, chunks=(20, 11, 30), zarr_format=version,
                                         compressors=compressor, fill_value=3, **more)
                made[:] = array
                yield version, compressor, array

    def test_both_ways(self):
        for version, compressor, array in self.arrays():
            with self.subTest(version=version, compressor=compressor):
                result = cutt("transpose", self.folder_in, self.output, "--force", "--quiet")
                if "built without" in result.stderr:
                    continue
                self.assertEqual(result.returncode, 0, result.stderr)
                self.check_output(array)
                self.good("transpose", self.folder_in, self.folder_out, "--axes", "1,2,0", "--force", "--quiet")
                made, original = zarr.open_array(self.folder_out, mode="r"), zarr.open_array(self.folder_in, mode="r")
                self.assert_same(made[:], np.ascontiguousarray(array.transpose(1, 2, 0)))
                self.assertEqual(made.chunks, (11, 30, 20))
                self.assertEqual(made.metadata.zarr_format, version)
                self.assertEqual(made.fill_value, 3)
                self.assertEqual(made.compressors, original.compressors)

    def test_codecs(self):
        array = self.save(fill((300, 200), "<f8"))
        for version in ["2", "3"]:
            for codec in ["none", "blosc", "zstd", "gzip"] + ["zlib"] * (version == "2"):
                with self.subTest(version=version, codec=codec):
                    result = cutt("transpose", self.input, self.folder_out, "--force", "--zarr", version, "--codec", codec, "--chunks",
                                  "64,100")
                    if "without its library" in result.stderr:
                        continue
                    self.assertEqual(result.returncode, 0, result.stderr)
                    self.assert_same(zarr.open_array(self.folder_out, mode="r")[:], np.ascontiguousarray(array.T))
        for dtype in ["|b1", "|i1", "<u2", ">f2", "<f4", ">i8", "<c8", ">c16", "|S4", "<M8[s]"]:
            array = self.save(fill((30, 20), dtype))
            for version in ["2", "3"][:1 if dtype[1] in "SM" else 2]:
                self.good("transpose", self.input, self.folder_out, "--force", "--zarr", version)
                found = zarr.open_array(self.folder_out, mode="r")[:]
                self.assertEqual(found.astype(array.dtype).tobytes(), np.ascontiguousarray(array.T).tobytes())


if __name__ == "__main__":
    run_tests(no_leak_checks)
