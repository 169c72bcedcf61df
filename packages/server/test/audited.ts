/** The set-up of tests of the audit log: a server with records of each kind, and a participant who is sent them. */
import { hash } from 'node:crypto'
import { loadAuditKeys } from '@rollcall/audit/keys'
import { pseudonymOf } from '@rollcall/audit/persons'
import { isJsonObject, type JsonValue } from '@rollcall/protocol'
import { afterAll, expect } from 'vitest'
import { beneficiary, enrolment } from '../../core/test/beneficiaries.ts'
import { type LoggedEntry, storedEntries } from '../../settings/test/audit-log.ts'
import { type AsyncPeer, asyncPeer, callbacksTo } from './asynchronous.ts'
import { bearer, type TestParticipant, type TestServer, testServer } from './server.ts'

export const person = (uin: string, more: object = {}) => ({
  '@type': 'CRVS_Person',
  identifier: [
    { identifier_type: 'UIN', identifier_value: uin },
    { identifier_type: 'BRN', identifier_value: `B-${uin}` },
  ],
  name: { surname: 'Obi', given_name: uin },
  sex: 'F',
  ...more,
})
export interface Sent {
  readonly header: { readonly message_id: string; readonly status: string }
  // biome-ignore lint/suspicious/noExplicitAny: what was sent is what the test is about
  readonly message: any
  readonly digest: string
}

const read = (text: string): Sent => ({ ...JSON.parse(text), digest: hash('sha256', text) })

/** Every record in a message, with its record type as the message names it. */
export function recordsIn(value: JsonValue): readonly { readonly type: string; readonly record: JsonValue }[] {
  if (Array.isArray(value)) return value.flatMap(recordsIn)
  if (!isJsonObject(value)) return []
  const { reg_records: records, reg_record_type: type } = value
  if (records === undefined) return Object.values(value).flatMap(recordsIn)
  return [records].flat().map((record) => ({ type: String(type), record }))
}

function pathsIn(value: JsonValue, path: readonly string[] = []): readonly string[] {
  if (Array.isArray(value)) return value.flatMap((element) => pathsIn(element, path))
  if (!isJsonObject(value)) return [path.join('.')]
  return Object.entries(value).flatMap(([name, one]) => (/^@(type|context)$/.test(name) ? [] : pathsIn(one, [...path, name])))
}

/** The identifiers of a person of the civil registry. */
export const both = (uin: string): string[] => [`UIN ${uin}`, `BRN B-${uin}`]

export interface Expected {
  /** Identifiers of the persons whose data is in the message. */
  readonly seen?: readonly string[]
  readonly asked?: readonly string[]
  readonly written?: readonly string[]
  /** By record type, paths of values that the answer has although it shows no record with them. */
  readonly told?: Readonly<Record<string, string[]>>
}

export interface AuditedServer {
  readonly server: TestServer
  readonly civil: Awaited<ReturnType<TestServer['registry']>>
  readonly peer: AsyncPeer
  /** Sends a request, which must be answered with 200. */
  send(namespace: string, path: string, body: object | string, by?: TestParticipant): Promise<Sent>
  /** The messages that the receiver of the peer has got, without the first `from`. */
  received(from: number): readonly Sent[]
  /** The entries of the message that was sent. */
  auditEntriesOf(sent: Sent): Promise<readonly LoggedEntry[]>
  /** Expects one entry for the message, with its persons, and with exactly the attribute paths that stand in it. */
  expectAudited(sent: Sent, expected: Expected, entry?: object): Promise<LoggedEntry>
  /** Sends what is due in a mailbox, if it can be. */
  drain(mailbox: number): Promise<void>
}

