# Completion of cutt's commands, options and their values for bash. The options are those that 'cutt COMMAND --help' lists.

_cutt_options() {
  "$@" --help 2>/dev/null | sed -nE 's/^ +(-[a-z], )?(--[a-z-]+).*/\2/p' | sort -u
}

_cutt() {
  local program=${COMP_WORDS[0]} current=${COMP_WORDS[COMP_CWORD]} previous=${COMP_WORDS[COMP_CWORD - 1]} words=
  local -a command=()
  if ((COMP_CWORD > 1)); then
    command=("${COMP_WORDS[1]}")
    if [[ ${command[0]} == bench && ${COMP_WORDS[2]} == contract ]] && ((COMP_CWORD > 2)); then command+=(contract); fi
  fi
  compopt +o default +o filenames 2>/dev/null
  case $previous in
    --backend) words="auto cpu cuda" ;;
    --dtype) words="b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 f16 c8 c16" ;;
    --model) words="own paper" ;;
    --zarr) words="2 3" ;;
    --codec) words="none blosc zstd gzip zlib" ;;
    --set) words="talsh48 tccg48 random" ;;
    --device) words="k20x k40 m40 p100 v100 a100 h100 h200 b200" ;;
  esac
  if [[ -n $words ]]; then
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  if [[ $current == -* ]]; then
    words=$(_cutt_options "$program" "${command[@]}")
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  if ((${#command[@]} == 0)) || [[ ${command[0]} == help ]]; then
    words=$("$program" --help 2>/dev/null | sed -nE 's/^  ([a-z]+)  +.*/\1/p')
    if ((${#command[@]} == 0)); then words+=" help --help --version"; fi
    mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current")
    return
  fi
  if [[ ${command[0]} == bench ]] && ((COMP_CWORD == 2)); then words="set1 set2 set3 figures everyday contract"; fi
  compopt -o filenames 2>/dev/null
  mapfile -t COMPREPLY < <(compgen -W "$words" -- "$current"; compgen -f -- "$current")
}

complete -F _cutt cutt
