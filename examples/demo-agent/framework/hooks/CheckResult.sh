#!/usr/bin/env bash
# Hook: CheckResult
# Event: SubagentStop
# Description: Does not take the word of a shell with the rights of root
case $(cat) in
  *root_shell*)
    echo "nothing of root_shell is used" >&2
    exit 2
    ;;
esac
