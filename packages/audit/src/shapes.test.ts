import { AUDIT_KINDS, type StoredAuditEntry } from '@rollcall/core/model/audit-entry'
import { canonicalJson } from '@rollcall/protocol'
import * as fc from 'fast-check'
import { expect, test } from 'vitest'
import { auditEntry } from '../test/audit-entry.ts'
import { storedMessageIdOrNull } from './audit-log.ts'
import { createShapeCache } from './shapes.ts'
import { entryTextOf } from './store/entry-shape.ts'

const SHOWN = [{}, { Person: ['name'] }, { Person: ['name', 'sex'] }, { Person: ['name'] }]
const SIGNATURES = ['A', 'B'].map((letter) => Buffer.alloc(64, letter).toString('base64'))
const signature = fc.oneof(
  fc.constant(null),
  fc
    .record({ created: fc.nat(), value: fc.constantFrom(...SIGNATURES), kid: fc.constantFrom('a', 'b', '"\\u0068') })
    .map(({ created, value, kid }) => `keyId="${kid}", created="${1_600_000_000 + created}", signature="${value}"`),
  fc.constantFrom(...SIGNATURES, `${SIGNATURES[0]}${SIGNATURES[0]}`.replaceAll('=', ''), '1606970629 1606970629', ''),
)
const id = fc.oneof(fc.uuid(), fc.constantFrom('', 'a', '"', '\\u0075', '\0', 'A'.repeat(300), 'ü\u2028'))
const message = fc.option(
  fc.record({
    message_id: fc.option(id),
    digest: fc.constantFrom('0'.repeat(64), 'f'.repeat(64), 'F'.repeat(64), 'd'),
    kid: fc.constantFrom(null, 'k', '\\u0068'),
    signature,
  }),
)
const text = fc.constantFrom(null, 'a', '{"', '\\u0063')
const list = fc.constantFrom<readonly string[]>([], ['a'], ['b'])

/** Values of few kinds: entries are often alike. */
const entry: fc.Arbitrary<StoredAuditEntry> = fc.record(
  {
    kind: fc.constantFrom(...AUDIT_KINDS.slice(0, 2)),
    participant: text,
    operator: fc.constantFrom(null, null, null, 'auditor'),
    registry: fc.constant('civil'),
    operation: fc.constant('search'),
    correlation_id: fc.option(id),
    transaction_id: fc.option(id),
    request: message,
    reply: message,
    grant: fc.constantFrom(null, 1),
    basis: fc.constantFrom('law', null),
    purpose: text,
    consent: fc.option(
      fc.record(
        { form: fc.constantFrom('asserted' as const, 'signed' as const), jti: id, authority: fc.constantFrom('a', 'b') },
        { requiredKeys: ['form'] },
      ),
    ),
    outcomes: fc.constantFrom<Record<string, number>>({}, { succ: 1 }, { succ: 2 }, { rjct: 1 }),
    records: fc.constantFrom(0, 1),
    asked: fc.record({ record_types: list, forms: list, attributes: list }),
    shown: fc.constantFrom(...SHOWN),
    emergency: fc.constant(true as const),
    repeats: list,
    count: fc.constantFrom(1, 2),
    sealed: id,
    note: fc.constantFrom('a', 'b'),
  },
  {
    requiredKeys: [
      ...(['kind', 'participant', 'operator', 'registry', 'operation', 'correlation_id', 'transaction_id'] as const),
      ...(['request', 'reply', 'grant', 'basis', 'purpose', 'consent', 'outcomes', 'records', 'asked', 'shown'] as const),
    ],
  },
)

test('the text of an entry is its canonical JSON, and is read back from shape and values', () => {
  let shared = 0
  fc.assert(
    fc.property(fc.array(fc.tuple(entry, fc.array(fc.record({ a: entry, of: fc.nat(20) }), { maxLength: 5 }))), (groups) => {
      const { compose } = createShapeCache()
      for (const [base, changes] of groups) {
        // Entries that differ from one before in a member or in none.
        const members = Object.keys(base) as (keyof StoredAuditEntry)[]
        const similar = changes.map(({ a, of }) => {
          const name = members[of % members.length] ?? 'kind'
          return { ...base, [name]: a[name] }
        })
        for (const one of [base, base, ...similar, base]) {
          const columns = { message_id: storedMessageIdOrNull(one.request), reply_message_id: storedMessageIdOrNull(one.reply) }
          const { text: composed, shape, packed, correlation_id } = compose(one, columns)
          expect(composed).toBe(canonicalJson(one))
          if (shape === null) continue
          shared += 1
          expect(JSON.parse(shape.content)).toBeDefined()
          expect(entryTextOf({ content: shape.content, packed, correlation_id, ...columns })).toBe(composed)
        }
      }
    }),
  )
  expect(shared).toBeGreaterThan(100)
})

const NO_COLUMNS = { message_id: null, reply_message_id: null }

/** Whether an entry is shared the second time that it comes. */
function isShared(shapes: ReturnType<typeof createShapeCache>, one: StoredAuditEntry): boolean {
  shapes.compose(one, NO_COLUMNS)
  return shapes.compose(one, NO_COLUMNS).shape !== null
}

test('a participant has 1,000 shapes at most, and others have theirs', () => {
  const shapes = createShapeCache()
  const numbered = (records: number, participant = 'one.example') => auditEntry({ records, participant })
  for (let records = 1; records < 1_000; records += 1) shapes.compose(numbered(records), NO_COLUMNS)
  expect(isShared(shapes, numbered(1_000))).toBe(true)
  expect(isShared(shapes, numbered(1_001))).toBe(false)
  expect(isShared(shapes, numbered(1_001, 'two.example'))).toBe(true)
})

test('an entry with a signature or with other texts of a length that a peer chooses shares nothing', () => {
  const shapes = createShapeCache()
  const signed = (signature: string) => auditEntry({ request: { message_id: 'a', digest: '0'.repeat(64), kid: 'k', signature } })
  expect(isShared(shapes, signed(' '.repeat(8_193)))).toBe(false)
  expect(isShared(shapes, signed(' '.repeat(4_000)))).toBe(true)
  expect(isShared(shapes, auditEntry({ purpose: 'p'.repeat(8_192) }))).toBe(false)
})
