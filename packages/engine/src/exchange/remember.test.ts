import { createHash, createHmac } from 'node:crypto'
import { identifierKey, type MakePseudonyms } from '@rollcall/core/model/audit-entry'
import { CanonicalJsonError, parseJson } from '@rollcall/protocol'
import { describe, expect, it } from 'vitest'
import { correlationIdOf, exchangeFingerprint } from './remember.ts'

const received = (changes: Partial<Parameters<typeof exchangeFingerprint>[0]> = {}) =>
  exchangeFingerprint({
    header: { message_id: 'm-1', total_count: 1 },
    message: { transaction_id: 'tx-1', text: 'é' },
    namespace: 'civil',
    path: 'registry/sync/search',
    ...changes,
  }).toString('hex')

describe('exchangeFingerprint', () => {
  it('is SHA-256 of canonical JSON', () => {
    const text =
      '{"header":{"message_id":"m-1","total_count":1},"message":{"text":"é","transaction_id":"tx-1"},' +
      '"namespace":"civil","path":"registry/sync/search"}'
    expect(received()).toBe(createHash('sha256').update(text).digest('hex'))
  })

  it('does not mind order and spelling of the JSON', () => {
    const header = parseJson('{ "total_count": 1.0, "message_id": "m\\u002d1" }')
    expect(received({ header })).toBe(received())
  })

  it.each([
    { header: { message_id: 'm-2', total_count: 1 } },
    { header: { message_id: 'm-1', total_count: '1' } },
    { message: { transaction_id: 'tx-1', text: 'e' } },
    { namespace: 'social' },
    { path: 'registry/search' },
  ])('minds %j', (changes) => {
    expect(received(changes)).not.toBe(received())
  })

  it('takes spellings of one number for one, and a text for another value', () => {
    const asked = (digits: string) => received({ message: parseJson(`{"a":[{"value":${digits},"b":null}]}`) })
    expect(asked('9007199254740992')).toBe(asked('9007199254740992.0'))
    expect(asked('9007199254740992')).not.toBe(asked('9007199254740994'))
    expect(asked('9007199254740992')).not.toBe(asked('"9007199254740992"'))
  })

  it('refuses what is no JSON', () => {
    expect(() => received({ message: { a: Number.NaN } })).toThrow(CanonicalJsonError)
  })
})

describe('correlationIdOf', () => {
  const keyed =
    (key: string): MakePseudonyms =>
    async (identifiers) =>
      identifiers.map((one) => createHmac('sha256', key).update(identifierKey(one)).digest())
  const asked = (participant: number, byte: number) => ({ participant, fingerprint: Buffer.alloc(32, byte) })

  it('is a UUID of participant and fingerprint, which nobody without the key can make', async () => {
    const id = await correlationIdOf(keyed('a'), asked(1, 2))
    expect(id).toMatch(/^[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/)
    expect(await correlationIdOf(keyed('a'), asked(1, 2))).toBe(id)
    const others = [
      await correlationIdOf(keyed('a'), asked(2, 2)),
      await correlationIdOf(keyed('a'), asked(1, 3)),
      await correlationIdOf(keyed('b'), asked(1, 2)),
    ]
    expect(new Set([id, ...others]).size).toBe(4)
  })
})
