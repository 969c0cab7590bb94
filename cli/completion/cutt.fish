# Completion of cutt's commands, options and their values for fish. The options are those that 'cutt COMMAND --help' lists.

function __cutt_words --description 'the words before the cursor that are not options'
    string match --invert --regex -- '^-' (commandline --tokenize --cut-at-cursor --current-process)
end

function __cutt_command --description 'the command that is being written, or nothing'
    set --local words (__cutt_words)
    test (count $words) -ge 2; or return
    echo $words[2]
    test "$words[2]" = bench -a "$words[3]" = contract; and echo contract
    return 0
end

function __cutt_options
    cutt (__cutt_command) --help 2>/dev/null | string replace --filter --regex -- '^ +(?:-[a-z], )?(--[a-z-]+).*' '$1' | sort -u
end

function __cutt_commands
    cutt --help 2>/dev/null | string replace --filter --regex -- '^  ([a-z]+)  +(.*)' '$1\t$2'
end

complete --command cutt --condition 'test (count (__cutt_words)) -lt 2' --no-files --arguments '(__cutt_commands) help --version'
complete --command cutt --condition 'string match --quiet -- "-*" (commandline --current-token)' --arguments '(__cutt_options)'
complete --command cutt --condition 'string match --quiet bench (__cutt_command)' --arguments 'set1 set2 set3 figures everyday contract'
complete --command cutt --condition 'string match --quiet help (__cutt_command)' --no-files --arguments '(__cutt_commands)'
complete --command cutt --long-option backend --no-files --require-parameter --arguments 'auto cpu cuda'
complete --command cutt --long-option dtype --no-files --require-parameter --arguments 'b1 i1 u1 i2 u2 f2 i4 u4 f4 i8 u8 f8 f16 c8 c16'
complete --command cutt --long-option zarr --no-files --require-parameter --arguments '2 3'
complete --command cutt --long-option codec --no-files --require-parameter --arguments 'none blosc zstd gzip zlib'
complete --command cutt --long-option model --no-files --require-parameter --arguments 'own paper'
complete --command cutt --long-option set --no-files --require-parameter --arguments 'talsh48 tccg48 random'
