#!/usr/bin/env bash
# Hook: TestBeforeStop
# Event: Stop
# Description: Keeps the agent going until it has run the tests
case $(cat) in
  *untested*)
    echo "run the tests before you stop" >&2
    exit 2
    ;;
esac
