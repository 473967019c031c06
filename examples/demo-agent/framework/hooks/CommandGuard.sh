#!/usr/bin/env bash
# Hook: CommandGuard
# Event: PreToolUse
# Description: Blocks commands that destroy
# Matcher: tool_name = "run_command"
case $(cat) in
  *'rm -rf /'*)
    echo '{"decision": "block", "message": "Blocked: recursive deletion of root filesystem"}'
    exit 2
    ;;
esac
echo '{"continue": true}'
