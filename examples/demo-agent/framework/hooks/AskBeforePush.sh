#!/usr/bin/env bash
# Hook: AskBeforePush
# Event: PreToolUse
# Description: Leaves pushes to the user
# Matcher: tool_name = "run_command"
case $(cat) in
  *--force*) echo '{"decision": "ask", "message": "This will force-push to main. Are you sure?"}' ;;
  *'git push'*) echo '{"decision": "ask", "message": "This will push to main. Are you sure?"}' ;;
esac
