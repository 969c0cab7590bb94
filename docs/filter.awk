# Makes Doxygen see the headers' plain comments, line by line, so that line numbers stay: awk -f docs/filter.awk HEADER
#   a comment at the start of a line              documents what follows:  /** ... */
#   one that ends a line of code                  documents that line:     /**< ... */
#   the one that opens the file                   documents the file
#   a ruler with a title, /* ---- title */        is a heading for what comes below it, up to the next
#   "name   what it is" in a function's comment   is an item of a list (not @param: only some are explained so)
#   "Errors: ..." that begins a line              is what it returns
/^\/\* -+ .* \*\/$/ {
  title = $0
  gsub(/^\/\* -+ | \*\/$/, "", title)
  print (open ? "/** @} */ " : "") "/** @name " title " */ /** @{ */"
  open = 1
  next
}
# The end of extern "C": nothing to Doxygen, which reads C.
open && /^#ifdef __cplusplus/ {
  print "/** @} */"
  while ((getline line) > 0 && line != "#endif") print ""
  print ""
  open = 0
  next
}
{
  if (!inside && $0 ~ /^ *\/\*[^*]/) {
    sub(/\/\*/, "/**")
    inside = 1
  } else if (!inside && $0 ~ /[^ ] +\/\* /) {
    sub(/\/\* /, "/**< ")
    inside = 1
  } else if (inside && !named && $0 == " *") {
    $0 = " * @file"
    named = 1
  }
  if (inside && $0 ~ /^ \* [a-z][A-Za-z_]*  +[^ ]/) $0 = " * - \\b " substr($0, 4)
  if (inside) sub(/^ \* Errors: /, " * @return CUTT_SUCCESS, or ")
  if (inside && index($0, "*/")) inside = 0
  print
}
