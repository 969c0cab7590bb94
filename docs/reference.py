#!/usr/bin/env python3
"""The reference of the Python package and of the Fortran modules as pages for Doxygen, from the sources alone, so that neither
has to be built or imported: reference.py SOURCES FOLDER writes FOLDER/python.md and FOLDER/fortran.md.

Of Python, what __all__ names in cutt, cutt.dist, cutt.torch and cutt.jax: signatures and docstrings, and of classes their public methods
and properties. Of Fortran, what the modules make public, each with the comment before it."""
import ast
import os
import re
import sys

SECTION = re.compile(r"^(\w[\w ]*)\n-{3,}$", re.MULTILINE)


def plain(text):
    """Text that Doxygen takes as it is; code between backquotes is left alone."""
    parts = re.split(r"(`+[^`]*`+)", text.replace("``", "`"))
    return "".join(part if part.startswith("`") else re.sub(r"([\\@<>#%_*&])", r"\\\1", part) for part in parts)


def entries(body):
    """name : type, with its text indented below, as items of a list; what has none is text."""
    lines, made = body.strip("\n").split("\n"), []
    for place, line in enumerate(lines):
        if line and not line.startswith(" "):
            if not "".join(lines[place + 1 : place + 2]).startswith(" "):
                made.append(plain(line))  # text that follows the list
                continue
            name, _, kind = line.partition(" : ")
            made.append(f"- **{plain(name)}**" + (f" : {plain(kind)}" if kind else "") + "  ")
        else:
            made.append("  " + plain(line.strip()) if line.strip() else "")
    return "\n".join(made)


def markdown(docstring):
    """NumPy's sections as headings and lists; examples as code."""
    parts = SECTION.split(docstring)
    text = [examples(parts[0])]
    for title, body in zip(parts[1::2], parts[2::2]):
        text.append(f"**{title}**\n")
        text.append(examples(body) if title in ("Examples", "Warns") else entries(body))
    return "\n\n".join(text) + "\n"


def examples(text):
    """Paragraphs, those that begin with >>> as code."""
    made = []
    for paragraph in re.split(r"\n\s*\n", text.strip("\n")):
        code = paragraph.lstrip().startswith(">>>")
        made.append("```{.py}\n" + paragraph + "\n```" if code else plain(paragraph))
    return "\n\n".join(made)


def signature(node, name):
    arguments = re.sub(r"^self(, )?", "", ast.unparse(node.args))
    result = f" -> {ast.unparse(node.returns)}" if node.returns is not None else ""
    line = f"{name}({arguments}){result}"
    if len(line) <= 100:
        return line
    split = re.split(r", (?=[\w*/]+(?::|=|,|$))", arguments)
    return f"{name}(\n    " + ",\n    ".join(split) + f",\n){result}"


def documented(node, name):
    docstring = ast.get_docstring(node)
    return docstring if docstring and not name.startswith("_") else None


def describe_class(node, name):
    start = next((one for one in node.body if getattr(one, "name", "") == "__init__"), None)
    yield f"```{{.py}}\n{signature(start, name) if start else name}\n```\n"
    yield markdown(ast.get_docstring(node) or "")
    for one in node.body:
        if isinstance(one, ast.FunctionDef) and documented(one, one.name):
            decorated = [ast.unparse(decorator) for decorator in one.decorator_list]
            title = one.name if "property" in decorated else signature(one, one.name)
            yield f"#### {name}.{plain(one.name)}\n\n```{{.py}}\n{title}\n```\n\n{markdown(ast.get_docstring(one))}"


def public_names(path):
    with open(path, encoding="utf-8") as file:
        tree = ast.parse(file.read())
    for node in tree.body:
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == "__all__":
            return tree, ast.literal_eval(node.value)
    raise SystemExit(f"{path} has no __all__")


def find(name, tree, folder):
    """The definition of a function, a class or a variable, in the module or in the one that it imports it from."""
    for node in tree.body:
        if isinstance(node, (ast.FunctionDef, ast.ClassDef)) and node.name == name:
            return node
        if isinstance(node, ast.Assign) and ast.unparse(node.targets[0]) == name:
            return node
        if isinstance(node, ast.ImportFrom) and node.level and any(alias.name == name for alias in node.names):
            with open(os.path.join(folder, f"{node.module}.py"), encoding="utf-8") as file:
                return find(name, ast.parse(file.read()), folder)
    raise SystemExit(f"{name} is neither defined nor imported where __all__ names it")


