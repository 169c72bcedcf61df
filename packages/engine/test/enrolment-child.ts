/** A node that is killed. It answers enrolment updates in turn, and prints the number of each that it has answered. */

import { SYSTEM_CLOCK } from '@rollcall/base/shared/clock'
import { createSemaphore } from '@rollcall/base/shared/semaphore'
import { DEFAULT_LIMITS } from '@rollcall/core/limits'
import { readGrant } from '@rollcall/core/policy/grant'
import { openDatabase } from '@rollcall/database/database'
import { findParticipant } from '@rollcall/participants/store/participants'
import { type JsonObject, operation } from '@rollcall/protocol'
import { findRegistry } from '@rollcall/records/registries/registries'
import { EVERYTHING } from '../../participants/test/grants.ts'
import { answerEnrolmentUpdates } from '../src/operations/enrolment-updates.ts'
import { beneficiariesOf, MESSAGES } from './enrolment-batches.ts'

const db = openDatabase(JSON.parse(process.env.CONNECTION ?? '{}'))
const registry = await findRegistry(db, 'ibr')
const participant = await findParticipant(db, 'sp.example')
if (registry === null || participant === null) throw new Error('there is no registry, or no participant')
const deps = {
  db,
  clock: SYSTEM_CLOCK,
  turns: createSemaphore(1),
  limits: DEFAULT_LIMITS,
  bodies: { encryptBody: async (text: string) => Buffer.from(text), decryptBody: async (body: Uint8Array) => String(body) },
  metrics: { itemAnswered: () => undefined, searched: () => undefined, emergencyUsed: () => undefined },
}
for (let number = 0; number < MESSAGES; number += 1) {
  const header = {
    version: '1.0.0',
    action: 'notify',
    sender_id: 'sp.example',
    message_id: `m-${number}`,
    message_ts: '2026-03-01T08:00:00Z',
  }
  const exchange = {
    correlation_id: `00000000-0000-4000-8000-${String(number).padStart(12, '0')}`,
    registry,
    participant,
    grant: readGrant(registry.kind, { id: 1, terms: EVERYTHING }),
    operation: operation('enrolment-updates'),
    header,
    encrypted: false,
    received_at: new Date(),
    isGone: () => false,
    traceparent: null,
  }
  const beneficiaries: readonly JsonObject[] = beneficiariesOf(number)
  const message = { transaction_id: `tx-${number}`, enrolled_updates: { beneficiaries } }
  await answerEnrolmentUpdates(deps, { exchange, message })
  process.stdout.write(`${number}\n`)
}
await db.close()
