/** The units of the Debian package, read here. build/check-debian.ts starts them in a new Debian, as these files say. */

import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { describe, expect, it } from 'vitest'
import { configurationOf, deployed, text } from './deploy-files.ts'

type Directive = readonly [section: string, name: string, value: string]

function directives(path: string): readonly Directive[] {
  let section = ''
  return text(path)
    .split('\n')
    .filter((line) => line.trim() !== '' && !/^[#;]/.test(line))
    .flatMap((line) => {
      const named = /^\[(\w+)\]$/.exec(line)
      if (named !== null) {
        section = named[1] ?? ''
        return []
      }
      const at = line.indexOf('=')
      expect(at, line).toBeGreaterThan(0)
      return [[section, line.slice(0, at), line.slice(at + 1)] as const]
    })
}

const services = deployed.filter((path) => path.endsWith('.service'))
/** The settings that `rollcall setup` writes, and those of the package. */
const environment = {
  ROLLCALL_PUBLIC_URL: 'https://registry.example.org',
  ...Object.fromEntries(directives('deploy/systemd/rollcall.env').map(([, name, value]) => [name, value])),
}

/** Directives that systemd adds up. */
const REPEATED = new Set(['Environment', 'EnvironmentFile', 'LoadCredential', 'SystemCallFilter'])

const HARDENED = {
  User: 'rollcall',
  Group: 'rollcall',
  PrivateUsers: 'yes',
  NoNewPrivileges: 'yes',
  ProtectSystem: 'strict',
  ProtectHome: 'yes',
  PrivateTmp: 'yes',
  PrivateDevices: 'yes',
  ProtectKernelTunables: 'yes',
  ProtectKernelModules: 'yes',
  ProtectControlGroups: 'yes',
  CapabilityBoundingSet: '',
  RestrictNamespaces: 'yes',
  RestrictSUIDSGID: 'yes',
  SystemCallArchitectures: 'native',
  UMask: '0077',
  StateDirectory: 'rollcall',
}

describe.each(services)('%s', (path) => {
  const all = directives(path)
  const of = (name: string): readonly string[] => all.filter((row) => row[1] === name).map((row) => row[2])

  it('has each directive once, in a section', () => {
    const once = all.filter(([, name]) => !REPEATED.has(name)).map(([section, name]) => `${section} ${name}`)
    expect(new Set(once).size).toBe(once.length)
    expect([...new Set(all.map(([section]) => section))]).toEqual(
      path.endsWith('/rollcall@.service') ? ['Unit', 'Service', 'Install'] : ['Unit', 'Service'],
    )
  })

  it('is hardened', () => {
    for (const [name, value] of Object.entries(HARDENED)) expect([name, of(name)]).toEqual([name, [value]])
    // The engine compiles at run time.
    expect(of('MemoryDenyWriteExecute')).toEqual([])
  })

  it('hands secrets over as credentials, and starts a command that there is', () => {
    const given = Object.fromEntries(
      of('Environment')
        .flatMap((words) => words.split(' '))
        .map((word) => word.split('=') as [string, string]),
    )
    const credentials = of('LoadCredential').map((credential) => credential.split(':')[0])
    const files = Object.entries(given).filter(([name]) => name.endsWith('_FILE'))
    expect(files.map(([, file]) => file.replace('%d/', '')).toSorted()).toEqual(credentials.toSorted())
    const { NODE_ENV: _, ...ours } = given
    const config = configurationOf({ ...environment, ...ours })
    expect(config).toMatchObject({ behindTlsProxy: true, host: '127.0.0.1', adminHost: '127.0.0.1' })
    const command = / ?\/usr\/lib\/rollcall\/(?:current|node-%i)\/bin\/([\w-]+(?: \w+)?)/.exec(of('ExecStart')[0] ?? '')?.[1]
    expect(['rollcall serve', 'rollcall prune', 'rollcall doctor', 'nightly-backup', 'copy-away']).toContain(command)
    expect(config.ownerDatabaseUrl !== undefined).toBe(command === 'rollcall prune')
  })
})

it('waits longer for the end of a node than a node takes', () => {
  const { drain_time, stop_time } = DEFAULT_LIMITS
  const [, , seconds] = directives('deploy/systemd/rollcall@.service').find(([, name]) => name === 'TimeoutStopSec') ?? []
  expect(Number(seconds)).toBeGreaterThan(drain_time + stop_time)
})

it('every timer is of a service', () => {
  const timers = deployed.filter((path) => path.endsWith('.timer'))
  expect(timers).toHaveLength(4)
  for (const path of timers) {
    expect(services).toContain(path.replace('.timer', '.service'))
    const sections = directives(path).map(([section]) => section)
    expect(sections).toEqual(['Unit', 'Timer', 'Timer', 'Timer', 'Install'])
  }
})
