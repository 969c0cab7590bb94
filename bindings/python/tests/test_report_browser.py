"""The report's page in a browser without a screen, at two widths, light and dark: nothing is cut off, heads stand over their
columns, the text of charts is as large as text is, and all text stands out from what is behind it.

Skipped where there is no Chromium or Chrome, or no Matplotlib.
"""

from __future__ import annotations

import concurrent.futures
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import unittest

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))

from report_checks import OLD, page  # noqa: E402
from test_report import bench_contract, contract_peers, figures, gpu_peers, peers, report_of, set1  # noqa: E402

BROWSER = next(filter(None, map(shutil.which, ("chromium", "chromium-browser", "google-chrome", "chrome"))), None)

# What is wrong, as text. A browser gives no result but the page itself: it is written into an element of it.
PROGRAM = """
<script>
const wrong = [], root = document.documentElement;
for (const one of document.querySelectorAll('details')) one.open = true;
if (root.scrollWidth > root.clientWidth) wrong.push(`the page is ${root.scrollWidth} wide, of ${root.clientWidth}`);
const right_of = (one) => one.getBoundingClientRect().right;
for (const one of document.querySelectorAll('.wide')) {
  if (one.scrollWidth > one.clientWidth + 1 && root.clientWidth >= 900) // many libraries are scrolled on a narrow one
    wrong.push(`a table is cut off: ${one.innerText.slice(0, 60)}`);
  const heads = one.querySelectorAll('th');
  for (const row of one.querySelectorAll('tbody tr'))
    if (heads.length) for (const [at, cell] of row.querySelectorAll('td').entries())
      if (getComputedStyle(cell).textAlign !== getComputedStyle(heads[at]).textAlign)
        wrong.push(`${heads[at].innerText} does not stand over ${cell.innerText}`);
}
for (const one of document.querySelectorAll('h1,h2,h3,p,figcaption,summary,pre,td,th'))
  if (one.scrollWidth > one.clientWidth + 1 && getComputedStyle(one).display !== 'inline')
    wrong.push(`${one.tagName} is cut off: ${one.innerText.slice(0, 60)}`);
let drawn = 0;
const body = parseFloat(getComputedStyle(document.body).fontSize);
for (const chart of document.querySelectorAll('svg')) {
  const box = chart.getBoundingClientRect();
  for (const text of chart.querySelectorAll('text')) {
    const at = text.getBoundingClientRect();
    ++drawn;
    if (at.left < box.left - 1 || at.right > box.right + 1 || at.top < box.top - 1 || at.bottom > box.bottom + 1)
      wrong.push(`in ${chart.getAttribute('aria-label')} there is no room for: ${text.textContent}`);
    const height = Math.min(at.width, at.height);
    if (text.textContent.trim().length > 1 && root.clientWidth >= 900 && height < 0.7 * body)
      wrong.push(`${text.textContent} is ${height} high, and text is ${body}`);
  }
}
// Contrast as WCAG has it: of text 4.5 at least, and of lines of the charts 1.2.
const numbers = (color) => color.match(/[\\d.]+/g).map(Number);
const light = ([r, g, b]) => [r, g, b].map((c) => (c /= 255) <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4)
  .reduce((sum, c, at) => sum + c * [0.2126, 0.7152, 0.0722][at], 0);
const behind = (one) => {
  for (; one; one = one.parentElement) {
    const color = getComputedStyle(one).backgroundColor;
    if (!color.startsWith('rgba') || numbers(color)[3] > 0.5) return color;
  }
  return 'rgb(255, 255, 255)';
};
const contrast = (color, one) => {
  const [a, b] = [light(numbers(color)), light(numbers(behind(one)))];
  return (Math.max(a, b) + 0.05) / (Math.min(a, b) + 0.05);
};
let read = 0;
for (const one of document.querySelectorAll('body, h1, h2, h3, p, figcaption, summary, pre, td, th, a, svg text')) {
  const style = getComputedStyle(one), color = one.closest('svg') ? style.fill : style.color;
  ++read;
  if (color === 'none' || contrast(color, one) < 4.5)
    wrong.push(`${color} on ${behind(one)} is not read: ${one.tagName} ${one.textContent.slice(0, 40)}`);
}
for (const one of document.querySelectorAll('svg path, svg line, svg use')) {
  const color = getComputedStyle(one).stroke;
  if (color !== 'none' && color.startsWith('rgb') && contrast(color, one) < 1.2) wrong.push(`a line of ${color} on ${behind(one)}`);
}
const dark = matchMedia('(prefers-color-scheme: dark)').matches;
const told = document.createElement('pre');
told.id = 'told';
told.textContent = JSON.stringify({ wrong: [...new Set(wrong)], drawn, read, dark, page: getComputedStyle(document.body).backgroundColor });
document.body.append(told);
</script>
"""


@unittest.skipIf(page is None, OLD)
@unittest.skipIf(os.environ.get("CUTT_COMPILED") == "0", "the page is the same without the compiled module")
@unittest.skipIf(BROWSER is None, "there is no Chromium or Chrome (Debian: chromium)")
class Browser(unittest.TestCase):
    def look(self, text: str, width: int, dark: bool) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.html")
            path.write_text(text.replace("</body>", PROGRAM + "</body>"), encoding="utf-8")
            command = [BROWSER, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile"]
            command += [f"--window-size={width},900", f"--blink-settings=preferredColorScheme={0 if dark else 1}"]
            command += ["--dump-dom", path.as_uri()]
            if os.geteuid() == 0:
                command.insert(1, "--no-sandbox")
            try:
                done = subprocess.run(command, capture_output=True, text=True, timeout=240, check=False)
            except subprocess.TimeoutExpired:
                self.skipTest(f"{BROWSER} does not end here")
        found = re.search(r'<pre id="told">(.*?)</pre>', done.stdout, re.DOTALL)
        if not found:
            self.skipTest(f"{BROWSER} does not run here: {done.stderr.strip()[-200:]}")
        return json.loads(found[1].replace("&lt;", "<").replace("&gt;", ">").replace("&amp;", "&"))

    def test_nothing_is_cut_off(self) -> None:
        report = report_of(set1(), figures(), peers(), gpu_peers(), bench_contract(), contract_peers())
        for series in report.series:
            for case in series.cases:
                case.why = "A long line of a plan, which goes on and on, beyond what is " + "wide" * 60
        report.machines[0] = {**report.machines[0], "load": 3.0, "cores": 2}
        report.absent["HPTT"] = "libhptt.so: " + "cannot open shared object file " * 5
        report.commands.append("python -m cutt.report " + "--sets set1,set2,set3 " * 12)
        text = page.build(report)
        seen = [(width, dark) for dark in (False, True) for width in (1280, 700)]
        with concurrent.futures.ThreadPoolExecutor(2) as pool:
            looks = list(pool.map(lambda how: self.look(text, *how), seen))
        for (width, dark), told in zip(seen, looks):
            with self.subTest(width=width, dark=dark):
                self.assertEqual([], told["wrong"])
                self.assertGreater(told["drawn"], 100)
                self.assertGreater(told["read"], 200)
                self.assertEqual(dark, told["dark"])
        self.assertEqual(2, len({told["page"] for told in looks}), "the dark page is as light as the light one")


if __name__ == "__main__":
    unittest.main()
