# Makes links of the pages fit Doxygen, which knows pages by their names alone: ../model.md is model.md. Links to headings and
# those that lead out of what Doxygen reads (sources) become links to the page, and text: awk -f docs/links.awk PAGE
{
  gsub(/\]\(\.\.\/contraction\.md/, "](contraction.md")
  gsub(/\]\(\.\.\/model\.md/, "](model.md")
  gsub(/\]\(\.\.\/performance\.md/, "](performance.md")
  while (match($0, /\[[^]]*\]\((\.\.\/)+[^)]*\)/)) {
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
