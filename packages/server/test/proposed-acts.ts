/** One act of every kind that may wait for a second operator, ready to be proposed. */
import { applyConfiguration, exportConfiguration } from '@rollcall/admin/configuration/apply'
import { addConsentAuthority } from '@rollcall/admin/consents/authorities'
import { reinstateConsent, withdrawConsent } from '@rollcall/admin/consents/consents'
import { addPurpose } from '@rollcall/admin/consents/purposes'
import { addOperator } from '@rollcall/admin/operators/operators'
import { erasePerson } from '@rollcall/admin/persons/erase'
import { addHold, removeHold } from '@rollcall/admin/persons/holds'
import { protectPerson, unprotectPerson } from '@rollcall/admin/persons/protected-persons'
import { addRegistry, changeRegistry } from '@rollcall/admin/registries/registries'
import { openSources } from '@rollcall/source/open-sources'
import { vi } from 'vitest'
import { acting } from '../../admin/test/acting.ts'
import { keyPair } from '../../core/test/key-pairs.ts'
import { emptyDatabase } from '../../keys/test/postgres.ts'
import { makeOffice, officeReader, officeSource } from '../../source/test/office.ts'
import { type ActServer, actServer, OUTDATED, REASON, type ReadyActs } from './proposed-act.ts'
import { actsOfMessages } from './proposed-acts-of-messages.ts'
import { actsOfParticipants } from './proposed-acts-of-participants.ts'
import type { TestServer } from './server.ts'

export interface ProposedActs {
  readonly server: TestServer
  readonly acts: ReadyActs
}

export async function proposedActs(): Promise<ProposedActs> {
  const world = await actServer()
  const acts = { ...actsOfParticipants(world), ...actsOfMessages(world), ...others(world), ...actOfSource(world) }
  return { server: world.server, acts }
}

/** Makes the database that a registry may have as its source, when it is first needed. */
async function officeOf({ server }: ActServer): Promise<void> {
  if (process.env.OFFICE_OF_ACTS !== undefined) return
  const office = await emptyDatabase()
  await makeOffice(office.connection, [])
  vi.stubEnv('OFFICE_OF_ACTS', await officeReader(office.connection))
  const sources = openSources(server.database.db, process.env)
  server.closing({ close: () => sources.close().then(office.drop) })
}

const actOfSource = (world: ActServer): ReadyActs => ({
  async 'registry add'() {
    await officeOf(world)
    const namespace = `civil-${world.fresh()}`
    const source = officeSource({ env: 'OFFICE_OF_ACTS' })
    return {
      path: '/registries',
      body: { kind: 'civil', namespace, source },
      shows: 'office.person',
      hides: [process.env.OFFICE_OF_ACTS ?? ''],
      refusal: /^there is a registry at \S+ already; choose another namespace$/,
      meanwhile: () => addRegistry(acting(world.database), { kind: 'civil', namespace }),
    }
  },
})

const others = ({ database, deps, fresh, uin }: ActServer): ReadyActs => ({
  async 'registry set'() {
    const web_origins = [`https://app-${fresh()}.example`]
    return {
      words: ['registry', 'set', 'civil', '--web-origin', ...web_origins],
      path: '/registries/civil/settings',
      body: { web_origins },
      shows: web_origins[0] ?? '',
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => changeRegistry(acting(database), { namespace: 'civil', web_origins }),
    }
  },
  async 'operator add'() {
    const body = { name: `eve-${fresh()}`, roles: ['own' as const] }
    return {
      words: ['operator', 'add', body.name, '--role', 'own'],
      path: '/operators',
      body,
      shows: body.name,
      hides: ['rollcall_'],
      refusal: /exists already; revoke it first$/,
      meanwhile: () => addOperator(acting(database), body),
    }
  },
  async 'consent authority add'() {
    const name = `https://consent-${fresh()}.example`
    const input = { name, keys: [{ ...keyPair('Ed25519').jwk, kid: 'c-1' }] }
    return {
      words: ['consent', 'authority', 'add', name, '--key', '-'],
      stdin: JSON.stringify(input.keys[0]),
      command: (at) => addConsentAuthority(acting(at), input),
      shows: name,
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => addConsentAuthority(acting(database), input),
    }
  },
  async 'consent reinstate'() {
    const identifier_value = uin()
    const input = { identifier_type: 'UIN', identifier_value, purpose: 'eligibility' }
    await withdrawConsent(acting(deps), input)
    return {
      words: ['consent', 'reinstate', '--identifier', `UIN=${identifier_value}`, '--purpose', 'eligibility'],
      command: (at) => reinstateConsent(acting(at), input),
      shows: 'eligibility',
      hides: [identifier_value],
      refusal: /^purpose: nothing is withdrawn/,
      meanwhile: () => reinstateConsent(acting(deps), input),
    }
  },
  async 'hold remove'() {
    const value = uin()
    const { id } = await addHold(acting(deps), { person: { type: 'UIN', value }, reason: 'case 7/2026' })
    return {
      words: ['hold', 'remove', String(id)],
      path: `/holds/${id}/remove`,
      body: {},
      shows: 'case 7/2026',
      hides: [value],
      refusal: OUTDATED,
      meanwhile: () => removeHold(acting(deps), { id }),
    }
  },
  async 'record unprotect'() {
    const identifier_value = uin()
    const named = { identifier_type: 'UIN', identifier_value }
    const at = { namespace: 'civil', ...named }
    await protectPerson(acting(deps), { ...at, category: 'sealed', reason: REASON })
    return {
      words: ['record', 'unprotect', 'civil', 'UIN', identifier_value],
      path: '/registries/civil/protected-persons/lift',
      body: named,
      shows: 'UIN',
      hides: [identifier_value, REASON],
      refusal: /^identifier: no protected person has it$/,
      meanwhile: () => unprotectPerson(acting(deps), at),
    }
  },
  async 'erase person'() {
    const value = uin()
    const named = { type: 'UIN', value }
    const hold = () => addHold(acting(deps), { person: named, reason: 'a court' })
    return {
      words: ['erase', 'person', 'UIN', value, '--reason', REASON],
      command: (at) => erasePerson(acting(at), { ...named, reason: REASON }),
      shows: 'a person, from the audit log',
      hides: [value, REASON],
      refusal: /^hold \d+ covers this person/,
      meanwhile: hold,
    }
  },
  async apply() {
    const code = `purpose-${fresh()}`
    // Entries that the file does not name stay.
    const { participants: _, ...configuration } = await exportConfiguration(deps, {})
    const changed = { ...configuration, purposes: { ...configuration.purposes, [code]: {} } }
    return {
      words: ['apply', '-'],
      stdin: JSON.stringify(changed),
      command: (at) => applyConfiguration(acting(at), { configuration: changed }),
      shows: code,
      hides: [],
      refusal: OUTDATED,
      meanwhile: () => addPurpose(acting(database), { code }),
    }
  },
})