def python_page(sources):
    folder = os.path.join(sources, "bindings/python/cutt")
    yield "# Python reference {#python_reference}\n\n\\tableofcontents{HTML:3}\n"
    for module, path in (("cutt", "__init__.py"), ("cutt.dist", "dist.py"), ("cutt.torch", "torch.py"), ("cutt.jax", "jax.py")):
        tree, names = public_names(os.path.join(folder, path))
        yield f"## The module {module}\n\n{markdown(ast.get_docstring(tree))}"
        for name in sorted(names):
            node = find(name, tree, folder)
            yield f"### {module}.{plain(name)}\n"
            if isinstance(node, ast.ClassDef):
                yield from describe_class(node, name)
            elif isinstance(node, ast.FunctionDef):
                yield f"```{{.py}}\n{signature(node, name)}\n```\n\n{markdown(ast.get_docstring(node) or '')}"
            else:
                yield f"`{name} = {ast.unparse(node.value)}`: see the class.\n"


def comment_before(lines, at):
    """The comment that ends above a line, without its marks."""
    start = at
    while start and lines[start - 1].strip().startswith("!"):
        start -= 1
    return "\n".join(re.sub(r"^\s*! ?", "", line) for line in lines[start:at])


def fortran_text(comment):
    """Lines that are indented in a comment are code."""
    made, code = [], False
    for line in comment.split("\n"):
        indented = line.startswith("  ")
        if indented != code and (indented or line.strip()):
            made.append("```" if code else "\n```{.f90}")
            code = indented
        made.append(line if code else plain(line))
    return re.sub(r"\n+```", "\n```", "\n".join(made + (["```"] if code else []))).replace("\n```{", "\n\n```{")


def fortran_page(sources):
    yield "# Fortran reference {#fortran_reference}\n\n\\tableofcontents{HTML:3}\n"
    for module in ("cutt", "cutt_contraction", "cutt_elementwise", "cutt_reduction", "cutt_dist", "cutt_dist_mpi"):
        with open(os.path.join(sources, "bindings/fortran", module + ".f90"), encoding="utf-8") as file:
            lines = file.read().split("\n")
        start = next(at for at, line in enumerate(lines) if line.startswith("module "))
        yield f"## The module {plain(module)}\n\n{fortran_text(comment_before(lines, start))}\n"
        public = [name for line in lines if line.strip().startswith("public ::")
                  for name in re.split(r",\s*", line.split("::")[1].partition("!")[0].strip()) if "for the module" not in line]
        constants = [name for name in public if name.isupper()]
        for name in public:
            if name in constants:
                continue
            pattern = re.compile(rf"^\s*(interface {name}|type :: {name}|[\w() :]*\b(function|subroutine) {name}\b.*)\s*$")
            at = next((number for number, line in enumerate(lines) if pattern.match(line)), None)
            if at is None:
                raise SystemExit(f"{module}.f90 makes {name} public and does not define it")
            yield f"### {plain(name)}\n\n```{{.f90}}\n{lines[at].strip()}\n```\n\n{fortran_text(comment_before(lines, at))}\n"
            if lines[at].strip().startswith("type"):
                yield from type_members(lines, at)
        if constants:
            yield "### Constants\n\n" + ", ".join(f"`{name}`" for name in constants) + "\n"


def type_members(lines, at):
    """The bound procedures of a type that are not private, with their comments."""
    for number in range(at, len(lines)):
        line = lines[number].strip()
        if line.startswith("end type"):
            return
        bound = re.match(r"(?:generic|procedure) :: (\w+) => (\w+)", line)
        if not bound:
            continue
        comment = comment_before(lines, number)
        if not comment:
            pattern = re.compile(rf"\s*(function|subroutine) {bound[2]}\b")
            body = next((place for place, one in enumerate(lines) if pattern.match(one)), None)
            if body is not None:
                comment = comment_before(lines, body) + "\n\n  " + lines[body].strip()
        yield f"#### {plain(bound[1])}\n\n{fortran_text(comment)}\n"


def main():
    sources, folder = sys.argv[1:3]
    os.makedirs(folder, exist_ok=True)
    for name, page in (("python", python_page), ("fortran", fortran_page)):
        with open(os.path.join(folder, f"{name}.md"), "w", encoding="utf-8") as file:
            file.write("\n".join(page(sources)))


main()
