#!/usr/bin/env bash
# The documentation builds without a warning, has every function of the headers with its comment, every picture, and no link
# to a page that is not there, and, with a Python, what the Python package and the Fortran modules make public:
# tests/docs/docs.sh DOXYGEN DOXYFILE OUTPUT SOURCES PYTHON
# Skipped (77) without Doxygen.
set -euo pipefail
doxygen=$1 doxyfile=$2 output=$3 sources=$4 python=${5:-NOTFOUND}
fail() { echo "docs: $*" >&2; exit 1; }
if [[ -z $doxygen || $doxygen == *NOTFOUND ]]; then
  echo "docs: skipped: there is no doxygen"
  exit 77
fi
# Pages of an earlier run would hide that one is missing now.
rm -rf "$output"
mkdir -p "$output"
if [[ $python != *NOTFOUND ]]; then "$python" "$sources/docs/reference.py" "$sources" "$(dirname "$doxyfile")/docs_reference"; fi
"$doxygen" "$doxyfile" || fail "doxygen has something to say"

for picture in "$sources"/docs/guide/pictures/*.svg "$sources"/docs/figures/*.svg; do
  [[ -s $output/$(basename "$picture") ]] || fail "$(basename "$picture") is on no page"
done
if grep -ho 'href="[^"]*\.md[^"]*"' "$output"/md_*.html "$output/index.html"; then fail "these links lead nowhere"; fi

count=0
for header in cutt cutt_contract cutt_dist; do
  page=$output/${header//_/__}_8h.html
  while read -r name; do
    grep -q "[ *>]$name</a>" "$page" || fail "$name is not on $(basename "$page")"
    count=$((count + 1))
  done < <(grep -oE '^CUTT_API [^(]*\(' "$sources/include/$header.h" | grep -oE '[A-Za-z0-9_]+\($' | tr -d '(')
done
grep -q 'The text of the calling thread' "$output/cutt_8h.html" || fail "the comments of the headers are not seen"
grep -q '<b>sizeofType</b> bytes of an element' "$output/cutt_8h.html" || fail "the tables of arguments are not seen"
grep -q 'the input is conjugated' "$output/structcuttProblem__t.html" || fail "the comments of fields are not seen"
# has PAGE NAME...: each name is a heading there, in which Doxygen may break words.
has() {
  local page=$1 name
  shift
  for name in "$@"; do
    sed -E 's/<(wbr|\/?a)[^>]*>//g' "$page" | grep -E "<h[1-6][^>]*>.*$name" >/dev/null || fail "$name is not on $(basename "$page")"
    count=$((count + 1))
  done
}
if [[ $python != *NOTFOUND ]]; then
  mapfile -t names < <(sed -n '/^__all__/,/^]/s/^ *"\(.*\)",$/cutt.\1/p' "$sources/bindings/python/cutt/__init__.py")
  ((${#names[@]} > 8)) || fail "the package's __all__ is not seen"
  has "$output/python_reference.html" "${names[@]}" cutt.torch.permute cutt.torch.einsum cutt.jax.einsum Plan.execute_batch
  has "$output/fortran_reference.html" cutt_permute cutt_plan execute_batch cutt_last_error cutt_contract cutt_contraction_plan cutt_combine cutt_reduce
  grep -q 'Where the result goes' "$output/python_reference.html" || fail "the docstrings of Python are not seen"
  grep -q 'threads=0 are those' "$output/fortran_reference.html" || fail "the comments of Fortran are not seen"
fi
echo "docs: $(find "$output" -name 'md_*.html' | wc -l) pages, $count functions"
