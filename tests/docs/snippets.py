#!/usr/bin/env python3
"""The snippets of the pages run as they stand: every block of C, C++, Fortran and Python of README.md, of the package's
README and of the guide, and every line there that begins with `$ cutt`. Usage: snippets.py SOURCES BUILD

A block that includes, uses or imports nothing goes on where the block of its language before it on the page has ended, in C
within braces. Lines of C that are no program are the body of main(), and of Fortran a program. The environment gives CC, CXX
and FC; without a compiler, or a module of Python, its snippets are skipped by name. Programs of MPI are built by its compilers and
run on two processes. What is printed to stderr is a failure, but where it says that there is no BLAS here."""
import glob
import os
import re
import shlex
import shutil
import subprocess
import sys
import tempfile

SOURCES, BUILD = (os.path.abspath(path) for path in sys.argv[1:3])
GUIDE = sorted(os.path.relpath(path, SOURCES) for path in glob.glob(f"{SOURCES}/docs/guide/*.md"))
PAGES = ["README.md", "bindings/python/README.md", *GUIDE]
BLOCK = re.compile(r"^```(\w+)\n(.*?)^```", re.MULTILINE | re.DOTALL)
COMMAND = re.compile(r"^    \$ (cutt .*)\n((?:    .*\n)?)", re.MULTILINE)
BEGINS = {"c": "#include", "cpp": "#include", "fortran": "use ", "python": ("import ", "from ")}
MINUTES = ("cutt bench", "cutt calibrate")  # what is left out, since it takes long
NO_BLAS = re.compile("BLAS|provider", re.IGNORECASE)
ENV = {**os.environ, "CUTT_CUDA": "0", "CUTT_CALIBRATION": "0", "OMP_WAIT_POLICY": "passive",
       "LD_LIBRARY_PATH": f"{BUILD}/lib", "PATH": f"{BUILD}:{os.environ['PATH']}",
       "PYTHONPATH": f"{SOURCES}/bindings/python", "CUTT_LIBRARY_DIR": f"{BUILD}/lib", "PYTHONDONTWRITEBYTECODE": "1"}
failed, skipped, passed = [], [], 0
# As root, on fewer processors than ranks, and without what containers forbid.
ENV.update(OMPI_ALLOW_RUN_AS_ROOT="1", OMPI_ALLOW_RUN_AS_ROOT_CONFIRM="1", OMPI_MCA_rmaps_base_oversubscribe="1",
           OMPI_MCA_mpi_yield_when_idle="1", OMPI_MCA_btl_vader_single_copy_mechanism="none",
           OMPI_MCA_btl_base_warn_component_unused="0", OMPI_MCA_plm_rsh_agent="/bin/false")
MPI = {"c": "#include <cutt_dist_mpi.h>", "fortran": "use mpi\n", "python": "from mpi4py"}  # what its programs have


def mpi(tool):
    """A tool of the MPI whose name has one, else of the one that is called so."""
    return shutil.which(f"{tool}.openmpi") or shutil.which(tool)


def mpi_python():
    """The interpreter that the package's own tests have put mpi4py into."""
    try:
        with open(f"{BUILD}/bindings/python/work_openmpi/ready", encoding="utf-8") as file:
            return file.read().strip()
    except OSError:
        return sys.executable


def programs_of(page, text):
    """(language, number of the first line, source) of each program that the page's blocks are."""
    found = {}
    for block in BLOCK.finditer(text):
        language, source = block[1], block[2]
        if language not in BEGINS:
            continue
        line = text[: block.start()].count("\n") + 1
        if any(one.startswith(BEGINS[language]) for one in source.splitlines()):
            found.setdefault(language, []).append((line, [source]))
        elif language in found:
            found[language][-1][1].append(source)
        else:
            failed.append(f"{page}:{line}: a block of {language} that goes on from nothing")
    return [(language, line, parts) for language, programs in found.items() for line, parts in programs]


def whole(language, parts):
    """The file to compile or to run."""
    if language in ("c", "cpp"):
        if "int main(" in parts[0]:
            return parts[0]
        lines = parts[0].splitlines(keepends=True)
        head = [line for line in lines if line.startswith("#include")]
        body = [line for line in lines if not line.startswith("#include")]
        rest = "".join("{\n" + part + "}\n" for part in parts[1:])
        return "".join(head) + "int main(void) {\n" + "".join(body) + rest + "return 0;\n}\n"
    if language == "fortran":
        return "program snippet\n" + "".join(parts) + "end program\n"
    return "".join(parts)


def run(command, folder):
    return subprocess.run(command, cwd=folder, env=ENV, capture_output=True, text=True, timeout=300, check=False)


