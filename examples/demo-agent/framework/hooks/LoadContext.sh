#!/usr/bin/env bash
# Hook: LoadContext
# Event: SessionStart
# Description: Tells the model what the project is
echo "Current project: demo (v1.2.0)"
echo "Active branch: main"
