import { readFile } from 'node:fs/promises'
import { LIMITS } from '@rollcall/core/limits'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'
import { REPLACEMENTS_BY_VARIABLE } from './replaced.ts'
import { listNodeSettings, NODE_OPTION_DEFINITIONS } from './settings.ts'
import { refuseUnknownVariables } from './variables.ts'

test.each([
  ['ROLLCALL_DATE', 'ROLLCALL_DATE is no variable of this version; the nearest is ROLLCALL_DATA'],
  ['ROLLCALL_PUBLICURL', 'ROLLCALL_PUBLICURL is no variable of this version; the nearest is ROLLCALL_PUBLIC_URL'],
  ['ROLLCALL_MAX_RESULT', 'ROLLCALL_MAX_RESULT is no variable of this version; the nearest is ROLLCALL_MAX_RESULTS'],
  ['ROLLCALL_MAX_BODY_DEPTH', 'ROLLCALL_MAX_BODY_DEPTH is no variable any more: it is a constant now, 64 (docs/limits.md)'],
  ['ROLLCALL_RATE_LIMIT', 'ROLLCALL_RATE_LIMIT is no variable any more; use rollcall participant limits --rate-limit'],
  ['ROLLCALL_XYZZY_PLUGH', 'ROLLCALL_XYZZY_PLUGH is no variable of this version; docs/settings.md lists those there are'],
  ['ROLLCALL_PORT', 'ROLLCALL_PORT is not read: set PORT instead'],
  ['DATABASE_URI', 'DATABASE_URI is not read: set DATABASE_URL instead'],
  ['DATABASE_URL_COMMAND', 'DATABASE_URL_COMMAND is not read: set DATABASE_URL or DATABASE_URL_FILE instead'],
])('%s is refused, without its value', (name, message) => {
  expect(() => refuseUnknownVariables({ [name]: 'secret' })).toThrow(new Error(message))
})

test('those that are read, those of other programs, and empty ones are not refused', () => {
  const env = { ROLLCALL_DATA: 'x', DATABASE_URL: 'x', DATABASE_URLS: 'x', PORTS: '1', ROLLCALL_XYZZY: '' }
  expect(() => refuseUnknownVariables(env)).not.toThrow()
})

test('those that Kubernetes sets for a service of our name are not refused', () => {
  const env = {
    ROLLCALL_SERVICE_HOST: '10.0.0.1',
    ROLLCALL_SERVICE_PORT: '8080',
    ROLLCALL_SERVICE_PORT_HTTP: '8080',
    ROLLCALL_PORT: 'tcp://10.0.0.1:8080',
    ROLLCALL_PORT_8080_TCP: 'tcp://10.0.0.1:8080',
    ROLLCALL_PORT_8080_TCP_ADDR: '10.0.0.1',
    ROLLCALL_WORKER_SERVICE_HOST: '10.0.0.2',
  }
  expect(() => refuseUnknownVariables(env)).not.toThrow()
})

test('every constant that replaced a variable is on docs/limits.md', async () => {
  const page = await readFile(new URL('../../../docs/limits.md', import.meta.url), 'utf8')
  const bounds = new Set([...page.matchAll(/^\| (\d+) \|/gm)].map(([, bound]) => Number(bound)))
  const constants = Object.entries(REPLACEMENTS_BY_VARIABLE).filter(([, now]) => typeof now === 'number')
  expect(constants.filter(([, now]) => !bounds.has(Number(now)))).toEqual([])
})

test('every variable that docs/settings.md or docs/limits.md lists is known', async () => {
  const pages = ['docs/settings.md', 'docs/limits.md'].map((page) => new URL(`../../../${page}`, import.meta.url))
  for (const page of pages) {
    const text = await readFile(page, 'utf8')
    for (const [name] of text.matchAll(/\bROLLCALL_[A-Z_]+\b/g)) {
      expect(() => refuseUnknownVariables({ [name]: '1' })).not.toThrow()
    }
  }
  for (const { variable } of Object.values(LIMITS)) {
    expect(() => refuseUnknownVariables({ [variable]: '1' })).not.toThrow()
  }
})

test('every option of docs/settings.md that a node reads has a row for operators, and no other has one', async () => {
  const text = await readFile(new URL('../../../docs/settings.md', import.meta.url), 'utf8')
  const named = [...text.matchAll(/^\| (`[^|]*`) \|/gm)].flatMap(([, names = '']) =>
    [...names.matchAll(/`(\w+)`/g)].map(([, name = '']) => name),
  )
  // Variables of commands alone, and other names for secrets.
  const ofCommands = (name: string): boolean => /^ROLLCALL_DEMO_|_(FILE|COMMAND)$/.test(name)
  expect(NODE_OPTION_DEFINITIONS.map(({ variable }) => variable).toSorted()).toEqual(
    named.filter((name) => !ofCommands(name)).toSorted(),
  )
})

test.each([
  ['/var/log/witness', '/var/log/witness'],
  ['syslog://log.example', 'syslog://log.example:514'],
  ['syslog+tcp://192.0.2.1:601', 'syslog+tcp://192.0.2.1:601'],
  ['syslog://[2001:db8::1]', 'syslog://[2001:db8::1]:514'],
])('ROLLCALL_WITNESS=%s is shown as an address that could be set', (ROLLCALL_WITNESS, shown) => {
  const settings = listNodeSettings(readConfig({ ROLLCALL_WITNESS }))
  expect(settings.find(({ variable }) => variable === 'ROLLCALL_WITNESS')?.value).toBe(shown)
})
