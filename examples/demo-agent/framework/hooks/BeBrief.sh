#!/usr/bin/env bash
# Hook: BeBrief
# Event: UserPromptSubmit
# Description: Asks for short answers
case $(cat) in
  *Fix*) echo "Be brief." ;;
esac
