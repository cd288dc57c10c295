// tokens.mjs CLIENTS PROGRAM INDEX: tokens of the tool definitions, and of the longest pages of
// texts that tokenizers handle best and worst.
import { createRequire } from 'node:module';
import { spawnSync } from 'node:child_process';
import { mkdtempSync, writeFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { tmpdir } from 'node:os';

const [clients, program, index] = process.argv.slice(2);
const { countTokens } = createRequire(join(clients, 'node_modules/'))('gpt-tokenizer');

const hello = [
  { jsonrpc: '2.0', id: 1, method: 'initialize', params: { protocolVersion: '2025-06-18', capabilities: {}, clientInfo: { name: 'tokens', version: '0' } } },
  { jsonrpc: '2.0', method: 'notifications/initialized' },
];

function talk(dir, flags, ...messages) {
  const input = [...hello, ...messages].map((m) => JSON.stringify(m)).join('\n');
  const out = spawnSync(program, ['mcp', '--index', dir, ...flags], { input, encoding: 'utf8', maxBuffer: 1 << 28 });
  return out.stdout.split('\n').filter((l) => l !== '').map((l) => JSON.parse(l)).filter((m) => m.id > 1);
}

for (const profile of ['paper', 'navigator', 'chatgpt', 'browsecomp-plus']) {
  const answers = talk(index, ['--profile', profile], { jsonrpc: '2.0', id: 2, method: 'tools/list' });
  if (answers.length === 0) continue;
  const tools = answers[0].result.tools;
  const seen = tools.map(({ name, description, inputSchema }) => ({ name, description, inputSchema }));
  console.log(`definitions of ${profile}: ${countTokens(JSON.stringify(seen))} tokens, ${tools.length} tools`);
}

const random = (alphabet) => Array.from({ length: 5 << 20 }, () => alphabet[Math.floor(Math.random() * alphabet.length)]).join('');
const prose = 'The harbour was surveyed in 1911, and the chart shows three wrecks near the light. ';
const texts = {
  prose: prose.repeat(64000),
  digits: random('0123456789'),
  base64: random('ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/'),
  rare: random('鯨龘靐齉爩麤驫鱻灪籱'),
  chinese: random('港口于一九年进行了测量图上显示灯塔附近有三处沉船'),
};
const folder = mkdtempSync(join(tmpdir(), 'tokens-'));
try {
  const corpus = Object.entries(texts).map(([docid, text]) => JSON.stringify({ docid, text })).join('\n');
  writeFileSync(join(folder, 'corpus.jsonl'), corpus);
  spawnSync(program, ['index', join(folder, 'corpus.jsonl'), '--index', join(folder, 'index')]);
  for (const docid of Object.keys(texts)) {
    const [answer] = talk(join(folder, 'index'), [], { jsonrpc: '2.0', id: 2, method: 'tools/call', params: { name: 'read_document', arguments: { reason: 'r', docid } } });
    const page = answer.result.content[0].text;
    console.log(`a page of one line of 5 MB, ${docid}: ${Buffer.byteLength(page)} bytes, ${countTokens(page)} tokens`);
  }
} finally {
  rmSync(folder, { recursive: true });
}
