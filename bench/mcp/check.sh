#!/bin/sh
# check.sh CLIENTS INDEX: CLIENTS is the folder that README.md fills.
set -eu
clients=$1
index=$2
here=$(dirname "$0")
program=$clients/goserini
inspector="npx --prefix $clients mcp-inspector --cli"

port=$((20000 + $$ % 20000))
"$program" serve --index "$index" --listen 127.0.0.1:$port 2>"$clients/serve.log" &
server=$!
trap 'kill $server' EXIT
until curl -fs http://127.0.0.1:$port/readyz >/dev/null; do sleep 0.1; done

for target in "$program mcp --index $index" "http://127.0.0.1:$port/mcp --transport http"; do
  echo "## inspector: $target"
  $inspector $target --method tools/list | grep '"name"'
  $inspector $target --method tools/call --tool-name search --tool-arg reason=check --tool-arg 'query=operating systems' | head -n 8
  $inspector $target --method resources/templates/list | grep uriTemplate
done

echo "## Python SDK"
"$clients/py/bin/python" "$here/client.py" "$program" "$index" http://127.0.0.1:$port/mcp

echo "## tokens"
NODE_PATH=$clients/node_modules node "$here/tokens.mjs" "$clients" "$program" "$index"

echo "## time to the first answer"
python3 "$here/startup.py" "$program" "$index"
