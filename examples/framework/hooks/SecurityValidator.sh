#!/usr/bin/env bash
# Hook: SecurityValidator
# Event: PreToolUse
# Description: Keeps commands from deleting everything, and asks before they rewrite history
# Matcher: tool_name = "Bash"
read -r payload
case $payload in
  *'rm -rf /'*)
    echo '{"decision": "block", "message": "this would delete the file system"}'
    exit 2
    ;;
  *'push --force'*)
    echo '{"decision": "ask", "message": "This rewrites history that others have. Push it?"}'
    ;;
  *)
    echo '{"continue": true}'
    ;;
esac