/** Starts the server for the tests of one file, to be awaited at its top level. */
export async function auditedServer(): Promise<AuditedServer> {
  const server = await testServer()
  afterAll(() => server.close())
  const civil = await server.registry('civil', [
    person('P1'),
    person('P2', { birth_date: '1990-05-05' }),
    person('P3', { parent1_identifier: { identifier_type: 'UIN', identifier_value: 'P2' } }),
  ])
  await server.registry('social', [
    {
      '@type': 'Group',
      group_identifier: [{ identifier_type: 'HOUSEHOLD_ID', identifier_value: 'H1' }],
      group_size: 2,
      member_list: ['M1', 'M2'].map((uin) => ({
        '@type': 'Member',
        member_identifier: [{ identifier_type: 'UIN', identifier_value: uin }],
        demographic_info: { '@type': 'Person', sex: 'F' },
      })),
    },
  ])
  await server.registry('ibr', [beneficiary('E1', enrolment('PRG-7'))])
  await server.registry('ess', [
    { '@type': 'spdci:member', member_identifier: [{ identifier_type: 'UIN', identifier_value: 'S1' }], enrolment_status: '1' },
  ])
  await server.registry('disability', [
    {
      '@type': 'DisabledPerson',
      personal_details: { member_identifier: 'D1', name: { first_name: 'Tess' } },
      disability_details: [{ impairment_type: '1', impairment_level: '3' }, { impairment_cause: '2' }],
      disability_support: { human_assistance: { type: 'mobility' } },
    },
  ])
  const peer = await asyncPeer(server, 'sp.example')
  const keys = await loadAuditKeys(server.database.db, await server.context.vault())
  const pseudonym = (type: string, value: string): string => pseudonymOf(keys.pseudonyms, { type, value }).toString('hex')

  async function send(namespace: string, path: string, body: object | string, by: TestParticipant = peer) {
    const response = await fetch(`${server.url}/${namespace}/v1.0.0/${path}`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', ...bearer(by) },
      body: typeof body === 'string' ? body : JSON.stringify(body),
    })
    const text = await response.text()
    expect(response.status, text).toBe(200)
    return read(text)
  }

  const received = (from: number): readonly Sent[] =>
    callbacksTo(peer.receiver)
      .slice(from)
      .map(({ envelope }) => ({ ...envelope, digest: '' }))

  async function auditEntriesOf({ header: { message_id } }: Sent): Promise<readonly LoggedEntry[]> {
    const all = await storedEntries(server.database.db)
    return all.filter(({ entry }) => entry.reply?.message_id === message_id)
  }

  async function expectAudited(sent: Sent, expected: Expected, entry: object = {}) {
    const [logged, ...others] = await auditEntriesOf(sent)
    if (logged === undefined) throw new Error('what was sent has no audit entry')
    expect(others).toEqual([])
    const records = recordsIn(sent.message)
    const shown: Record<string, string[]> = { ...expected.told }
    for (const { type, record } of records) shown[type] = [...(shown[type] ?? []), ...pathsIn(record)]
    expect(logged.entry).toMatchObject({ participant: peer.sender_id, records: records.length, ...entry })
    expect(logged.entry.shown).toEqual(
      Object.fromEntries(Object.entries(shown).map(([type, paths]) => [type, [...new Set(paths)].toSorted()])),
    )
    const { repeats = [] } = logged.entry
    const earlier = (await storedEntries(server.database.db)).filter((other) =>
      repeats.includes(other.entry.correlation_id ?? ''),
    )
    const named = [logged, ...earlier].flatMap(({ persons }) => persons)
    const found = (role: string): string[] => [...new Set(named.flatMap((one) => (one.role === role ? [one.pseudonym] : [])))]
    const wanted = (identifiers: readonly string[] = []): string[] =>
      identifiers.map((identifier) => pseudonym(...(identifier.split(' ') as [string, string])))
    for (const role of ['seen', 'asked', 'written'] as const)
      expect(found(role).toSorted(), role).toEqual(wanted(expected[role]).toSorted())
    return logged
  }

  async function drain(mailbox: number): Promise<void> {
    const { mailboxes, limiter } = server.context
    mailboxes.due([mailbox])
    await mailboxes.poll(new AbortController().signal)
    await mailboxes.idle()
    await limiter.idle()
  }

  return { server, civil, peer, send, received, auditEntriesOf, expectAudited, drain }
}
