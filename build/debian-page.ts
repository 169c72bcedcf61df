/** The commands of docs/small-registry.md, which the check of the Debian package types as they stand there. */
import assert from 'node:assert/strict'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { root } from './compile.ts'
import type { Machine } from './debian-machine.ts'

const page = readFileSync(join(root, 'docs/small-registry.md'), 'utf8')

/** The block that has this text. @throws Error the page has none, or several */
export function blockWith(text: string): string {
  const found = [...page.matchAll(/```\w*\n(.*?)\n```/gs)].flatMap(([, block = '']) => (block.includes(text) ? [block] : []))
  const [block, ...more] = found
  if (block !== undefined && more.length === 0) return block
  throw new Error(`docs/small-registry.md has ${found.length} blocks with ${text}`)
}

/** Types answers at a terminal, each when it is asked for; `yes` follows them. */
export function type({ try: attempt }: Machine, line: string, answers: readonly string[]) {
  attempt('cat > /root/typed; rm -f /root/said; touch /root/said', `${[...answers, 'yes'].join('\n')}\n`)
  // A prompt ends with a colon and a space. The echo of the answer comes after it.
  const typing = `while IFS= read -r answer; do
      for _ in $(seq 600); do [ "$(tail -c 2 /root/said)" = ': ' ] && break; sleep 0.1; done
      printf '%s\\n' "$answer"
      sleep 0.3
    done < /root/typed`
  return attempt(`(${typing}) | TERM=dumb script --quiet --return --flush --command '${line}' /root/said`)
}

export interface Search {
  /** The line of a shell that asks. It fails without an answer. */
  readonly line: string
  readonly ask: () => void
}

/** A table as an office has it. */
const PEOPLE = `UIN,Given Name,Family Name,DOB,Sex
8100000017,Asha,Okoro,31/12/1990,F
8100000024,Daniel,Okoro,22/03/1988,M
`

/** The table is imported, and another system is added and asks over HTTPS: by the lines of the page. */
export function askRegistry({ run }: Machine, name: string): Search {
  // Root's own folder is closed to the user of the service.
  run('cat > /root/people.csv', PEOPLE)
  run(`cd /root && ${blockWith('rollcall mapping propose')}`)
  const imported = run(`cd /root && ${blockWith('rollcall import civil')}`)
  assert.match(imported, /dry run, nothing is written: 2 of 2 records[\s\S]*^2 of 2 records are in civil: 2 new/m)
  run('mkdir -p -m 0755 /home/sp')
  run(
    'cd /home/sp && openssl genpkey -algorithm ed25519 -out private-key.pem && openssl pkey -in private-key.pem -pubout -out spmis-public.pem && chmod 0644 *',
  )
  const [add = '', ...others] = blockWith('rollcall participant add').split('\n')
  const added = JSON.parse(run(`${add} --json`)) as Record<string, string>
  run('cat > /home/sp/secret.txt', added.client_secret)
  for (const line of others) run(`cd /home/sp && ${line}`)
  const words = `--url https://${name}/civil/v1.0.0 --sender-id spmis.example.org --client-id ${added.client_id} --client-secret-file secret.txt`
  const line = `cd /home/sp && NODE_EXTRA_CA_CERTS=/etc/ssl/ministry.pem setpriv --reuid nobody --clear-groups rollcall search ${words} \
    --sign-key private-key.pem --sign-kid sig-1 --identifier UIN=8100000017 --json`
  const ask = (): void => {
    assert(run(line).includes('1990-12-31'), 'the signed search found nobody')
  }
  ask()
  run('cat > /home/sp/search.py', programOf(name, added.client_id ?? ''))
  const python = `cd /home/sp && cp /usr/share/doc/rollcall/examples/python/rollcall.py . && chmod 0644 * &&
    SSL_CERT_FILE=/etc/ssl/ministry.pem setpriv --reuid nobody --clear-groups python3 -B search.py`
  assert.match(run(python), /^item 1 found: 1$/m)
  return { line, ask }
}

/** The search of docs/python.md, with what the registry has given. */
function programOf(name: string, client_id: string): string {
  const [, program = ''] =
    /<!-- run: search -->\n```python\n(.*?)\n```/s.exec(readFileSync(join(root, 'docs/python.md'), 'utf8')) ?? []
  const given = {
    'registry.example.org': name,
    'civil.example': `civil.${name}`,
    'sig-2026': 'sig-1',
    '7f0c': client_id,
    '0012': '8100000017',
  }
  return Object.entries(given).reduce((text, [shown, value]) => text.replaceAll(`${shown}"`, `${value}"`), program)
}
