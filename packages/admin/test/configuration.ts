/** An empty database and a configuration file, for tests of configuration files. */

import { AdminRefusal } from '@rollcall/admin/admin-function'
import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { afterAll, expect } from 'vitest'
import { keyPair } from '../../core/test/key-pairs.ts'
import { testDatabase } from '../../keys/test/postgres.ts'
import { acting } from './acting.ts'

export const KEY = keyPair('Ed25519')
export const GRANT = { operations: ['search'], see: ['identifier', 'clan'], basis: 'law' } as const

/** A configuration file that makes two registries and two participants in an empty database. */
export const FILE = {
  version: 1,
  registries: {
    civil: {
      kind: 'civil',
      sender_id: 'crvs.example.org',
      aliases: ['crvs'],
      time_zone: 'Africa/Kigali',
      attributes: { Person: { clan: { type: 'text', paths: ['clan'], fold: true }, marital_status: { indexed: true } } },
    },
    social: { kind: 'social' },
  },
  participants: {
    'a.example': {
      name: 'A',
      max_page_size: 50,
      rate_limit: 5,
      max_subscriptions: 'unlimited',
      hosts: [{ host: 'a.internal', private: true, ports: [8443] }],
      policy: { encryption_policy: 'required', jwks_uri: 'https://8.8.8.8/jwks.json' },
      callback: { allowed: ['https://a.example/z', 'https://a.example/b'], concurrency: 2 },
      keys: [{ kid: 'sig-1', public_key: KEY.pem }],
      grants: { civil: GRANT, social: { ...GRANT, see: 'all' } },
    },
    'b.example': { name: 'B', status: 'disabled' },
  },
}

/** A file that has only an entry for the participant `a.example`. */
export const withA = (entry: object) => ({ version: 1, participants: { 'a.example': entry } })

/** An empty database for the tests of one file, to be awaited at its top level; it is closed after them. */
export async function configurationDatabase() {
  const database = await testDatabase()
  afterAll(() => database.close())
  const deps = { db: database.db, vault: () => Promise.reject(new Error('no vault is needed')) }
  const apply = (configuration: unknown, dry_run = false) => applyConfiguration(acting(deps), { configuration, dry_run })
  return {
    deps,
    apply,
    /** Applies a file, and returns the changes that were made, such as `add registries.civil`. */
    async changes(configuration: unknown): Promise<string[]> {
      const { changes: made } = await apply(configuration)
      return made.map(({ at, change }) => `${change} ${at}`)
    },
    /** Applies a file that must be refused, and must change nothing. Returns the refusal. */
    async refusal(configuration: unknown): Promise<Pick<AdminRefusal, 'message' | 'at'>> {
      const before = await exportConfiguration(deps, {})
      const error = await apply(configuration).then(
        () => null,
        (failed: unknown) => failed,
      )
      expect(error).toBeInstanceOf(AdminRefusal)
      expect(await exportConfiguration(deps, {})).toEqual(before)
      const { message, at } = error as AdminRefusal
      return { message, at }
    },
  }
}
