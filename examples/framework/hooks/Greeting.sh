#!/usr/bin/env bash
# Hook: Greeting
# Event: SessionStart
# Description: Tells the model what it works on
echo "This project keeps its hooks in settings.json."
