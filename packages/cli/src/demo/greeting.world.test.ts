import { execFileSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { curlCommandsText, greetingText } from './greeting.ts'
import { demoContentOf } from './showcase.ts'

const PARTICIPANT = {
  sender_id: "o'hara.example",
  client_id: 'c',
  client_secret: 's',
  sign: { kid: 'k1', algorithm: 'ed25519' as const, private_jwk: {} },
  encrypt: { kid: 'k2', private_jwk: {} },
}
const demo = {
  base_url: 'http://127.0.0.1:8080',
  token_url: 'http://127.0.0.1:8080/oauth2/client/token',
  participant: PARTICIPANT,
  restricted: PARTICIPANT,
  admin: { base_url: 'http://127.0.0.1:8081', token: 't' },
  registries: [
    {
      namespace: 'civil',
      kind: 'civil',
      receiver_id: 'civil.example',
      reg_type: 'Civil',
      reg_record_type: 'Person',
      samples: [{ identifier_type: 'UIN', identifier_value: `'$(exit 1)"\\ !\`x\`` }],
    },
  ],
}

/** Arguments with which the commands call curl, one a line; the first call answers with a token. */
function pasted(text: string): string[][] {
  const curl = `curl() { printf '%s\\0' "$@" >&2; printf '\\n\\0' >&2; echo '{"access_token":"a.b_c-d","expires_in":900}'; }`
  const stderr = execFileSync('bash', ['-c', `{ ${curl}\n${text}\n} 2>&1 1>/dev/null`], { encoding: 'utf8' })
  return stderr.split('\n\0').map((call) => call.split('\0').filter((word) => word !== ''))
}

test('whatever a sample holds reaches the server as it is', () => {
  const [token = [], search = []] = pasted(curlCommandsText(demo))
  expect(token).toEqual([
    ...['-s', demo.token_url, '-d', 'grant_type=client_credentials', '-d', 'client_id=c', '-d', 'client_secret=s'],
  ])
  expect(search).toContain('Authorization: Bearer a.b_c-d')
  expect(search).toContain('http://127.0.0.1:8080/civil/v1.0.0/registry/sync/search')
  const { header, message } = JSON.parse(search.at(-1) ?? '')
  expect(header).toMatchObject({ action: 'search', sender_id: "o'hara.example", total_count: 1 })
  expect(Math.abs(Date.parse(header.message_ts) - Date.now())).toBeLessThan(60_000)
  const [item] = message.search_request
  expect(item.timestamp).toBe(header.message_ts)
  expect(item.search_criteria.query).toEqual({ type: 'UIN', value: demo.registries[0]?.samples[0]?.identifier_value })
})

test('its commands find a demo with a folder and ports of its own', () => {
  const shown = (data: string | null, port: number, adminPort: number) =>
    greetingText(demo, { path: '', link: '', demoPage: '', place: { data, port, adminPort } })
  const text = shown("/o'h", 7000, 7001)
  const settings = `ROLLCALL_DATA='/o'\\''h' PORT=7000`
  for (const command of ['participant link', 'operator link', 'search', 'subscribe', 'simulate'])
    expect(text).toContain(`${settings} npx rollcall ${command} `)
  expect(text.match(/npx rollcall/g)).toHaveLength(5)
  expect(shown(null, 8080, 9000)).toContain('\nADMIN_PORT=9000 npx rollcall search ')
})

test('the start page has the command that links to the partner page of this demo', () => {
  const { linkCommand } = demoContentOf(demo, '', { data: null, port: 9090, adminPort: 9091 })
  expect(linkCommand).toBe(`PORT=9090 npx rollcall participant link ${demo.participant.sender_id}`)
})

test('it prints the command of the first callback first, and at most 15 lines', () => {
  const link = 'http://127.0.0.1:8081/#/sign-in/1_x'
  const demoPage = 'http://127.0.0.1:9'
  const samples = [{ identifier_type: 'UIN', identifier_value: '1' }]
  const registries = demo.registries.map((registry) => ({ ...registry, samples }))
  const text = greetingText({ ...demo, registries }, { path: '/data/demo.json', link, demoPage })
  const lines = text.split('\n')
  expect(lines.length).toBeLessThanOrEqual(15)
  expect(lines[3]).toBe("npx rollcall search --identifier 'UIN=1' --listen 0")
  expect(lines).toContain(`Console, by this link once, within 15 minutes: ${link}`)
  expect(lines).toContain(`Let the demo live, break it and mend it: ${demoPage}`)
  expect(lines.some((line) => line.startsWith('Start page: http://127.0.0.1:8080 '))).toBe(true)
  expect(lines.some((line) => line.endsWith(": npx rollcall participant link o'hara.example"))).toBe(true)
  expect(lines.some((line) => line.endsWith(': npx rollcall subscribe civil --event LiveBirth --listen'))).toBe(true)
  expect(lines.some((line) => line.endsWith(': npx rollcall simulate civil --rate 2'))).toBe(true)
  expect(lines.some((line) => line.endsWith(': /data/demo.json'))).toBe(true)
  expect(text).not.toContain('The token of the admin API is')
  expect(lines.at(-1)).toBe('Ctrl-C stops it.')
})
