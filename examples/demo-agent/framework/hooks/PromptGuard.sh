#!/usr/bin/env bash
# Hook: PromptGuard
# Event: UserPromptSubmit
# Description: Turns prompts with keys away
case $(cat) in
  *sk-live-*)
    echo "take the key out of your message" >&2
    exit 2
    ;;
esac
