import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { shell } from './shown-commands.ts'

const page = await readFile(new URL('../../../docs/consent.md', import.meta.url), 'utf8')
const blocks = [...page.matchAll(/```sh( search)?\n(.*?)\n```/gs)].map(([, asks, text = '']) => ({
  asks: asks !== undefined,
  text,
}))
const { folder, run, serve } = shell(false)

const PERSON = {
  '@type': 'Person',
  identifier: [{ identifier_type: 'UIN', identifier_value: '8128560370' }],
  name: { surname: 'Okoro', given_name: 'Ada' },
  birth_date: '1990-05-05',
}

/** The preparations that the page leaves to its reader, before the server is started. */
const PREPARED = `
  echo '${JSON.stringify(PERSON)}' | rollcall import civil - --format ndjson
  openssl genpkey -algorithm ed25519 -out private-key.pem
  openssl pkey -in private-key.pem -pubout -out public-key.pem
  rollcall participant key add health.example.org public-key.pem --kid sig-2026`

test('docs/consent.md runs as it stands', { timeout: 600_000 }, async () => {
  const printed: string[] = []
  const search = blocks.find(({ asks }) => asks)?.text ?? ''
  const ask = (): Promise<string> => {
    const [, client_id = ''] = /client_id +(\S+)/.exec(printed.join('')) ?? []
    const [, secret = ''] = /client_secret +(\S+)/.exec(printed.join('')) ?? []
    return run(`CLIENT_ID='${client_id}'\necho '${secret}' > secret.txt\n${search}`)
  }
  for (const { asks, text } of blocks) {
    if (asks) {
      await run(PREPARED)
      await serve()
    }
    printed.push(await (asks ? ask() : run(text)))
  }
  // The consent is withdrawn by now.
  expect(await ask()).toBe('from civil.rollcall, signed\nitem 1: succ, 0 records\n')
  const all = printed.join('')
  expect(all).toContain('https://consent.example.org may sign consents with ')
  const { name, ...shown } = PERSON
  const found = /item 1: succ, 1 record\n(\{.*?\n\})/s.exec(all)?.[1] ?? ''
  expect(JSON.parse(found)).toEqual({ ...shown, name: { surname: name.surname } })
  expect(all.match(/^withdrawn at /gm)).toHaveLength(3)
  expect(all.match(/^stopped {2}0 subscriptions, 0 notifications, 0 answers on the way$/gm)).toHaveLength(3)
  expect(all).toMatch(/^receipt {2}[\w-]+\.[\w-]+\.[\w-]+$/m)
  expect(all).toContain('withdrawals that do not count any more: 1')
  const [header = '', payload = ''] = (await readFile(join(folder(), 'consent.jws'), 'utf8')).split('.')
  const part = (text: string) => JSON.parse(Buffer.from(text, 'base64url').toString())
  expect(part(header)).toEqual({ alg: 'EdDSA', typ: 'consent+jwt' })
  expect(part(payload)).toMatchObject({ iss: 'https://consent.example.org', jti: 'c-81' })
})
