"""Tests of `cutt plan` for devices that need not be here, by either model, and of its drawings.

Run as test_cli.py, with what support.py has.
"""

import json
import os
import re
import unittest
import xml.etree.ElementTree

from support import Case, no_calibration, read, run_tests, write

DEVICES = ["k20x", "k40", "m40", "p100", "v100", "a100", "h100", "h200", "b200"]
PLAN = ["plan", "--shape", "60,43,37,3", "--axes", "3,1,0,2", "--dtype", "f4"]
SVG = "{http://www.w3.org/2000/svg}"


class Described(Case):
    def test_every_device_and_model(self):
        for device in DEVICES:
            for model in ["own", "paper"]:
                with self.subTest(device=device, model=model):
                    options = ["--device", device, "--model", model]
                    plan = json.loads(self.good(*PLAN, *options, "--json").stdout)
                    self.assertEqual((plan["backend"], plan["model"], plan["executable"]), ("cuda", model, False))
                    self.assertIsNone(plan["source"])
                    self.assertEqual(plan["numpy"]["shape"], [60, 43, 37, 3])
                    for candidate in plan["candidates"]:
                        sum_of_terms = sum(term["seconds"] for term in candidate["terms"])
                        self.assertAlmostEqual(sum_of_terms / candidate["own_seconds"], 1, places=6)
                        seconds = candidate["paper_seconds" if model == "paper" else "own_seconds"]
                        self.assertAlmostEqual(seconds / candidate["predicted_seconds"], 1, places=6)
                    text = self.good(*PLAN, *options).stdout
                    self.assertIn(plan["device"], text)
                    self.assertIn("dominated by: ", text)
                    self.assertEqual("by the paper's model" in text, model == "paper")

    def test_listed(self):
        self.assertIn(", ".join(DEVICES), self.good("devices").stdout)
        devices = json.loads(self.good("devices", "--json").stdout)
        names = [name for backend in devices["backends"] for name in backend["described_devices"]]
        self.assertEqual(names, DEVICES)

    def test_with_backend(self):
        plan = json.loads(self.good(*PLAN, "--device", "B200", "--backend", "cuda", "--json").stdout)
        self.assertEqual(plan["device"], "NVIDIA B200")
        self.bad(2, ["--device", "'b200'", "backend"], *PLAN, "--device", "b200", "--backend", "cpu")

    def test_file(self):
        file = self.path("my.device")
        made = self.good("calibrate", "--backend", "cpu", "--seconds", "1", "--out", file, "--quiet")
        self.assertEqual(made.returncode, 0)
        plan = json.loads(self.good(*PLAN, "--device", file, "--json").stdout)
        self.assertEqual((plan["source"], plan["backend"], plan["executable"]), (file, "cpu", False))
        self.assertIn("from " + file, self.good(*PLAN, "--device", file).stdout)
        self.bad(2, ["--device", file, "backend"], *PLAN, "--device", file, "--backend", "cuda")
        self.bad(2, ["--model paper", "GPU"], *PLAN, "--device", file, "--model", "paper")
        write(file, read(file)[:-5])
        self.bad(2, ["--device", file, "end"], *PLAN, "--device", file)

    def test_errors(self):
        self.bad(2, ["--device is 'k2000'", "k20x", "b200"], *PLAN, "--device", "k2000")
        self.bad(2, ["--device is ''"], *PLAN, "--device", "")
        self.bad(2, ["--device", "no.such"], *PLAN, "--device", self.path("no.such"))
        self.bad(2, ["--model is 'mine'", "own", "paper"], *PLAN, "--model", "mine")
        self.bad(2, ["--model paper", "GPU", "own"], *PLAN, "--model", "paper", "--backend", "cpu")
        self.bad(2, ["--device is 'k20x'", "--measure"], *PLAN, "--device", "k20x", "--measure")
        self.bad(2, ["--device is 'k20x'", "--wisdom"], *PLAN, "--device", "k20x", "--wisdom", self.path("wisdom"))
        self.assertEqual(os.listdir(self.folder), [])


