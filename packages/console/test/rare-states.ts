/** A registry and a participant in states that are rare: an import under way, indexes that are missing, reports of checks. */

import { addAttribute, indexAttribute } from '@rollcall/admin/registries/attributes'
import type { Registry } from '@rollcall/core/model/registry'
import { INITIAL_PROGRESS, saveProgress } from '@rollcall/import/import-progress'
import { saveCheck } from '@rollcall/participants/store/participant-checks'
import { notePublishedKeyUse } from '@rollcall/participants/store/published-keys'
import { tryClaimImport } from '@rollcall/records/records/claims'
import { acting } from '../../admin/test/acting.ts'
import { publicKey } from '../../core/test/key-pairs.ts'
import { registered } from '../../server/test/sealing.ts'
import type { TestServer } from '../../server/test/server.ts'

const HOUR = 3_600_000

const REJECTIONS = [
  { reason: 'identifier: a record needs an identifier of the type UIN', count: 1_204, lines: [17] },
  { reason: 'the entry is no JSON object', count: 3, lines: [40_112] },
]

/** @returns what ends the import */
export async function importUnderWay(server: TestServer, registry: Registry): Promise<() => void> {
  const { db } = server.database
  const client = await db.pool.connect()
  await tryClaimImport(client, registry.id)
  const read = { ...INITIAL_PROGRESS.read, rejections: REJECTIONS }
  const counts = { line: 1_403_112, entries: 1_403_111, written: 1_401_904, inserted: 1_388_020, rejected: 1_207 }
  await saveProgress(client, registry.id, 'people.ndjson', { ...INITIAL_PROGRESS, ...counts, read })
  return () => client.release(true)
}

/** Declared and not built, and not filled. */
export async function indexesMissing(server: TestServer, { namespace }: Registry): Promise<void> {
  const { database } = server
  const of = { namespace, record_type: 'Person' }
  await indexAttribute(acting(database), { ...of, name: 'birth_place' })
  await addAttribute(acting(database), { ...of, name: 'occupation', paths: ['occupation'], type: 'text' })
}

/** A check that has passed after one that has not, and keys that the participant publishes itself. */
export async function checked(server: TestServer, registry: Registry, sender_id: string): Promise<void> {
  const { db } = server.database
  const participant = await registered(server, sender_id)
  const step = (name: string, state: 'passed' | 'missing' | 'skipped', text: string) => ({ name, state, text })
  const first = [
    step('token', 'passed', 'an access token was fetched'),
    step('signed', 'passed', 'a signed search was verified'),
    step('callback', 'missing', 'no callback was acknowledged: search asynchronously, and answer the callback with an ACK'),
    step('subscribe', 'skipped', 'subscribe is not granted here'),
  ]
  for (const [hours, steps] of [
    [30, first],
    [2, first.map((one) => (one.state === 'missing' ? step(one.name, 'passed', 'a callback was acknowledged') : one))],
  ] as const) {
    const since = new Date(Date.now() - hours * HOUR)
    const passed = steps.every(({ state }) => state !== 'missing')
    await saveCheck(db, { participant, registry, since }, { checked_at: since, version: '0.1.0', passed, steps })
  }
  for (const kid of ['2026-10', '2026-11'])
    await notePublishedKeyUse(db, sender_id, await publicKey('Ed25519', { kid, sender_id }))
}
