#!/usr/bin/env python3
"""The pages (*.md): every relative link leads to a file, and to a heading of it; every path that is named exists; the guide's
index has every page; what is said of GPUs that are built for is what is built; and the two pages that are to be read whole are
short. Usage: pages.py SOURCES

A path is named where code (`...` or a block) has a word that begins with a folder of the source tree, `src/...`, or, between
backquotes, ends like a source file: `kernels/tables.h` is then the end of some file's path. A word with a part in capitals,
`src/NAME/`, stands for others and is left alone."""
import glob
import os
import re
import sys

MOST_BYTES = {"README.md": 9000, "ARCHITECTURE.md": 12000}
INDEX = "docs/guide/index.md"
INSTALL = "docs/guide/install.md"
SOURCE_FILE = re.compile(r"[\w./-]+\.(c|h|hpp|cu|py|sh|awk|cmake|f90|md)")
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)\)")
SPAN = re.compile(r"`([^`]*)`")

os.chdir(sys.argv[1])
folders = [name for name in os.listdir(".") if os.path.isdir(name) and not name.startswith((".", "build"))]
files = [os.path.join(at, name) for folder in folders for at, _, names in os.walk(folder) for name in names]
files += [name for name in os.listdir(".") if os.path.isfile(name)]
pages = sorted(name for name in files if name.endswith(".md"))
wrong = []


def lines_of(page):
    """Number, text, and whether it is code, of each line."""
    fenced = blank = code = False
    with open(page, encoding="utf-8") as file:
        for number, line in enumerate(file, 1):
            line = line.rstrip("\n")
            if line.startswith("```"):
                fenced = not fenced
                continue
            code = fenced or (line.startswith("    ") and (blank or code))
            blank = not line.strip()
            yield number, line, code


def headings(page):
    """As links name them: in small letters, with hyphens for spaces and without punctuation."""
    titles = (line.lstrip("#").strip().lower() for _, line, code in lines_of(page) if not code and line.startswith("#"))
    return {re.sub(r"[^\w -]", "", title).replace(" ", "-") for title in titles}


def check_link(page, where, link):
    if re.match(r"[a-z]+:", link):
        return
    path, _, heading = link.partition("#")
    target = os.path.normpath(os.path.join(os.path.dirname(page), path)) if path else page
    if not os.path.exists(target):
        wrong.append(f"{where}: the link {link} leads to {target}, which is not there")
    elif heading and heading not in headings(target):
        wrong.append(f"{where}: {target} has no heading #{heading}")


def check_path(where, word, in_span):
    word = word.strip(".,;:()\"'$")
    if any(part.isupper() and "." not in part for part in word.split("/")):
        return
    if word.split("/")[0] in folders and re.fullmatch(r"[\w.*-]+/[\w./*-]*", word):
        if not glob.glob(word.rstrip("/")):
            wrong.append(f"{where}: there is no {word}")
    elif in_span and SOURCE_FILE.fullmatch(word) and not word.startswith(("/", ".", "build")):
        if not any(name == word or name.endswith("/" + word) for name in files):
            wrong.append(f"{where}: no file is called {word}")


for page in pages:
    for number, line, code in lines_of(page):
        where = f"{page}:{number}"
        if not code:
            for link in LINK.findall(SPAN.sub("", line)):
                check_link(page, where, link)
        for text in [line] if code else SPAN.findall(line):
            for word in text.split():
                check_path(where, word, not code)

linked = {os.path.normpath(f"docs/guide/{link}") for _, line, _ in lines_of(INDEX) for link in LINK.findall(line)}
wrong += [f"{INDEX} has no link to {page}" for page in pages if page.startswith("docs/") and page not in linked | {INDEX}]

with open("cmake/CuttCuda.cmake", encoding="utf-8") as build, open(INSTALL, encoding="utf-8") as guide:
    archs = re.search(r"set\(cutt_cuda_all_archs ([\d ]+)\)", build.read())[1].split()
    *first, last = (f"{arch[:-1]}.{arch[-1]}" for arch in archs)
    if f"compute capability {', '.join(first)} and {last} that" not in guide.read().replace("\n", " "):
        wrong.append(f"{INSTALL} does not say that kernels are built for compute capability {', '.join(first)} and {last}")

for page, most in MOST_BYTES.items():
    size = os.path.getsize(page)
    if size > most:
        wrong.append(f"{page} has {size} bytes; {most} are what it may have")

print("\n".join(wrong) if wrong else f"pages: {len(pages)} pages")
sys.exit(1 if wrong else 0)