def build(language, source, path, folder):
    """The compiler's command, or None where there is no compiler or nothing to link with."""
    include, libraries = f"-I{SOURCES}/include", [f"-L{BUILD}/lib", "-lcutt_contract", "-lcutt"]
    if MPI.get(language, "\0") in source:
        return build_mpi(language, path, folder, [f"-L{BUILD}/lib", "-lcutt_dist", "-lcutt", "-o", f"{folder}/program"])
    if language == "fortran":
        archive = glob.glob(f"{BUILD}/**/libcutt_fortran.a", recursive=True)
        if not os.environ.get("FC") or not archive:
            return None
        return [os.environ["FC"], f"-I{BUILD}/fortran", path, *archive, *libraries, "-o", f"{folder}/program"]
    compiler, kind = (("CC", "c"), ("CXX", "c++"))[language == "cpp"]
    if not os.environ.get(compiler):
        return None
    flags = ["-Wall", "-Wextra", "-Werror", "-std=c11" if kind == "c" else "-std=c++17"]
    return [os.environ[compiler], *flags, include, "-x", kind, path, "-x", "none", *libraries, "-o", f"{folder}/program"]


def build_mpi(language, path, folder, libraries):
    """With the adapter, which Fortran too has the compiler of C compile."""
    adapter = [f"-I{SOURCES}/include", f"-I{SOURCES}/bindings/mpi", f"{SOURCES}/bindings/mpi/cutt_dist_mpi.c"]
    if not mpi("mpicc") or not mpi("mpiexec"):
        return None
    if language == "c":
        return [mpi("mpicc"), "-Wall", "-Wextra", "-Werror", "-std=c11", path, *adapter, *libraries]
    archive = glob.glob(f"{BUILD}/**/libcutt_fortran.a", recursive=True)
    compiled = f"{folder}/cutt_dist_mpi.o"
    if not mpi("mpifort") or not archive or run([mpi("mpicc"), "-c", *adapter, "-o", compiled], folder).returncode:
        return None
    return [mpi("mpifort"), f"-I{BUILD}/fortran", path, compiled, *archive, *libraries]


def launched(language, source, command):
    """The command, on two processes if the program is one of MPI."""
    return [mpi("mpiexec"), "-n", "2", *command] if MPI.get(language, "\0") in source else command


def try_program(where, language, parts, folder):
    global passed
    path = os.path.join(folder, "snippet." + {"cpp": "cc", "fortran": "f90", "python": "py"}.get(language, language))
    with open(path, "w", encoding="utf-8") as file:
        file.write(whole(language, parts))
    source = whole(language, parts)
    if language == "python":
        uses_mpi = MPI["python"] in source
        if uses_mpi and not mpi("mpiexec"):
            skipped.append(f"{where}: there is no MPI")
            return
        python = mpi_python() if uses_mpi else sys.executable
        done = run(launched(language, source, [python, "-W", "ignore", path]), folder)
        missing = re.search(r"^ModuleNotFoundError: No module named '(\w+)'", done.stderr, re.MULTILINE)
        if missing and missing[1] in ("torch", "jax", "numpy", "dace", "mpi4py"):
            skipped.append(f"{where}: there is no {missing[1]}")
            return
    else:
        command = build(language, source, path, folder)
        if command is None:
            skipped.append(f"{where}: no compiler for {language}, or no library")
            return
        done = run(command, folder)
        if done.returncode:
            failed.append(f"{where}: does not compile\n{done.stderr}")
            return
        done = run(launched(language, source, [f"{folder}/program"]), folder)
    if done.returncode or done.stderr.strip():
        if NO_BLAS.search(done.stderr) and not re.search("Error: (?!.*(BLAS|provider))", done.stderr):
            skipped.append(f"{where}: {done.stderr.strip().splitlines()[-1]}")
        else:
            failed.append(f"{where}: exit status {done.returncode}\n{done.stderr}")
        return
    passed += 1


def try_command(where, command, after, folder):
    """A command that fails has to fail as the page says."""
    global passed
    if command.startswith(MINUTES) or command.endswith("..."):
        return
    done = run(shlex.split(command), folder)
    if done.returncode and done.stderr.splitlines()[:1] != [after.strip()]:
        if NO_BLAS.search(done.stderr):
            skipped.append(f"{where}: {done.stderr.strip()}")
        else:
            failed.append(f"{where}: {command}: exit status {done.returncode}\n{done.stderr}")
        return
    passed += 1


def make_files(folder):
    """Those that the commands of the guide read."""
    shapes = "('in', (4, 5, 6)), ('batch', (4, 30, 25, 3)), ('A', (6, 5, 4, 3)), ('B', (7, 5, 2, 3)), ('film', (24, 64, 80))"
    program = (f"import numpy as np\nfor name, shape in ({shapes}): np.save(name, np.ones(shape, 'f4'))\n"
               "np.savez('data', images=np.ones((2, 3, 4, 3), 'f4'))")
    return run([sys.executable, "-c", program], folder).returncode == 0


for page in PAGES:
    with open(os.path.join(SOURCES, page), encoding="utf-8") as held:
        contents = held.read()
    with tempfile.TemporaryDirectory() as work:
        for kind, number, pieces in programs_of(page, contents):
            try_program(f"{page}:{number}", kind, pieces, work)
        if not make_files(work):
            skipped.append(f"{page}: the files of its commands take NumPy")
            continue
        for match in COMMAND.finditer(contents):
            try_command(f"{page}:{contents[: match.start()].count(chr(10)) + 1}", match[1], match[2], work)

for text in skipped:
    print("skipped:", text)
for text in failed:
    print(text, file=sys.stderr)
print(f"snippets: {passed} ran, {len(skipped)} skipped, {len(failed)} failed")
sys.exit(1 if failed or not passed else 0)
