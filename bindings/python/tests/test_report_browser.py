"""The report's page in a browser without a screen, at two widths: nothing is cut off, heads stand over their columns, and
the text of charts is as large as text is.

Skipped where there is no Chromium or Chrome, or no Matplotlib.
"""

from __future__ import annotations

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
const told = document.createElement('pre');
told.id = 'told';
told.textContent = JSON.stringify({ wrong, drawn });
document.body.append(told);
</script>
"""


@unittest.skipIf(page is None, OLD)
@unittest.skipIf(os.environ.get("CUTT_COMPILED") == "0", "the page is the same without the compiled module")
@unittest.skipIf(BROWSER is None, "there is no Chromium or Chrome (Debian: chromium)")
class Browser(unittest.TestCase):
    def look(self, text: str, width: int) -> dict:
        with tempfile.TemporaryDirectory() as folder:
            path = pathlib.Path(folder, "page.html")
            path.write_text(text.replace("</body>", PROGRAM + "</body>"), encoding="utf-8")
            command = [BROWSER, "--headless", "--disable-gpu", "--no-first-run", f"--user-data-dir={folder}/profile"]
            command += [f"--window-size={width},900", "--dump-dom", path.as_uri()]
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
        for width in (1280, 700):
            told = self.look(text, width)
            self.assertEqual([], told["wrong"], width)
            self.assertGreater(told["drawn"], 100)


if __name__ == "__main__":
    unittest.main()
