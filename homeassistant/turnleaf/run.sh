#!/bin/sh
# What the app's container runs. The options are read there, and the programs started.
cd /data || exit 1
exec python -m turnleaf.faces.home_assistant