class Text(Case):
    def test_table_is_short_and_json_is_whole(self):
        options = [*PLAN, "--device", "h200"]
        plan = json.loads(self.good(*options, "--json").stdout)
        text = self.good(*options).stdout
        count = len(plan["candidates"])
        self.assertGreater(count, 13)
        self.assertIn("and %d more" % (count - 12), text)
        self.assertEqual(len(re.findall(r"^ +(?:\* )?[0-9]+  (?:Copy|Tiled|Packed)", text, re.M)), 12)
        for word in ["M_m", "M_k", "tile", "threads", "shared", "occupancy", "sectors", "predicted", "of copy"]:
            self.assertIn(word, text)

    def test_processor(self):
        text = self.good(*PLAN).stdout
        self.assertIn("lines", text)
        self.assertIn("dominated by: ", text)
        self.assertNotIn("occupancy", text)


class Drawings(Case):
    def test_text(self):
        for options in [[], ["--device", "k40"], ["--device", "h100", "--model", "paper"]]:
            with self.subTest(options=options):
                text = self.good(*PLAN, *options, "--draw").stdout
                described, drawing = text[:text.index("plan made in")], text[text.index("plan made in"):]
                self.assertIn("dominated by", described)
                self.assertIn("INPUT", drawing)
                self.assertIn("OUTPUT", drawing)
                self.assertRegex(drawing, r"what is (read|written) is used by this tile|all that is")
        for shape in ["", "7", "3,0,2", ",".join("2" * 20)]:
            with self.subTest(shape=shape):
                self.good("plan", "--shape", shape, "--dtype", "f4", "--draw", "--device", "p100")

    def test_svg(self):
        file = self.path("tile.svg")
        for options in [[], ["--json"], ["--draw"], ["--device", "k40"]]:
            with self.subTest(options=options):
                plain = self.good(*PLAN, *options).stdout
                result = self.good(*PLAN, *options, "--svg", file)
                if not options:
                    self.assertEqual(result.stdout.splitlines()[:9], plain.splitlines()[:9])
                root = xml.etree.ElementTree.parse(file).getroot()
                self.assertEqual(root.tag, SVG + "svg")
                self.assertTrue({element.tag for element in root.iter()}
                                <= {SVG + name for name in ["svg", "title", "text", "rect", "path"]})
                words = " ".join(element.text or "" for element in root.iter())
                self.assertIn("Input", words)
                self.assertIn("Output", words)
                width, height = float(root.get("width")), float(root.get("height"))
                for element in root.iter(SVG + "rect"):
                    self.assertLessEqual(float(element.get("x", 0)) + float(element.get("width")), width + 0.01)
                    self.assertLessEqual(float(element.get("y", 0)) + float(element.get("height")), height)
                for element in root.iter(SVG + "text"):
                    self.assertLess(float(element.get("y")), height)
                os.unlink(file)

    def test_svg_is_not_replaced(self):
        file = self.path("tile.svg")
        write(file, b"precious")
        self.bad(1, ["tile.svg", "exists", "--force"], *PLAN, "--svg", file)
        self.assertEqual(read(file), b"precious")
        self.good(*PLAN, "--svg", file, "--force")
        self.assertTrue(read(file).startswith(b"<svg "))
        self.bad(1, ["none/tile.svg"], *PLAN, "--svg", self.path("none/tile.svg"))
        self.bad(1, ["empty"], *PLAN, "--svg", "")
        self.assertEqual(os.listdir(self.folder), ["tile.svg"])

    def test_errors(self):
        self.bad(2, ["--draw", "--json", "--svg"], *PLAN, "--draw", "--json")
        self.bad(2, ["--force", "--svg"], *PLAN, "--force")
        # What is wrong with the problem is found before the file is made.
        self.bad(2, ["--axes"], "plan", "--shape", "3,4", "--axes", "0,0", "--dtype", "f4", "--svg", self.path("no.svg"))
        self.bad(2, ["--device"], *PLAN, "--device", "abacus", "--svg", self.path("no.svg"))
        self.assertEqual(os.listdir(self.folder), [])


if __name__ == "__main__":
    run_tests(no_calibration)
