# Makes links of the pages fit Doxygen, which knows pages by their names alone: ../model.md and guide/plans.md are model.md and
# plans.md. Links to headings become links to the page, and those that lead out of what Doxygen reads (sources) or stay within
# the page become text: awk -f docs/links.awk PAGE
BEGIN { pages = "(calibration|contraction|cpu|gpu|log|model|performance|report)\\.md" }
{
  gsub(/\]\(guide\//, "](")
  while (match($0, "\\]\\(\\.\\./" pages)) $0 = substr($0, 1, RSTART + 1) substr($0, RSTART + 5)
  while (match($0, /\[[^]]*\]\(((\.\.\/)+|#)[^)]*\)/)) {
    text = substr($0, RSTART + 1)
    sub(/\].*/, "", text)
    $0 = substr($0, 1, RSTART - 1) text substr($0, RSTART + RLENGTH)
  }
  while (match($0, /\]\([a-z_]+\.md#[^)]*\)/)) {
    link = substr($0, RSTART, RLENGTH)
    sub(/#[^)]*/, "", link)
    $0 = substr($0, 1, RSTART - 1) link substr($0, RSTART + RLENGTH)
  }
  print
}
